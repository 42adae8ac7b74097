package nftjson_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"verdict/diag"
	"verdict/nft/decompile"
	"verdict/nft/nftjson"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestEverything lists a ruleset that holds every kind of object, statement
// and expression, and loads the JSON again.
func TestEverything(t *testing.T) {
	const source, golden = "testdata/everything.nft", "testdata/everything.json"
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := loadText(nil, source, text, compileOptions(ports, nil))
	if err != nil {
		t.Fatal(err)
	}
	document := nftjson.Append(nil, decompile.Ruleset(rs, listOptions(ports)), nftjson.Reference)
	// One object a line, as people can read it.
	got := bytes.ReplaceAll(document, []byte("}, {\""), []byte("},\n{\""))
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	if at := difference(g, w); at >= 0 {
		t.Errorf("line %d\n got %s\nwant %s", at+1, nth(g, at), nth(w, at))
	}
	if d := dumpDifference(source, text); d != "" {
		t.Error(d)
	}
}

// TestErrors renders the findings about documents with mistakes.
func TestErrors(t *testing.T) {
	const name = "testdata/errors.txtar"
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{}
	var documents []txtar.File
	for _, f := range archive.Files {
		if want, ok := strings.CutPrefix(f.Name, "want/"); ok {
			wants[want] = string(f.Data)
		} else {
			documents = append(documents, f)
		}
	}
	archive.Files = nil
	for _, f := range documents {
		_, found := nftjson.Decode(diag.NewSource(f.Name, f.Data))
		var b bytes.Buffer
		if err := (diag.Renderer{}).Render(&b, found); err != nil {
			t.Fatal(err)
		}
		if len(found.All()) == 0 {
			t.Errorf("%s: nothing is found", f.Name)
		}
		if got := b.String(); got != wants[f.Name] && !*update {
			t.Errorf("%s:\n got %s\nwant %s", f.Name, got, wants[f.Name])
		}
		archive.Files = append(archive.Files, f, txtar.File{Name: "want/" + f.Name, Data: b.Bytes()})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
