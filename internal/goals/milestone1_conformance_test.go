package goals

import (
	"bufio"
	"encoding/json"
	"os"
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

// The floors of what must agree, in percent. They are raised with the figures.
const (
	bytecodeFloor = 60.0
	listingFloor  = 60.0
)

func TestGoal1Conformance(t *testing.T) {
	file, err := os.Open(testdata.Path(t, "conformance/nft/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rules, bytecode, listing, rejected, refused int
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c conformanceCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got, list, ok := c.run(t)
		switch {
		case c.Expect == "fail":
			rejected++
			if !ok {
				refused++
			}
		case c.Kind == "rule":
			rules++
			if ok && slices.Equal(got, c.Payload) {
				bytecode++
			}
			if ok && sameListing(list, c.Listing) {
				listing++
			}
		}
	}
	goal(t, percent(bytecode, rules) >= bytecodeFloor, "conformance: exact bytecode", share(bytecode, rules), "at least 60 %")
	goal(t, percent(listing, rules) >= listingFloor, "conformance: exact listing", share(listing, rules), "at least 60 %")
	t.Logf("rejected as they should: %s", share(refused, rejected))
}

// east is the time zone in which the cases were recorded.
var east = time.FixedZone("UTC-2", 2*60*60)

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
		User:      knownUser, Group: knownUser, Location: east, Now: time.Unix(0, 0),
	})
	if found.HasErrors() {
		return rs, false
	}
	next, errs := ruleset.Apply(rs, batch, ruleset.Options{})
	return next, len(errs) == 0
}

// knownUser knows the users that every Unix has.
func knownUser(name string) (uint32, bool) {
	for id, known := range []string{"root", "daemon", "bin"} {
		if name == known {
			return uint32(id), true
		}
	}
	return 0, false
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

// sameListing compares listings up to the order of the elements of { … }.
func sameListing(got, want string) bool { return sortBraces(got) == sortBraces(want) }

func sortBraces(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "{ ", "{"), " }", "}")
	open, end := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if open < 0 || end < open {
		return text
	}
	elements := strings.Split(text[open+1:end], ",")
	for i := range elements {
		elements[i] = strings.ReplaceAll(elements[i], " ", "")
	}
	slices.Sort(elements)
	return text[:open] + "{" + strings.Join(elements, ",") + "}" + text[end+1:]
}
