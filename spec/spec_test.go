package spec

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expectations of the cases")

// TestCases runs every case with every executor.
func TestCases(t *testing.T) {
	for _, name := range caseFiles(t) {
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Parse(name, text)
			if err != nil {
				t.Fatal(err)
			}
			results := map[string]string{}
			for _, c := range f.Cases {
				if _, twice := results[c.Name]; twice {
					t.Errorf("two cases are named %q", c.Name)
				}
				results[c.Name] = c.Expect
				t.Run(c.Name, func(t *testing.T) { results[c.Name] = runCase(t, c) })
			}
			if *update && !t.Failed() {
				if err := os.WriteFile(name, f.Update(results), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func caseFiles(t *testing.T) []string {
	var names []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".txtar") && filepath.Dir(path) != "testdata" {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 20 {
		t.Fatalf("only %d files of cases found", len(names))
	}
	return names
}

// runCase runs a case with all executors, which must agree, and compares with
// the expectations.
func runCase(t *testing.T, c *Case) string {
	var first Result
	for i, x := range Executors {
		got, err := c.Run(x)
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		if i == 0 {
			first = got
			continue
		}
		if got.Text != first.Text {
			t.Errorf("%s and %s differ:\n%s", Executors[0].Name, x.Name, diff(first.Text, got.Text))
		}
		if !SameHits(got.Hits, first.Hits) {
			t.Errorf("%s and %s differ in hits: %v, %v", Executors[0].Name, x.Name, first.Hits, got.Hits)
		}
	}
	if !*update && first.Text != c.Expect {
		t.Errorf("- expected, + got:\n%s", diff(c.Expect, first.Text))
	}
	return first.Text
}

// diff shows lines that only one of two texts has.
func diff(want, got string) string {
	lines := func(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
	w, g := lines(want), lines(got)
	var b strings.Builder
	for i := range max(len(w), len(g)) {
		one := func(list []string) string {
			if i < len(list) {
				return list[i]
			}
			return ""
		}
		if a, c := one(w), one(g); a != c {
			b.WriteString("- " + a + "\n+ " + c + "\n")
		}
	}
	return b.String()
}
