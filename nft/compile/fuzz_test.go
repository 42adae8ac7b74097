package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// FuzzCompile compiles arbitrary texts: whatever parses must compile or be
// refused, and what compiles must be something that Apply can judge.
func FuzzCompile(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		a := txtar.Parse(text)
		if file := section(a, "file"); file != "" {
			f.Add(file)
		}
		for _, line := range strings.Split(section(a, "rules"), "\n") {
			if family, rule, ok := strings.Cut(line, " "); ok {
				f.Add("table " + family + " t {\n" + section(a, "setup") + "\nchain c {\n" + rule + "\n}\n}\n")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, list := syntax.Parse(diag.NewSource("fuzz", []byte(text)), syntax.Options{})
		if list.HasErrors() {
			return
		}
		batch, list := Compile(nil, file, conformanceHost())
		if list.HasErrors() {
			return
		}
		if _, refused := ruleset.Apply(nil, batch, ruleset.Options{}); len(refused) == 0 {
			ruleset.AppendDebug(nil, nil, batch)
		}
	})
}
