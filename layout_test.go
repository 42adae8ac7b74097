package verdict_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rows is the import table of ARCHITECTURE.md: a package may import only
// packages of lower rows, and its own sub-packages where those have no row of
// their own. Tests may look up to row 6.
var rows = map[string]int{
	"packet": 0, "catalog": 0, "diag": 0, "internal/simd": 0, "internal/huge": 0, "internal/netns": 0,
	"packet/build": 1, "packet/rewrite": 1, "host": 1, "capture": 1, "trace": 1,
	"nft/syntax": 1, "nft/expr": 1,
	"set": 2, "classify": 2, "conntrack": 2, "nft/nftjson": 2, "offload": 2,
	"nft/ruleset": 3,
	"nft/compile": 4, "nft/decompile": 4, "nft/netlink": 4, "iptables": 4, "tc": 4,
	"engine": 5,
	"":       6, "trace/render": 6, "internal/store": 6, "internal/workload": 6,
	"internal/cli": 7, "internal/kernel": 7, "spec": 7,
	"cmd": 8, "internal/goals": 8, "internal/show": 8, "bench": 8, "examples": 8,
}

// testRow is how far up the imports of tests may reach.
const testRow = 6

// rowOf finds the row of a package by its longest listed prefix.
func rowOf(pkg string) (row int, listed string, ok bool) {
	for p := pkg; ; p = filepath.ToSlash(filepath.Dir(p)) {
		if p == "." {
			p = ""
		}
		if r, found := rows[p]; found && (p != "" || pkg == "") {
			return r, p, true
		}
		if p == "" {
			return 0, "", false
		}
	}
}

func TestImportsPointDownwards(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name()[0] == '.' || d.Name()[0] == '_' || d.Name() == "testdata" || nestedModule(path)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		checked++
		checkFile(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 50 {
		t.Fatalf("only %d files found: is the test run from the repository's root?", checked)
	}
}

func nestedModule(dir string) bool {
	matches, _ := filepath.Glob(filepath.Join(dir, "go.mod"))
	return len(matches) > 0
}

func checkFile(t *testing.T, path string) {
	pkg := filepath.ToSlash(filepath.Dir(path))
	if pkg == "." {
		pkg = ""
	}
	if strings.HasPrefix(pkg, "internal/testdata") {
		return
	}
	isTest := strings.HasSuffix(path, "_test.go")
	row, home, ok := rowOf(pkg)
	if !ok {
		t.Errorf("%s: package %s stands in no row of the import table", path, pkg)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if name != "verdict" && !strings.HasPrefix(name, "verdict/") {
			continue
		}
		target := strings.TrimPrefix(strings.TrimPrefix(name, "verdict"), "/")
		if reason := forbidden(row, home, pkg, target, isTest); reason != "" {
			t.Errorf("%s imports %s: %s", path, name, reason)
		}
	}
}

// forbidden says why an import breaks the table, or "".
func forbidden(row int, home, pkg, target string, isTest bool) string {
	if target == "internal/testdata" && isTest {
		return ""
	}
	targetRow, targetHome, ok := rowOf(target)
	switch {
	case !ok:
		return "the imported package stands in no row of the import table"
	case targetHome == home:
		return "" // within one listed package and its sub-packages
	case isTest && targetRow <= testRow:
		return ""
	case targetRow < row:
		return ""
	}
	return "it stands in row " + strconv.Itoa(targetRow) + ", not below row " + strconv.Itoa(row) + " of " + pkg
}

func TestImportTableFindsViolations(t *testing.T) {
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"packet", "catalog", false, false},
		{"packet/build", "packet", false, true},
		{"engine/vm", "nft/ruleset", false, true},
		{"nft/ruleset", "engine", false, false},
		{"set/hash", "set/elem", false, true},
		{"engine", "internal/cli", true, false},
		{"packet", "engine", true, true},
		{"set", "nosuch", false, false},
	} {
		row, home, _ := rowOf(c.from)
		if got := forbidden(row, home, c.from, c.to, c.test) == ""; got != c.ok {
			t.Errorf("%s → %s (test %v): allowed %v, want %v", c.from, c.to, c.test, got, c.ok)
		}
	}
}
