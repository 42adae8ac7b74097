package nftjson_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/decompile"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
)

// FuzzDecode reads anything: nothing may panic or take long, what loads has to
// list as JSON that is read again.
func FuzzDecode(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/errors.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, x := range archive.Files {
		if !strings.HasPrefix(x.Name, "want/") {
			f.Add(x.Data)
		}
	}
	everything, err := os.ReadFile("testdata/everything.json")
	if err != nil {
		f.Fatal(err)
	}
	var document struct{ Nftables []json.RawMessage }
	if err := json.Unmarshal(everything, &document); err != nil {
		f.Fatal(err)
	}
	f.Add(everything)
	for _, object := range document.Nftables {
		f.Add([]byte(`{"nftables": [{"add": {"table": {"family": "inet", "name": "everything"}}},` +
			`{"add": {"chain": {"family": "inet", "table": "everything", "name": "input"}}},` + string(object) + "]}"))
	}
	options := listOptions(ports)
	f.Fuzz(func(t *testing.T, text []byte) {
		var rs *ruleset.Ruleset
		var err error
		testdata.WithinSecond(t, func() { rs, err = loadJSON(nil, "fuzz", text, compileOptions(ports, nil)) })
		if err != nil {
			return
		}
		first := nftjson.Append(nil, decompile.Ruleset(rs, options), nftjson.Reference)
		if !json.Valid(first) {
			t.Fatalf("no JSON: %s", first)
		}
		if _, found := nftjson.Decode(diag.NewSource("again", first)); found.HasErrors() {
			t.Errorf("the listing is not read: %v\n%s", found.Err(), first)
		}
	})
}

// FuzzSyntax compares what is JSON with the standard library.
func FuzzSyntax(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, -2.5e+3, true, false, null, "x\n\u00e9\ud83d\ude00"]}`, `[]`, `{}`, `[1,]`, `{"a" 1}`, `"\x"`, `01`, `-`,
		`"\ud800"`, "\"\x01\"", `1 2`, `nul`, `[[[[]]]]`, "\xff", `{"a":1,"a":2}`, `1e`, `.5`, `"\u12"`, ` [1 , 2 ] `,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, found := nftjson.Decode(diag.NewSource("fuzz", []byte(text)))
		accepted := true
		for _, d := range found.All() {
			accepted = accepted && d.Code != "json/syntax"
		}
		if valid := json.Valid([]byte(text)); accepted && !valid {
			t.Errorf("%q is taken for JSON", text)
		} else if !accepted && valid && !stricter(text) {
			t.Errorf("%q is not taken for JSON: %v", text, found.Err())
		}
	})
}

// stricter reports what is JSON for the standard library alone: bytes that are
// no UTF-8, halves of surrogate pairs, null bytes, and deep nesting.
func stricter(text string) bool {
	return strings.ToValidUTF8(text, "") != text || strings.Contains(text, `\u`) ||
		strings.Count(text, "[")+strings.Count(text, "{") > 200
}

// TestDepth reads a document that is nested without end.
func TestDepth(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 1<<20),
		strings.Repeat(`{"nftables":`, 1<<18),
		`{"nftables": [{"add": {"rule": {"table": "t", "chain": "c", "expr": [{"match": {"left": ` +
			strings.Repeat(`{"|": [1, `, 90) + "1" + strings.Repeat("]}", 90) + `, "right": 1}}]}}}]}`,
	} {
		if _, found := nftjson.Decode(diag.NewSource("deep", []byte(text))); text[0] == '[' && !found.HasErrors() {
			t.Errorf("%.40s…: accepted", text)
		}
	}
}

// BenchmarkDecode reads a set of 100,000 addresses.
func BenchmarkDecode(b *testing.B) {
	var t bytes.Buffer
	t.WriteString(`{"nftables": [{"table": {"family": "ip", "name": "t"}}, {"set": {"family": "ip", "table": "t", "name": "s", "type": "ipv4_addr", "elem": [`)
	for i := range 100_000 {
		if i > 0 {
			t.WriteString(", ")
		}
		t.Write([]byte{'"'})
		t.WriteString("10." + strconv.Itoa(i>>16&255) + "." + strconv.Itoa(i>>8&255) + "." + strconv.Itoa(i&255))
		t.Write([]byte{'"'})
	}
	t.WriteString("]}}]}")
	b.SetBytes(int64(t.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, found := nftjson.Decode(diag.NewSource("b", t.Bytes())); found.HasErrors() {
			b.Fatal(found.Err())
		}
	}
}
