package goals

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/compile"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// conformanceCase is one case of the reference's own tests.
type conformanceCase struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Expect  string   `json:"expect"`
	Setup   []string `json:"setup"`
	Cmd     string   `json:"cmd"`
	Family  string   `json:"family"`
	Table   string   `json:"table"`
	Chain   string   `json:"chain"`
	Payload []string `json:"payload"`
	Listing string   `json:"listing"`
}

// conformance counts how the reference's cases come out.
type conformance struct {
	rules, bytecode, listing int // accepted rules; exact bytecode; exact listing
	rejected, refused        int // what must be refused; what is
}

func TestGoal1Conformance(t *testing.T) {
	c := runConformance(t)
	goal(t, percent(c.bytecode, c.rules) >= 60, "conformance: exact bytecode", share(c.bytecode, c.rules), "at least 60 %")
	goal(t, percent(c.listing, c.rules) >= 60, "conformance: exact listing", share(c.listing, c.rules), "at least 60 %")
}

func TestGoal2Conformance(t *testing.T) {
	c := runConformance(t)
	goal(t, c.bytecode == c.rules, "conformance: exact bytecode of accepted rules", share(c.bytecode, c.rules), "all")
	goal(t, c.listing == c.rules, "conformance: exact listing of accepted rules, up to the order of elements", share(c.listing, c.rules), "all")
	goal(t, c.refused == c.rejected, "conformance: rejected cases are rejected", share(c.refused, c.rejected), "all")
}

func runConformance(t *testing.T) (n conformance) {
	for _, c := range testdata.Lines[conformanceCase](t, testdata.NftCases) {
		n.count(t, &c)
	}
	return n
}

func (n *conformance) count(t *testing.T, c *conformanceCase) {
	payload, listing, ok := c.run(t)
	switch {
	case c.Expect == "fail":
		n.rejected++
		if !ok {
			n.refused++
		}
	case c.Kind == "rule":
		n.rules++
		if ok && slices.Equal(payload, c.Payload) {
			n.bytecode++
		}
		if ok && sortBraces(listing) == sortBraces(c.Listing) {
			n.listing++
		} else {
			t.Logf("%s: got %s, want %s", c.ID, listing, c.Listing)
		}
	}
}

// east is the time zone in which the cases were recorded.
var east = testdata.RecordingZone

// run executes a case: bytecode of the rule and its listing.
func (c *conformanceCase) run(t *testing.T) (payload []string, listing string, ok bool) {
	var rs *ruleset.Ruleset
	for _, command := range c.Setup {
		if rs, ok = c.apply(rs, command); !ok {
			t.Logf("%s: setup %q fails", c.ID, command)
			return nil, "", false
		}
	}
	if rs, ok = c.apply(rs, c.Cmd); !ok || c.Kind != "rule" {
		return nil, "", ok
	}
	for _, table := range rs.Tables {
		chain := table.Chain(c.Chain)
		if table.Family.String() != c.Family || table.Name != c.Table || chain == nil || len(chain.Rules) == 0 {
			continue
		}
		rule := chain.Rules[len(chain.Rules)-1]
		for _, e := range rule.Exprs {
			payload = append(payload, anonymous(string(e.AppendText(nil))))
		}
		o := decompile.Options{NumericProtocol: true, Stateless: true, Location: east, Now: time.Unix(0, 0), InterfaceName: loopbackName}
		statements, comment := decompile.Rule(table, rule, &o)
		listing = string(syntax.AppendRule(nil, &syntax.Rule{Statements: statements, Comment: syntax.Word{Text: comment}}))
	}
	return payload, listing, true
}

func loopbackName(index uint32) string {
	if index == 1 {
		return "lo"
	}
	return ""
}

func (c *conformanceCase) apply(rs *ruleset.Ruleset, command string) (*ruleset.Ruleset, bool) {
	file, found := syntax.Parse(diag.NewSource("case", []byte(command+"\n")), syntax.Options{})
	if found.HasErrors() {
		return rs, false
	}
	batch, found := compile.Compile(rs, file, compile.Options{
		Interface: func(name string) (uint32, bool) { return 1, name == "lo" },
		User:      testdata.RecordingAccount, Group: testdata.RecordingAccount, Location: east, Now: time.Unix(0, 0),
	})
	if found.HasErrors() {
		return rs, false
	}
	next, errs := ruleset.Apply(rs, batch, ruleset.Options{})
	return next, len(errs) == 0
}

// anonymous gives anonymous sets the names that they have before loading.
func anonymous(text string) string {
	for _, prefix := range []string{"__set", "__map", "__objmap"} {
		at := strings.Index(text, " "+prefix)
		if at < 0 {
			continue
		}
		end := at + 1 + len(prefix)
		rest := strings.TrimLeft(text[end:], "0123456789")
		return text[:end] + "%d" + rest
	}
	return text
}

// braces is a list of elements in a listing.
var braces = regexp.MustCompile(`\{[^{}]*\}`)

// sortBraces makes listings comparable up to the order of the elements of each
// { … }, and up to white space.
func sortBraces(text string) string {
	return braces.ReplaceAllStringFunc(strings.Join(strings.Fields(text), " "), func(list string) string {
		elements := strings.Split(strings.Trim(list, "{} "), ",")
		for i := range elements {
			elements[i] = strings.ReplaceAll(elements[i], " ", "")
		}
		slices.Sort(elements)
		return "{" + strings.Join(elements, ",") + "}"
	})
}
