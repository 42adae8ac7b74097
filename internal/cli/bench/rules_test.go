package bench

import (
	"net/netip"
	"testing"

	"verdict"
	"verdict/diag"
	"verdict/engine"
	"verdict/internal/workload"
)

// No rule of any kind matches the packet, in nft's form and in that of iptables,
// and one from elsewhere meets the first.
func TestInvertedRules(t *testing.T) {
	for _, kind := range RuleKinds {
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
				if kind == "distinct" && want == engine.Dropped {
					destination = 10<<24 | 1<<16 | 5
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

func TestRulesMeasures(t *testing.T) {
	list, err := Rules("same", 40, &Options{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Value <= 0 || f.Case != "40 rules (same)" {
			t.Errorf("%+v", f)
		}
	}
	if len(list) != len(walkers) {
		t.Errorf("%d figures for %d ways", len(list), len(walkers))
	}
}
