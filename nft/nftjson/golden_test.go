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
	"verdict/nft/syntax"
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

// TestEcho writes documents back with the handles that their commands led to.
func TestEcho(t *testing.T) {
	const document = `{"nftables":[{"metainfo":{"json_schema_version":1}},
		{"add":{"table":{"family":"ip","name":"t\u00e4\/"}}},
		{"chain":{"handle":0,"family":"ip","table":"t","name":"c"}},
		{"delete":{"table":{"family":"ip","name":"u"}}}, {"insert": {"rule": {"expr": [1.5, true, null, {}]}}}]}`
	handles := map[int]uint64{1: 7, 2: 8, 4: 9}
	got := string(nftjson.AppendEcho(nil, diag.NewSource("d", []byte(document)), func(i int) uint64 { return handles[i] }))
	want := `{"nftables": [{"metainfo": {"json_schema_version": 1}}, ` +
		`{"add": {"table": {"family": "ip", "name": "tä/", "handle": 7}}}, ` +
		`{"chain": {"handle": 8, "family": "ip", "table": "t", "name": "c"}}, ` +
		`{"delete": {"table": {"family": "ip", "name": "u"}}}, {"insert": {"rule": {"expr": [1.5, true, null, {}], "handle": 9}}}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestEvents writes events as monitors and echo do.
func TestEvents(t *testing.T) {
	counter := &syntax.StatefulObj{Kind: syntax.ObjCounter, Name: syntax.Word{Text: "c"}, Counter: &syntax.Counter{Given: true, Packets: 1}}
	counter.Trailing = "handle 3"
	element := &syntax.SetLiteral{Elements: []syntax.Expr{&syntax.Element{Key: &syntax.Literal{Text: "10.0.0.1"}}}}
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{
			nftjson.AppendEvent(nil, "add", "ip", "t", counter),
			`{"add": {"counter": {"family": "ip", "name": "c", "table": "t", "handle": 3, "packets": 1, "bytes": 0}}}` + "\n",
		},
		{
			nftjson.AppendEvent(nil, "delete", "ip", "t", counter),
			`{"delete": {"counter": {"family": "ip", "name": "c", "table": "t", "handle": 3}}}` + "\n",
		},
		{
			nftjson.AppendElementEvent(nil, "add", "ip", "t", "s", element),
			`{"add": {"element": {"family": "ip", "table": "t", "name": "s", "elem": {"set": ["10.0.0.1"]}}}}` + "\n",
		},
		{nftjson.NewDocument(nil, nftjson.Meta{}).Bytes(), `{"nftables": []}` + "\n"},
	} {
		if string(c.got) != c.want {
			t.Errorf("got  %swant %s", c.got, c.want)
		}
	}
}
