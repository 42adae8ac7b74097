package compile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

var update = flag.Bool("update", false, "write what the cases give as their expectation")

// TestCases compiles the cases of testdata. Each archive has a section
// `rules` with one `FAMILY RULE` a line, compiled against the section `setup`
// (commands, a table t and a chain c of every family exist), or a section
// `file` with a whole ruleset. `want` holds the bytecode, or the errors.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(text)
			got := runCase(archive)
			for i := range archive.Files {
				f := &archive.Files[i]
				if f.Name != "want" {
					continue
				}
				if *update {
					f.Data = []byte(got)
					if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if d := lineDifference(got, string(f.Data)); d != "" {
					t.Error(d)
				}
				return
			}
			t.Error("no section want")
		})
	}
}

func lineDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d of want:\n got  %s\n want %s", i+1, a, b)
		}
	}
	return ""
}

// section is the text of an archive's section, "" if it has none.
func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func runCase(a *txtar.Archive) string {
	if text := section(a, "file"); text != "" {
		return debugOrErrors(nil, text)
	}
	var out strings.Builder
	bases := map[string]*ruleset.Ruleset{}
	for _, line := range strings.Split(section(a, "rules"), "\n") {
		family, rule, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		base := bases[family]
		if base == nil {
			setup := fmt.Sprintf("table %s t {\n%s\nchain c { }\n}\n", family, section(a, "setup"))
			var err error
			if base, _, err = load(nil, setup, conformanceHost()); err != nil {
				return "setup: " + err.Error() + "\n"
			}
			bases[family] = base
		}
		fmt.Fprintf(&out, "%s %s\n", family, rule)
		out.WriteString(debugOrErrors(base, fmt.Sprintf("add rule %s t c %s\n", family, rule)))
	}
	return out.String()
}

// debugOrErrors compiles a text and gives its instructions and elements, or
// its errors with their places.
func debugOrErrors(base *ruleset.Ruleset, text string) string {
	var out bytes.Buffer
	file, list := syntax.Parse(diag.NewSource("", []byte(text)), syntax.Options{})
	var batch []ruleset.Change
	if !list.HasErrors() {
		batch, list = Compile(base, file, conformanceHost())
	}
	for _, d := range list.All() {
		fmt.Fprintf(&out, "  error %s: %s: %s", d.Code, d.Span.Text(), d.Message)
		if d.Hint != "" {
			fmt.Fprintf(&out, " (%s)", d.Hint)
		}
		out.WriteByte('\n')
	}
	if list.HasErrors() {
		return out.String()
	}
	for _, line := range strings.Split(string(ruleset.AppendDebug(nil, base, batch)), "\n") {
		switch {
		case base == nil && line != "":
			out.WriteString(line + "\n")
		case strings.HasPrefix(line, "  [ "):
			out.WriteString("  " + strings.TrimSuffix(strings.TrimPrefix(line, "  [ "), " ]") + "\n")
		case strings.HasPrefix(line, "family "):
			if f := strings.Fields(line); len(f) > 4 && f[4] != "0" {
				fmt.Fprintf(&out, "  set %s flags %s\n", f[2], f[4])
			}
		case strings.HasPrefix(line, "\t"):
			for _, e := range strings.Split(line, "\t") {
				if e != "" {
					out.WriteString("    " + e + "\n")
				}
			}
		}
	}
	return out.String()
}
