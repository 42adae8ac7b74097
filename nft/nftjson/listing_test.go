package nftjson_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"verdict/internal/testdata"
	"verdict/nft/decompile"
	"verdict/nft/nftjson"
	"verdict/nft/syntax"
)

// TestRuleListing compiles the rules of the conformance cases and lists them
// as JSON.
func TestRuleListing(t *testing.T) {
	cases := ruleCases(t)
	options := decompile.Options{
		InterfaceName: testdata.InterfaceName(ports), Stateless: true, NumericProtocol: true, Location: east, Now: time.Unix(0, 0),
	}.JSON()
	exact := 0
	for _, c := range cases {
		rs, err := loadText(nil, c.ID, []byte(strings.Join(append(c.Setup, c.Cmd), "\n")+"\n"), compileOptions(ports, east))
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		table, _, rule := c.lastRule(rs)
		statements, _ := decompile.Rule(table, rule, &options)
		got := expressions(t, statements)
		want := value(t, c.expected())
		if !reflect.DeepEqual(got, want) {
			t.Logf("%s: %s\n got %s\nwant %s", c.ID, c.Listing, marshal(got), c.expected())
			continue
		}
		exact++
	}
	t.Logf("%d of %d rules list as recorded", exact, len(cases))
	if exact < ruleFloor {
		t.Errorf("%d rules list as recorded, want at least %d", exact, ruleFloor)
	}
}

// The numbers of recorded documents that must at least be met.
const (
	ruleFloor   = 3120
	corpusFloor = 129
)

// expressions is the expr member of a rule's JSON.
func expressions(t *testing.T, statements []syntax.Statement) any {
	line := nftjson.AppendRuleEvent(nil, "add", "ip", "t", "c", &syntax.Rule{Statements: statements})
	var event struct {
		Add struct{ Rule struct{ Expr any } }
	}
	if err := decodeNumbers(line, &event); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return event.Add.Rule.Expr
}

func value(t *testing.T, text []byte) (v any) {
	if err := decodeNumbers(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// decodeNumbers keeps numbers as they are written.
func decodeNumbers(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

func marshal(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// TestCorpusListing lists real rulesets and compares the text with the
// recorded one, line by line: the record has one object on each.
func TestCorpusListing(t *testing.T) {
	all := corpus(t)
	exact := 0
	for _, e := range all {
		source, err := os.ReadFile(e.Path())
		if err != nil {
			t.Fatal(err)
		}
		rs, err := loadText(nil, e.Path(), source, compileOptions(e.Interfaces, nil))
		if err != nil {
			t.Errorf("%s: %v", e.File, err)
			continue
		}
		recorded, err := os.ReadFile(e.Recorded(".json"))
		if err != nil {
			t.Fatal(err)
		}
		options := listOptions(e.Interfaces)
		options.Clock = 1
		got := nftjson.Append(nil, decompile.Ruleset(rs, options), nftjson.Reference)
		g, w := objects(t, got), objects(t, recorded)
		if at := difference(g, w); at >= 0 {
			t.Logf("%s: object %d of %d and %d\n got %.600s\nwant %.600s", e.File, at, len(g), len(w), nth(g, at), nth(w, at))
			continue
		}
		exact++
	}
	t.Logf("%d of %d real rulesets list exactly", exact, len(all))
	if exact < corpusFloor {
		t.Errorf("%d real rulesets list exactly, want at least %d", exact, corpusFloor)
	}
}

// objects splits a document into the texts of its objects, without handles of
// tables, which count on from what a host had before, and remaining times.
func objects(t *testing.T, document []byte) []string {
	var d struct{ Nftables []json.RawMessage }
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatalf("%v in %.300s", err, document)
	}
	var list []string
	for _, o := range d.Nftables {
		text := expires.ReplaceAllString(string(o), "")
		if strings.HasPrefix(text, `{"table"`) {
			text = handle.ReplaceAllString(text, "")
		}
		list = append(list, text)
	}
	return list
}

var (
	handle  = regexp.MustCompile(`, "handle": [0-9]+`)
	expires = regexp.MustCompile(`, "expires": [0-9]+`)
)

func difference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if nth(a, i) != nth(b, i) {
			return i
		}
	}
	return -1
}

func nth(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(none)"
}
