package iptables

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/diag"
	"verdict/internal/testdata"
)

// corpusFile is an entry of the index of save files.
type corpusFile struct {
	File, Family, Legacy, Nft string
	Rules                     int
	Outputs                   []string
}

func (f *corpusFile) family() catalog.Family {
	if f.Family == "ip6" {
		return catalog.FamilyIP6
	}
	return catalog.FamilyIP
}

func corpus(t testing.TB) (string, []corpusFile) {
	t.Helper()
	dir := testdata.Path(t, "corpus/iptables")
	text, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files []corpusFile
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	return dir, files
}

func source(t testing.TB, path string) *diag.Source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return diag.NewSource(filepath.Base(path), text)
}

// TestCorpusLoads loads what the legacy tool loads, and refuses what it
// refuses at the same line.
func TestCorpusLoads(t *testing.T) {
	dir, files := corpus(t)
	for _, f := range files {
		file, found := Parse(source(t, filepath.Join(dir, f.File)), Options{})
		if file.Family != f.family() {
			if len(found.All()) == 0 || found.All()[0].Code != "iptables/family" {
				t.Errorf("%s: taken as %v", f.File, file.Family)
			}
			file, found = Parse(source(t, filepath.Join(dir, f.File)), Options{Family: f.family()})
		}
		for _, d := range Check(file).All() {
			found.Add(d)
		}
		if found.HasErrors() != (f.Legacy == "no") {
			t.Errorf("%s: legacy tool accepts: %s; found: %v", f.File, f.Legacy, found.Err())
		}
		rules := 0
		for _, table := range file.Tables {
			for _, c := range table.Chains {
				rules += len(c.Rules)
			}
		}
		if f.Legacy == "yes" && rules < f.Rules {
			t.Errorf("%s: %d rules, want %d", f.File, rules, f.Rules)
		}
	}
}

// TestCorpusTranslates compares the reference's form with what the reference
// printed; its comments are not recorded.
func TestCorpusTranslates(t *testing.T) {
	dir, files := corpus(t)
	compared := 0
	for _, f := range files {
		name := strings.TrimSuffix(f.File, ".rules") + ".translate"
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		file, found := Parse(source(t, filepath.Join(dir, f.File)), Options{Family: f.family()})
		if found.HasErrors() {
			t.Errorf("%s: %v", f.File, found.Err())
			continue
		}
		var got []string
		for _, l := range Translate(file, TranslateOptions{Reference: true}) {
			if !l.Comment {
				got = append(got, l.Text)
			}
		}
		compared++
		if text := strings.Join(got, "\n") + "\n"; text != string(want) {
			t.Errorf("%s: %s", name, firstDifference(text, string(want)))
		}
	}
	t.Logf("%d translations compared", compared)
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "lengths differ"
}
