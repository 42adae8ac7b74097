package decompile

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// FuzzRule decompiles rules of any bytecode that can be read, also such as no
// compiler makes.
func FuzzRule(f *testing.F) {
	archives, _ := filepath.Glob("testdata/rules/*.txtar")
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".bytecode") {
				f.Add(uint8(catalog.FamilyInet), string(file.Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, family uint8, bytecode string) {
		exprs, err := expr.ParseRuleText(bytecode, expr.TextOptions{})
		if err != nil {
			return
		}
		table := &ruleset.Table{Family: catalog.Family(family), Name: "t"}
		statements, _ := Rule(table, &ruleset.Rule{Exprs: exprs}, &Options{})
		syntax.AppendRule(nil, &syntax.Rule{Statements: statements})
	})
}
