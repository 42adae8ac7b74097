package goals

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict/catalog"
	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/compile"
	"verdict/nft/decompile"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// jsonCase is a rule of the conformance cases with its JSON.
type jsonCase struct {
	conformanceCase
	JSON       json.RawMessage `json:"json"`
	JSONOutput json.RawMessage `json:"json_output"`
}

func TestGoal2JSONRules(t *testing.T) {
	var rules, bytecode, listed int
	for _, c := range testdata.Lines[jsonCase](t, testdata.NftCases) {
		if c.Kind != "rule" || c.Expect != "ok" || string(c.JSON) == "null" {
			continue
		}
		rules++
		base, ok := jsonLoad(t, nil, []byte(strings.Join(c.Setup, "\n")+"\n"), recordedPorts, east)
		if !ok {
			continue
		}
		if c.decodes(t, base) {
			bytecode++
		}
		if c.lists(t, base) {
			listed++
		}
	}
	goal(t, percent(bytecode, rules) >= 100, "conformance: rules in JSON give the exact bytecode", share(bytecode, rules), "100 %")
	goal(t, percent(listed, rules) >= 100, "conformance: rules list as the recorded JSON", share(listed, rules), "100 %")
}

// decodes adds the rule from its JSON and compares the bytecode.
func (c *jsonCase) decodes(t *testing.T, base *ruleset.Ruleset) bool {
	document, err := json.Marshal(map[string]any{"nftables": []any{map[string]any{"add": map[string]any{
		"rule": map[string]any{"family": c.Family, "table": c.Table, "chain": c.Chain, "expr": c.JSON},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	rs, ok := jsonLoad(t, base, document, recordedPorts, east)
	if !ok {
		return false
	}
	_, rule := c.rule(rs)
	var got []string
	for _, e := range rule.Exprs {
		got = append(got, anonymous(string(e.AppendText(nil))))
	}
	return slices.Equal(got, c.Payload)
}

// lists adds the rule from text and compares its JSON as values.
func (c *jsonCase) lists(t *testing.T, base *ruleset.Ruleset) bool {
	rs, ok := jsonLoad(t, base, []byte(c.Cmd+"\n"), recordedPorts, east)
	if !ok {
		return false
	}
	table, rule := c.rule(rs)
	o := decompile.Options{
		NumericProtocol: true, Stateless: true, Location: east, Now: time.Unix(0, 0), InterfaceName: testdata.InterfaceName(recordedPorts),
	}.JSON()
	statements, _ := decompile.Rule(table, rule, &o)
	var event struct {
		Add struct{ Rule struct{ Expr any } }
	}
	line := nftjson.AppendRuleEvent(nil, "add", c.Family, c.Table, c.Chain, &syntax.Rule{Statements: statements})
	expected := c.JSON
	if len(c.JSONOutput) > 0 && string(c.JSONOutput) != "null" {
		expected = c.JSONOutput
	}
	var want any
	if json.Unmarshal(line, &event) != nil || json.Unmarshal(expected, &want) != nil {
		return false
	}
	return reflect.DeepEqual(event.Add.Rule.Expr, want)
}

func (c *jsonCase) rule(rs *ruleset.Ruleset) (*ruleset.Table, *ruleset.Rule) {
	family, _ := catalog.FamilyByName(c.Family)
	table := rs.Table(family, c.Table)
	rules := table.Chain(c.Chain).Rules
	return table, rules[len(rules)-1]
}

// recordedPorts are the interfaces of the host on which the reference's tests
// were recorded.
var recordedPorts = testdata.RecordingInterfaces()

// jsonLoad applies a batch of commands, in the language or in JSON.
func jsonLoad(t *testing.T, base *ruleset.Ruleset, text []byte, ports map[string]uint32, zone *time.Location) (*ruleset.Ruleset, bool) {
	t.Helper()
	src := diag.NewSource("batch", text)
	file, found := (*syntax.File)(nil), (*diag.List)(nil)
	if nftjson.Is(text) {
		file, found = nftjson.Decode(src)
	} else {
		file, found = syntax.Parse(src, syntax.Options{})
	}
	var batch []ruleset.Change
	if !found.HasErrors() {
		batch, found = compile.Compile(base, file, compile.Options{
			Interface: testdata.InterfaceIndex(ports),
			User:      testdata.RecordingAccount, Group: testdata.RecordingAccount, Location: zone, Now: time.Unix(0, 0),
			Names: testdata.RecordingName,
		})
	}
	if err := found.Err(); err != nil {
		t.Logf("%v in %.300s", err, text)
		return nil, false
	}
	rs, refused := ruleset.Apply(base, batch, ruleset.Options{})
	if len(refused) > 0 {
		t.Logf("%v in %.300s", refused[0], text)
		return nil, false
	}
	return rs, true
}

func TestGoal2JSONCorpus(t *testing.T) {
	var listed, same int
	for _, e := range corpus(t) {
		if e.Loaded != "yes" {
			continue
		}
		listed++
		rules, findings := e.load(t)
		if rules == nil {
			t.Logf("%s does not load: %v", e.File, findings.Err())
			continue
		}
		want, err := os.ReadFile(e.Recorded(".json"))
		if err != nil {
			t.Fatal(err)
		}
		options := rules.ListOptions().JSON()
		options.Clock = 1
		got := nftjson.Append(nil, decompile.Ruleset(rules.Rules(), options), nftjson.Reference)
		if slices.Equal(jsonObjects(t, got), jsonObjects(t, want)) {
			same++
		} else {
			t.Logf("%s lists otherwise", e.File)
		}
	}
	goal(t, percent(same, listed) >= 100, "real rulesets: JSON equals nft's, byte for byte", share(same, listed), "100 %")
}

// jsonObjects splits a document into its objects. What counts on from what a
// host had before is left out: handles of tables, and remaining times.
func jsonObjects(t *testing.T, document []byte) []string {
	var d struct{ Nftables []json.RawMessage }
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, o := range d.Nftables {
		text := hostTimes.ReplaceAllString(string(o), "")
		if strings.HasPrefix(text, `{"table"`) {
			text = tableHandles.ReplaceAllString(text, "")
		}
		list = append(list, text)
	}
	return list
}

var (
	hostTimes    = regexp.MustCompile(`, "expires": [0-9]+`)
	tableHandles = regexp.MustCompile(`, "handle": [0-9]+`)
)

func TestGoal2JSONDumps(t *testing.T) {
	var dumps, same int
	testdata.EachFile(t, "conformance/nft/dumps", func(_, path string, text []byte) {
		dumps++
		rs, ok := jsonLoad(t, nil, text, recordedPorts, time.UTC)
		if !ok {
			return
		}
		options := decompile.Options{InterfaceName: testdata.InterfaceName(recordedPorts)}
		document := nftjson.Append(nil, decompile.Ruleset(rs, options.JSON()), nftjson.Reference)
		again, ok := jsonLoad(t, nil, document, recordedPorts, time.UTC)
		if !ok {
			return
		}
		var before, after bytes.Buffer
		if err := errors.Join(decompile.List(&before, rs, options), decompile.List(&after, again, options)); err != nil {
			t.Fatal(err)
		}
		if before.String() == after.String() {
			same++
		} else {
			t.Logf("%s: %s", path, firstDifference(after.String(), before.String()))
		}
	})
	goal(t, percent(same, dumps) >= 100, "dumps: text, JSON and back is the same listing", share(same, dumps), "100 %")
}
