package bench

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"verdict"
	"verdict/diag"
	"verdict/engine"
	"verdict/internal/workload"
)

// No rule of any kind matches the packet, in nft's form and in that of iptables,
// and one from elsewhere meets the first.
func TestInvertedRules(t *testing.T) {
	for _, kind := range RuleKindNames() {
		for _, legacy := range []bool{false, true} {
			loaded, findings := verdict.LoadSources(verdict.LoadOptions{}, diag.NewSource(kind, []byte(InvertedRules(kind, 70, legacy))))
			if loaded == nil {
				t.Fatalf("%s, legacy %v: %v", kind, legacy, findings.Err())
			}
			e, err := engine.New(loaded.Rules(), loaded.Host(), engine.Options{Hook: "prerouting", Local: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Tables: loaded.Tables()})
			if err != nil {
				t.Fatal(err)
			}
			for source, want := range map[uint32]engine.Fate{10<<24 | 1<<16 | 2<<8 | 3: engine.Accepted, 200 << 24: engine.Dropped} {
				destination := uint32(192<<24 | 2<<8 | 1)
				switch {
				case kind == "distinct" && want == engine.Dropped:
					destination = 10<<24 | 1<<16 | 5
				case kind == "lengths" && want == engine.Dropped:
					destination = 10<<24 | 2<<16
				}
				data := workload.Frame(&workload.Header{Src: source, Dst: destination, DstPort: 9, Proto: 17})
				var out engine.Outcome
				e.Worker().Evaluate(&engine.Input{Data: data, OrigLen: len(data), LinkType: 1, In: "eth0"}, &out)
				if out.Fate != want || want == engine.Accepted && !out.Verdict.Policy {
					t.Errorf("%s, legacy %v, source %08x: %v %+v", kind, legacy, source, out.Fate, out.Verdict)
				}
			}
		}
	}
}

// Each kind's example is among its rules, and but for the kinds that repeat one
// rule each rule comes once: removing duplicates is no answer.
func TestRuleKinds(t *testing.T) {
	for _, k := range RuleKinds {
		const n = 100_000
		seen := map[string]int{}
		for line := range strings.Lines(InvertedRules(k.Name, n, false)) {
			seen[strings.TrimSpace(line)]++
		}
		want := 1
		if strings.HasPrefix(k.Name, "same") {
			want = n
		}
		if seen[k.Example] != want {
			t.Errorf("%s: %q is there %d times, want %d", k.Name, k.Example, seen[k.Example], want)
		}
		for line, times := range seen {
			if strings.HasSuffix(line, "drop") && times != want {
				t.Errorf("%s: %q is there %d times", k.Name, line, times)
				break
			}
		}
	}
}

func TestLengths(t *testing.T) {
	lengths := map[string]bool{}
	for i := range 64 {
		m := invertedMatches("lengths", i)
		for _, m := range m {
			if m.not {
				_, length, _ := strings.Cut(m.prefix, "/")
				lengths[fmt.Sprint(m.destination, length)] = true
			}
		}
	}
	if len(lengths) != 64 {
		t.Errorf("%d lengths of prefixes, want 64", len(lengths))
	}
}

func TestRulesMeasures(t *testing.T) {
	report, err := Rules([]string{"same", "lengths"}, []int{4, 40}, nil, &Options{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Rows {
		if r.Time <= 0 || r.PPS <= 0 || r.Rounds != 1 || r.Published != 0 {
			t.Errorf("%+v", r)
		}
	}
	if n := 2 * 2 * len(walkers); len(report.Rows) != n {
		t.Errorf("%d rows, want %d", len(report.Rows), n)
	}
	if r := report.Row("lengths", 40, Compiled); r == nil {
		t.Error("a row is missing")
	}
}

// rulesExample is a report with figures that were made up.
func rulesExample() *RulesReport {
	r := &RulesReport{Machine: Machine{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26"}, Notes: []string{"a note"}}
	for _, kind := range []string{"same", "distinct"} {
		for _, n := range []int{10, publishedRules} {
			for _, way := range []struct {
				name  string
				fixed float64
				rule  float64
			}{
				{Base, 60, 40}, {Inverted, 60, 30}, {Bitwise, 60, 20}, {Prefixes, 60, 18}, {Fused, 60, 2},
				{LegacyWalk, 60, 3}, {Compiled, 70, 0}, {LinuxNft, 30, 8}, {LinuxLegacy, 30, 5},
			} {
				ns := way.fixed + way.rule*float64(n)
				row := RuleRow{Kind: kind, Rules: n, Way: way.name, Time: ns, Low: ns, High: ns, Rounds: 1, PPS: 1e9 / ns}
				if n == publishedRules {
					row.Published = publishedRates[kind][way.name]
				}
				r.Rows = append(r.Rows, row)
			}
		}
		r.Goals = append(r.Goals, r.judge(kind)...)
	}
	return r
}

func TestRulesText(t *testing.T) {
	var text, drawing strings.Builder
	r := rulesExample()
	if err := errors.Join(r.WriteText(&text), r.Chart("same").WriteSVG(&drawing)); err != nil {
		t.Fatal(err)
	}
	golden(t, "rules.txt", text.String())
	golden(t, "rules.svg", drawing.String())
}

// What is promised holds or fails by the figures; what was not measured is not
// judged.
func TestRuleGoals(t *testing.T) {
	r := rulesExample()
	ok := func() (list []bool) {
		for _, g := range r.judge("same") {
			list = append(list, g.OK)
		}
		return list
	}
	if got := ok(); !slices.Equal(got, []bool{true, true, true, true, true}) {
		t.Error(got)
	}
	r.Row("same", publishedRules, Compiled).Time = 200
	r.Row("same", publishedRules, LinuxNft).PPS = 1e9
	if got := ok(); !slices.Equal(got, []bool{false, false, true, false, true}) {
		t.Error(got)
	}
	r.Rows = slices.DeleteFunc(r.Rows, func(row RuleRow) bool { return row.Way == LinuxNft || row.Way == LinuxLegacy || row.Rules == flatRules })
	if got := ok(); !slices.Equal(got, []bool{true}) {
		t.Error(got)
	}
}
