package decompile

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

var update = flag.Bool("update", false, "write the texts of testdata anew")

// TestRules decompiles the rules of testdata/rules. Each archive holds pairs
// of files: FAMILY/NAME.bytecode and FAMILY/NAME.text.
func TestRules(t *testing.T) {
	archives, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { testArchive(t, path) })
	}
}

func testArchive(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		bytecode, listing := archive.Files[i], &archive.Files[i+1]
		name := strings.TrimSuffix(bytecode.Name, ".bytecode")
		if listing.Name != name+".text" {
			t.Fatalf("%s: %s is not followed by its text", path, bytecode.Name)
		}
		got := decompileText(t, name, string(bytecode.Data)) + "\n"
		if *update {
			listing.Data = []byte(got)
			continue
		}
		if want := string(listing.Data); got != want {
			t.Errorf("%s:\n got %swant %s", name, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func decompileText(t *testing.T, name, bytecode string) string {
	t.Helper()
	word, _, _ := strings.Cut(name, "/")
	family, ok := catalog.FamilyByName(word)
	if !ok {
		t.Fatalf("%s: no family %q", name, word)
	}
	exprs, err := expr.ParseRuleText(bytecode, expr.TextOptions{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	o := Options{Stateless: true}
	statements, _ := Rule(&ruleset.Table{Family: family}, &ruleset.Rule{Exprs: exprs}, &o)
	return string(syntax.AppendRule(nil, &syntax.Rule{Statements: statements}))
}
