package compile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
	return Options{
		Interface: testdata.InterfaceIndex(testdata.RecordingInterfaces()),
		User:      testdata.RecordingAccount, Group: testdata.RecordingAccount,
		Names:    testdata.RecordingName,
		Location: testdata.RecordingZone,
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

// TestConformance compares the bytecode of each case with the recorded one.
func TestConformance(t *testing.T) {
	opts := conformanceHost()
	bases := map[string]*ruleset.Ruleset{}
	var good, rules, rejected, mustReject, other, others int
	for _, c := range testdata.Lines[conformanceCase](t, testdata.NftCases) {
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
