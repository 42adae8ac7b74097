package goals

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"verdict/internal/kernel/recorded"
	"verdict/internal/testdata"
)

// later are features of the recorded cases that milestone 1 does not name.
var later = []string{
	"stmt:payload", "stmt:hash", "stmt:numgen", "stmt:forward", "stmt:link", "stmt:zone", "stmt:notrack",
	"match:exthdr", "stateful:ct", "type:route", "ct:zone", "family:bridge",
}

func named(c *recorded.Case) bool {
	for _, f := range c.Features {
		if slices.Contains(later, f) {
			return false
		}
	}
	return true
}

func TestGoal1Oracle(t *testing.T) {
	dir := testdata.Path(t, "oracle")
	hosts := &recorded.Hosts{Dir: dir}
	var packets, agree, namedPackets, namedAgree int
	missed := map[string]int{}
	seen := map[string]int{}
	err := recorded.Cases(dir, func(c *recorded.Case) error {
		inScope := named(c)
		_, err := c.Replay(hosts, func(answer *recorded.PacketTruth) {
			n := answer.N
			if n >= len(c.Truth.Packets) || len(c.Truth.Packets[n].Buffers) == 0 {
				return
			}
			want := recorded.Text(c.Truth.Packets[n].Buffers[0].Path)
			got := ""
			if len(answer.Buffers) > 0 {
				got = recorded.Text(answer.Buffers[0].Path)
			}
			packets++
			if inScope {
				namedPackets++
			}
			for _, f := range c.Features {
				seen[f]++
			}
			if got == want {
				agree++
				if inScope {
					namedAgree++
				}
				return
			}
			for _, f := range c.Features {
				missed[f]++
			}
			if packets-agree <= 40 {
				t.Logf("%s packet %d (%v):\n  got  %s\n  want %s", c.ID, n, inScope, got, want)
			}
		})
		if err != nil {
			t.Logf("%s does not run: %v", c.ID, err)
			packets += len(c.Truth.Packets)
			if inScope {
				namedPackets += len(c.Truth.Packets)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	logWorst(t, missed, seen)
	goal(t, percent(namedAgree, namedPackets) >= 90, "recorded kernel verdicts that use only what the milestone names", share(namedAgree, namedPackets), "at least 90 %")
	t.Logf("all recorded packets: %s", share(agree, packets))
}

// logWorst lists the features whose packets disagree most often.
func logWorst(t *testing.T, missed, seen map[string]int) {
	order := slices.SortedFunc(maps.Keys(missed), func(a, b string) int {
		return cmp.Compare(percent(missed[b], seen[b]), percent(missed[a], seen[a]))
	})
	var parts []string
	for _, f := range order[:min(len(order), 30)] {
		parts = append(parts, f+" "+share(missed[f], seen[f]))
	}
	t.Logf("features of packets that disagree: %s", strings.Join(parts, "; "))
}
