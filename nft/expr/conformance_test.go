package expr

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/internal/testdata"
)

// payloadCase is a conformance case with its bytecode.
type payloadCase struct {
	ID, Family string
	Payload    []string
	Oracle     struct{ RC int }
}

// TestTextRoundTripConformance reads every instruction of the conformance
// cases and writes it again.
func TestTextRoundTripConformance(t *testing.T) {
	lines, rules := 0, 0
	for _, c := range testdata.Lines[payloadCase](t, testdata.NftCases) {
		if c.Payload == nil {
			continue
		}
		rules++
		lines += len(c.Payload)
		roundTripRule(t, c.ID, c.Payload, TextOptions{})
	}
	t.Logf("%d instructions of %d rules", lines, rules)
	if lines == 0 {
		t.Error("no instructions found")
	}
}

// TestTextRoundTripDumps does the same with whole debug outputs, sent (most
// significant byte first) and read back from the kernel (memory order).
func TestTextRoundTripDumps(t *testing.T) {
	for _, set := range []struct {
		glob string
		opts TextOptions
	}{
		{"conformance/nft/dumps_netlink/*/*.txt", TextOptions{}},
		{"corpus/nft/*/*.bytecode", TextOptions{}},
		{"corpus/iptables/*.bytecode", TextOptions{Memory: true}},
	} {
		t.Run(strings.SplitN(set.glob, "/*", 2)[0], func(t *testing.T) {
			root := testdata.Path(t, strings.SplitN(set.glob, "/", 2)[0])
			files, err := filepath.Glob(filepath.Join(filepath.Dir(root), set.glob))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files for %s: %v", set.glob, err)
			}
			lines, rules := 0, 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, rule := range debugRules(string(text)) {
					rules++
					lines += len(rule)
					roundTripRule(t, filepath.Base(file), rule, set.opts)
				}
			}
			t.Logf("%d instructions of %d rules in %d files", lines, rules, len(files))
		})
	}
}

// debugRules cuts the instructions of each rule out of a debug output.
func debugRules(text string) (rules [][]string) {
	var rule []string
	for _, line := range strings.Split(text, "\n") {
		inner, ok := strings.CutPrefix(line, "  [ ")
		if !ok {
			if rule != nil {
				rules = append(rules, rule)
			}
			rule = nil
			continue
		}
		rule = append(rule, strings.TrimSuffix(inner, " ]"))
	}
	if rule != nil {
		rules = append(rules, rule)
	}
	return rules
}

func roundTripRule(t *testing.T, id string, lines []string, opts TextOptions) {
	t.Helper()
	rule, err := ParseRuleText(strings.Join(lines, "\n"), opts)
	if err != nil {
		t.Errorf("%s: %v in\n%s", id, err, strings.Join(lines, "\n"))
		return
	}
	for i, e := range rule {
		// The kernel's answers show the flags of a lookup even if there are
		// none.
		want := lines[i]
		if opts.Memory {
			want = strings.TrimSuffix(want, " 0x0")
		}
		if _, isLookup := e.(*Lookup); !isLookup {
			want = lines[i]
		}
		if got := string(e.AppendText(nil)); got != want {
			t.Errorf("%s: got  %s\n%swant %s", id, got, strings.Repeat(" ", len(id)+2), want)
		}
		if k := strings.Fields(want)[0]; e.Kind() != k {
			t.Errorf("%s: kind %s of %s", id, e.Kind(), want)
		}
	}
}

// TestCheckAcceptsConformance checks every rule of the cases that the real
// tool loaded.
func TestCheckAcceptsConformance(t *testing.T) {
	accepted := 0
	for _, c := range testdata.Lines[payloadCase](t, testdata.NftCases) {
		if c.Payload == nil || c.Oracle.RC != 0 {
			continue
		}
		rule, err := ParseRuleText(strings.Join(c.Payload, "\n"), TextOptions{})
		if err != nil {
			t.Fatal(err)
		}
		family, _ := catalog.FamilyByName(c.Family)
		if at, err := CheckRule(rule, placeFor(uint8(family), rule)); err != nil {
			t.Errorf("%s: instruction %d refused: %v in\n%s", c.ID, at, err, strings.Join(c.Payload, "\n"))
			continue
		}
		accepted++
	}
	t.Logf("%d rules accepted", accepted)
	if accepted == 0 {
		t.Error("no rules found")
	}
}

// placeFor is a place in which everything exists that a rule refers to.
func placeFor(family uint8, rule []Expr) Place {
	sets := map[string]*SetInfo{}
	for _, e := range rule {
		switch e := e.(type) {
		case *Lookup:
			s := &SetInfo{KeyLen: 1}
			if e.HasDst {
				s.Flags, s.DataLen, s.VerdictData = setMap, 32, e.Dst == RegVerdict
			}
			sets[e.Set] = s
		case *Dynset:
			s := &SetInfo{KeyLen: 1, DataLen: 1, Flags: setEval | setTimeout}
			if e.HasData {
				s.Flags |= setMap
			}
			sets[e.Set] = s
		case *Objref:
			sets[e.Set] = &SetInfo{KeyLen: 1, Flags: setObject}
		}
	}
	return Place{
		Family:          family,
		SetByName:       func(name string, _ uint32) *SetInfo { return sets[name] },
		ChainExists:     func(string) (bool, bool) { return true, false },
		ObjectExists:    func(ObjectType, string) bool { return true },
		FlowtableExists: func(string) bool { return true },
	}
}
