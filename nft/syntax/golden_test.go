package syntax_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"verdict/diag"
	"verdict/nft/syntax"
)

var update = flag.Bool("update", false, "rewrite the expectations of golden files")

// golden runs every NAME.nft of an archive and compares with NAME.want.
func golden(t *testing.T, file string, run func(name string, input []byte) string) {
	t.Helper()
	name := filepath.Join("testdata", file)
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range archive.Files {
		if base, ok := strings.CutSuffix(f.Name, ".want"); ok {
			want[base] = string(f.Data)
		}
	}
	rewritten := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		base, ok := strings.CutSuffix(f.Name, ".nft")
		if !ok {
			continue
		}
		got := run(f.Name, f.Data)
		rewritten.Files = append(rewritten.Files, f, txtar.File{Name: base + ".want", Data: []byte(got)})
		if !*update && got != want[base] {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", base, got, want[base])
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestErrors shows what wrong sources get: place, message, hint.
func TestErrors(t *testing.T) {
	golden(t, "errors.txtar", func(name string, input []byte) string {
		_, list := syntax.Parse(diag.NewSource(name, input), syntax.Options{Open: noFiles})
		var b strings.Builder
		if err := (diag.Renderer{}).Render(&b, list); err != nil {
			t.Fatal(err)
		}
		return b.String()
	})
}

// TestFormat shows how sources are laid out, and checks that formatting again
// changes nothing.
func TestFormat(t *testing.T) {
	golden(t, "format.txtar", func(name string, input []byte) string {
		checkFormat(t, name, input)
		text, list := syntax.Format(diag.NewSource(name, input))
		if list.HasErrors() {
			t.Errorf("%s: %v", name, list.Err())
		}
		return string(text)
	})
}

func noFiles(string, *diag.Source) ([]*diag.Source, error) { return nil, fs.ErrNotExist }

// openFS opens includes in a file system, relative to its root.
func openFS(files fs.FS) func(string, *diag.Source) ([]*diag.Source, error) {
	return func(pattern string, from *diag.Source) ([]*diag.Source, error) {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 && !strings.ContainsAny(pattern, "*?[") {
			return nil, fmt.Errorf("open %s: %w", pattern, fs.ErrNotExist)
		}
		slices.Sort(names)
		var sources []*diag.Source
		for _, name := range names {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, err
			}
			sources = append(sources, diag.NewSource(path.Clean(name), text))
		}
		return sources, nil
	}
}

// TestInclude parses included files in the context of the statement.
func TestInclude(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	deep := fstest.MapFS{}
	for i := range 20 {
		deep[fmt.Sprintf("d%d", i)] = file(fmt.Sprintf("include \"d%d\"\n", i+1))
	}
	deep["d20"] = file("")
	tests := []struct {
		name, input string
		files       fstest.MapFS
		want        string // the errors, or the files in order
	}{
		{"glob in order", `include "*.nft"`, fstest.MapFS{"b.nft": file("table b"), "a.nft": file("table a")}, "a.nft b.nft"},
		{"glob without match", `include "x*"`, fstest.MapFS{}, ""},
		{"in a chain", "table t { chain c {\n include \"r\"\n}\n}", fstest.MapFS{"r": file("tcp dport 22 accept")}, "r"},
		{"in a set", "table t { set s {\n include \"s\"\n}\n}", fstest.MapFS{"s": file("type ipv4_addr")}, "s"},
		{"missing", "\n include \"nofile\"", fstest.MapFS{}, "in:2:10: error: File not found: nofile"},
		{"itself", `include "in"`, fstest.MapFS{"in": file(`include "in"`)}, `in:1:9: error: "in" includes itself`},
		{"too deep", `include "d0"`, deep, "d15:1:1: error: Include nested too deeply, max 16 levels"},
		{"error inside", `include "r"`, fstest.MapFS{"r": file("\ntabel x")}, "r:2:1: error: unknown command 'tabel'"},
		{"unclosed inside", "include \"r\"\ntable x", fstest.MapFS{"r": file("table y {")}, "r:1:10: error: unexpected end of file: the block of table y is not closed"},
		{"not quoted", "include r", fstest.MapFS{}, "in:1:9: error: unexpected 'r', expected a quoted file name"},
	}
	for _, test := range tests {
		src := diag.NewSource("in", []byte(test.input))
		tree, list := syntax.Parse(src, syntax.Options{Open: openFS(test.files)})
		var got []string
		for _, d := range list.All() {
			got = append(got, d.Error())
		}
		if len(got) == 0 {
			syntax.WalkFile(tree, func(n syntax.Node) bool {
				if inc, ok := n.(*syntax.Include); ok {
					for _, f := range inc.Files {
						if len(f.Items) == 0 || f.Source.IncludedAt.Source != src {
							t.Errorf("%s: %s has no items or place", test.name, f.Source.Name)
						}
						got = append(got, f.Source.Name)
					}
				}
				return true
			})
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
