package store

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// otherVersion writes a state as a program would whose types differ: fields
// have other names.
func otherVersion(t *testing.T, path, text string, rename ...string) {
	t.Helper()
	rs := mustApply(t, nil, text)
	head := appendHead(nil)
	schema := bytes.Clone(ownSchema().text)
	for i := 0; i < len(rename); i += 2 {
		from, to := appendString(nil, rename[i]), appendString(nil, rename[i+1])
		if !bytes.Contains(schema, from) {
			t.Fatalf("no field %s", rename[i])
		}
		schema = bytes.ReplaceAll(schema, from, to)
	}
	data := appendRecord(bytes.Clone(head[:headSize]), recordSchema, schema)
	data = appendRecord(data, recordSnapshot, appendSnapshot(nil, &State{Rules: rs, Sequence: 1}, second))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOtherVersions: fields that the program lacks, or that the file lacks, do
// not matter where they are not used. The next transaction brings the file up
// to date.
func TestOtherVersions(t *testing.T) {
	now := second
	path := filepath.Join(t.TempDir(), "state")
	const text = "table ip t { chain c { tcp dport 22 accept; }; }"
	otherVersion(t, path, text, "Packets", "Pockets", "ERSPAN", "Er", "expr.Hash", "expr.Hush")
	s := open(path, &now)
	want := listing(t, mustApply(t, nil, text), now)
	if got := listing(t, read(t, s).Rules, now); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if s.file.schema.same {
		t.Error("the schema is taken for the program's own")
	}
	update(t, s, "add chain ip t d")
	if again := open(path, &now); listing(t, read(t, again).Rules, now) == want || !again.file.schema.same {
		t.Error("the file was not brought up to date")
	}

	otherVersion(t, path, "table ip t { chain c { counter packets 5 bytes 6; }; }", "Packets", "Pockets")
	if _, err := open(path, &now).Read(); err == nil || !strings.Contains(err.Error(), "expr.Counter.Pockets is not known to this version") {
		t.Error(err)
	}
	otherVersion(t, path, "table ip t { chain c { counter; }; }", "expr.Counter", "expr.Zounter")
	if _, err := open(path, &now).Read(); err == nil || !strings.Contains(err.Error(), "expression expr.Zounter is not known to this version") {
		t.Error(err)
	}
}

// TestAllExpressionsAreKnown compares the list with the types of package expr
// that have a method Kind.
func TestAllExpressionsAreKnown(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "nft", "expr", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range expressions {
		known[reflect.TypeOf(e).Elem().Name()] = true
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			method, ok := d.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "Kind" {
				continue
			}
			star, ok := method.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			found++
			if id, ok := star.X.(*ast.Ident); ok && !known[id.Name] {
				t.Errorf("expression %s is not stored", id.Name)
			}
		}
	}
	if found < 30 || found != len(expressions) {
		t.Errorf("%d expressions, %d stored", found, len(expressions))
	}
}
