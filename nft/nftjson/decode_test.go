package nftjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/compile"
	"verdict/nft/decompile"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// The numbers of recorded inputs that must at least do as recorded.
const (
	decodeFloor    = 3120
	roundTripFloor = 3119 // one names a ct address without a family, in JSON also in the reference
	corpusTrip     = 127  // two hold braces around one element, which do not survive loading
	dumpFloor      = 176
)

func loadJSON(base *ruleset.Ruleset, name string, text []byte, opts compile.Options) (*ruleset.Ruleset, error) {
	file, found := nftjson.Decode(diag.NewSource(name, text))
	return apply(base, file, found, opts)
}

// TestRuleDecoding adds the rules of the conformance cases from JSON and
// compares the bytecode.
func TestRuleDecoding(t *testing.T) {
	cases := ruleCases(t)
	opts := compileOptions(ports, east)
	exact := 0
	for _, c := range cases {
		rs, err := loadText(nil, c.ID, []byte(strings.Join(c.Setup, "\n")+"\n"), opts)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		command, err := json.Marshal(map[string]any{"nftables": []any{map[string]any{"add": map[string]any{
			"rule": map[string]any{"family": c.Family, "table": c.Table, "chain": c.Chain, "expr": c.JSON},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		next, err := loadJSON(rs, c.ID, command, opts)
		if err != nil {
			t.Logf("%s: %v\n%s", c.ID, err, c.JSON)
			continue
		}
		_, _, rule := c.lastRule(next)
		if got := bytecode(rule); !slices.Equal(got, c.Payload) {
			t.Logf("%s: %s\n got %q\nwant %q", c.ID, c.JSON, got, c.Payload)
			continue
		}
		exact++
	}
	t.Logf("%d of %d rules in JSON give the recorded bytecode", exact, len(cases))
	if exact < decodeFloor {
		t.Errorf("%d rules give the recorded bytecode, want at least %d", exact, decodeFloor)
	}
}

// anonymous gives anonymous sets the names that they have before loading.
func anonymous(text string) string {
	for _, prefix := range []string{"__set", "__map", "__objmap"} {
		at := strings.Index(text, " "+prefix)
		if at < 0 {
			continue
		}
		end := at + 1 + len(prefix)
		return text[:end] + "%d" + strings.TrimLeft(text[end:], "0123456789")
	}
	return text
}

// TestCorpusRoundTrip loads the recorded JSON of real rulesets and lists it
// again.
func TestCorpusRoundTrip(t *testing.T) {
	all := corpus(t)
	exact := 0
	for _, e := range all {
		recorded, err := os.ReadFile(e.Recorded(".json"))
		if err != nil {
			t.Fatal(err)
		}
		rs, err := loadJSON(nil, e.Recorded(".json"), recorded, compileOptions(e.Interfaces, nil))
		if err != nil {
			t.Logf("%s: %v", e.File, err)
			continue
		}
		options := listOptions(e.Interfaces)
		options.Clock = 1
		got := nftjson.Append(nil, decompile.Ruleset(rs, options), nftjson.Reference)
		g, w := withoutHandles(objects(t, got)), withoutHandles(objects(t, recorded))
		if at := difference(g, w); at >= 0 {
			t.Logf("%s: object %d\n got %.600s\nwant %.600s", e.File, at, nth(g, at), nth(w, at))
			continue
		}
		exact++
	}
	t.Logf("%d of %d real rulesets in JSON load and list as they were", exact, len(all))
	if exact < corpusTrip {
		t.Errorf("%d real rulesets load and list as they were, want at least %d", exact, corpusTrip)
	}
}

func withoutHandles(list []string) []string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = handle.ReplaceAllString(o, "")
	}
	return out
}

// TestDumpRoundTrip loads recorded listings, lists them as JSON, loads that
// and lists it as text again.
func TestDumpRoundTrip(t *testing.T) {
	total, exact := 0, 0
	testdata.EachFile(t, "conformance/nft/dumps", func(name, path string, text []byte) {
		total++
		if d := dumpDifference(path, text); d != "" {
			t.Logf("%s: %s", name, d)
			return
		}
		exact++
	})
	t.Logf("%d of %d dumps survive JSON", exact, total)
	if exact < dumpFloor {
		t.Errorf("%d dumps survive JSON, want at least %d", exact, dumpFloor)
	}
}

// dumpDifference says how a listing differs after a way through JSON, "" if it
// does not.
func dumpDifference(name string, text []byte) string {
	opts := compileOptions(ports, nil)
	rs, err := loadText(nil, name, text, opts)
	if err != nil {
		return err.Error()
	}
	plain := decompile.Options{InterfaceName: testdata.InterfaceName(ports)}
	var before, after bytes.Buffer
	if err := decompile.List(&before, rs, plain); err != nil {
		return err.Error()
	}
	document := nftjson.Append(nil, decompile.Ruleset(rs, listOptions(ports)), nftjson.Reference)
	if !json.Valid(document) {
		return "no JSON: " + string(document)
	}
	again, err := loadJSON(nil, name, document, opts)
	if err != nil {
		return err.Error() + "\n" + string(document)
	}
	if err := decompile.List(&after, again, plain); err != nil {
		return err.Error()
	}
	g, w := strings.Split(after.String(), "\n"), strings.Split(before.String(), "\n")
	if at := difference(g, w); at >= 0 {
		return "line differs\n got " + nth(g, at) + "\nwant " + nth(w, at) + "\n" + string(document)
	}
	return ""
}

// TestRuleRoundTrip lists each rule of the conformance cases as JSON and as
// text, adds both again and compares the bytecode: what a listing leaves out,
// it leaves out in both.
func TestRuleRoundTrip(t *testing.T) {
	opts := compileOptions(ports, east)
	options := decompile.Options{InterfaceName: testdata.InterfaceName(ports), Location: east, Now: opts.Now}
	total, same := 0, 0
	for _, c := range ruleCases(t) {
		setup, err := loadText(nil, c.ID, []byte(strings.Join(c.Setup, "\n")+"\n"), opts)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		rs, err := loadText(setup, c.ID, []byte(c.Cmd+"\n"), opts)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		total++
		text, document := c.listings(rs, options)
		fromText, err := loadText(setup, c.ID, text, opts)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.ID, err, text)
			continue
		}
		fromJSON, err := loadJSON(setup, c.ID, document, opts)
		if err != nil {
			t.Logf("%s: %v\n%s", c.ID, err, document)
			continue
		}
		_, _, a := c.lastRule(fromJSON)
		_, _, b := c.lastRule(fromText)
		if got, want := bytecode(a), bytecode(b); !slices.Equal(got, want) {
			t.Logf("%s: %s\n got %q\nwant %q", c.ID, document, got, want)
			continue
		}
		same++
	}
	t.Logf("%d of %d rules survive JSON as they do text", same, total)
	if same < roundTripFloor {
		t.Errorf("%d rules survive JSON, want at least %d", same, roundTripFloor)
	}
}

// listings lists the case's rule as commands that add it.
func (c *ruleCase) listings(rs *ruleset.Ruleset, options decompile.Options) (text, document []byte) {
	table, chain, rule := c.lastRule(rs)
	statements, _ := decompile.Rule(table, rule, &options)
	text = fmt.Appendf(nil, "add rule %s %s %s ", c.Family, c.Table, c.Chain)
	text = append(syntax.AppendRule(text, &syntax.Rule{Statements: statements}), '\n')

	options = options.JSON()
	statements, _ = decompile.Rule(table, rule, &options)
	document = append(document, `{"nftables": [`...)
	document = nftjson.AppendRuleEvent(document, "add", c.Family, c.Table, chain.Name, &syntax.Rule{Statements: statements})
	return text, append(document, "]}"...)
}

func bytecode(r *ruleset.Rule) []string {
	var list []string
	for _, e := range r.Exprs {
		list = append(list, anonymous(string(e.AppendText(nil))))
	}
	return list
}
