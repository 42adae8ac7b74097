package compile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict/catalog"
	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// The floors below which the figures must not drop.
const (
	floorRules    = 3120
	floorRejected = 284
	floorOther    = 214
	floorCorpus   = 142
	floorDumps    = 176
	floorCalls    = 1153
)

// conformanceCase is one line of cases.jsonl.
type conformanceCase struct {
	ID, Kind, Family, Table, Rule, Expect, Cmd string
	Setup, Payload                             []string
	Sets                                       []struct {
		Name, Flags string
		Elements    []string
	} `json:"payload_sets"`
	Oracle struct {
		Err       string
		FailStage string `json:"fail_stage"`
	}
}

// conformanceHost is the host on which the cases were recorded.
func conformanceHost() Options {
	accounts := map[string]uint32{"root": 0, "daemon": 1, "bin": 2}
	find := func(name string) (uint32, bool) { id, ok := accounts[name]; return id, ok }
	interfaces := map[string]uint32{
		"lo": 1, "dummy0": 2, "dummy1": 3, "dummy-m": 4, "eth0": 5, "eth1": 6, "veth0": 7, "veth1": 8, "br0": 9, "d0": 10, "d1": 11,
	}
	return Options{
		Interface: func(name string) (uint32, bool) { i, ok := interfaces[name]; return i, ok },
		User:      find, Group: find,
		Names: func(t *catalog.Type, name string) (uint64, bool) {
			if t == catalog.Realm && name == "cosmos" || t == catalog.DevGroup && name == "default" {
				return 0, true
			}
			return 0, false
		},
		Location: time.FixedZone("UTC-2", 2*3600),
	}
}

// load compiles and applies a text.
func load(base *ruleset.Ruleset, text string, opts Options) (*ruleset.Ruleset, []ruleset.Change, error) {
	batch, err := compileText(base, text, opts)
	if err != nil {
		return base, nil, err
	}
	next, refused := ruleset.Apply(base, batch, ruleset.Options{})
	if len(refused) > 0 {
		return base, batch, refused[0]
	}
	return next, batch, nil
}

func compileText(base *ruleset.Ruleset, text string, opts Options) ([]ruleset.Change, error) {
	file, list := syntax.Parse(diag.NewSource("test", []byte(text)), syntax.Options{})
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("syntax: %w", err)
	}
	batch, list := Compile(base, file, opts)
	if err := list.Err(); err != nil {
		return nil, err
	}
	return batch, nil
}

// bytecode splits the debug text of a batch into instructions and the sorted
// elements of each set.
func bytecode(base *ruleset.Ruleset, batch []ruleset.Change) (instructions []string, sets [][]string, flags []string) {
	for _, line := range strings.Split(string(ruleset.AppendDebug(nil, base, batch)), "\n") {
		switch {
		case strings.HasPrefix(line, "  [ "):
			instructions = append(instructions, strings.TrimSuffix(strings.TrimPrefix(line, "  [ "), " ]"))
		case strings.HasPrefix(line, "\telement"):
			var elements []string
			for _, e := range strings.Split(line, "\t") {
				if e = strings.TrimSpace(strings.TrimPrefix(e, "element")); e != "" {
					elements = append(elements, e)
				}
			}
			slices.Sort(elements)
			sets = append(sets, elements)
		case strings.HasPrefix(line, "family "):
			if f := strings.Fields(line); len(f) > 4 && f[4] != "0" {
				flags = append(flags, f[4])
			}
		}
	}
	return instructions, sets, flags
}

func readCases(t *testing.T) []conformanceCase {
	f, err := os.Open(testdata.Path(t, "conformance/nft/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []conformanceCase
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<22)
	for s.Scan() {
		var c conformanceCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// TestConformance compares the bytecode of each case with the recorded one.
func TestConformance(t *testing.T) {
	opts := conformanceHost()
	bases := map[string]*ruleset.Ruleset{}
	var good, rules, rejected, mustReject, other, others int
	for _, c := range readCases(t) {
		key := strings.Join(c.Setup, "\n")
		base, ok := bases[key]
		if !ok {
			for _, cmd := range c.Setup {
				next, _, err := load(base, cmd, opts)
				if err != nil && !strings.HasPrefix(cmd, "add element") {
					t.Logf("%s: setup %q: %v", c.ID, cmd, err)
				}
				base = next
			}
			bases[key] = base
		}
		_, batch, err := load(base, c.Cmd, opts)
		switch {
		case c.Kind == "rule" && c.Expect == "fail":
			mustReject++
			if err != nil {
				rejected++
			} else {
				t.Logf("accepted %s %q, reference: %.60s", c.Family, c.Rule, c.Oracle.Err)
			}
		case c.Kind != "rule":
			others++
			if (err == nil) == (c.Expect == "ok") {
				other++
			} else {
				t.Logf("%s %s %q: %v, reference %s %.60s", c.Kind, c.Family, c.Cmd, err, c.Expect, c.Oracle.Err)
			}
		default:
			rules++
			if batch == nil {
				batch, err = compileText(base, c.Cmd, opts)
			} else {
				err = nil
			}
			if err != nil {
				t.Logf("rejected %s %q: %v", c.Family, c.Rule, err)
				continue
			}
			if problem := c.differs(base, batch); problem != "" {
				t.Logf("%s %q: %s", c.Family, c.Rule, problem)
				continue
			}
			good++
		}
	}
	t.Logf("rules with the exact bytecode: %d of %d; rejected rules: %d of %d; sets, elements, objects: %d of %d",
		good, rules, rejected, mustReject, other, others)
	if good < floorRules || rejected < floorRejected || other < floorOther {
		t.Errorf("below the floors %d, %d, %d", floorRules, floorRejected, floorOther)
	}
}

func (c *conformanceCase) differs(base *ruleset.Ruleset, batch []ruleset.Change) string {
	got, sets, flags := bytecode(base, batch)
	if !slices.Equal(got, c.Payload) {
		for i := range got {
			if i >= len(c.Payload) || got[i] != c.Payload[i] {
				return fmt.Sprintf("instruction %d\n  got  %q\n  want %q", i, got[i:], c.Payload[min(i, len(c.Payload)):])
			}
		}
		return fmt.Sprintf("missing\n  want %q", c.Payload[len(got):])
	}
	if len(sets) != len(c.Sets) {
		return fmt.Sprintf("%d sets, want %d", len(sets), len(c.Sets))
	}
	for i, want := range c.Sets {
		elements := slices.Clone(want.Elements)
		for j, e := range elements {
			elements[j] = strings.TrimSpace(e)
		}
		slices.Sort(elements)
		if !slices.Equal(sets[i], elements) {
			return fmt.Sprintf("set %d\n  got  %q\n  want %q", i, sets[i], elements)
		}
		if i < len(flags) && want.Flags != "" && flags[i] != want.Flags {
			return fmt.Sprintf("set %d has flags %s, want %s", i, flags[i], want.Flags)
		}
	}
	return ""
}
