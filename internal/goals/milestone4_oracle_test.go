package goals

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verdict/internal/kernel/recorded"
	"verdict/internal/testdata"
)

// Floors, in percent, of what agreed when they were last raised. The bound is
// 100 % less what docs/kernel-differences.md explains.
const (
	floorPackets = 99.97
	floorCases   = 99.3
)

// tally counts how many packets and cases agree, part by part.
type tally struct {
	t              *testing.T
	show           []string // parts whose differences are printed
	packets, right int
	cases, whole   int
	parts          map[recorded.Part]int
	explained      map[string]bool // cases of docs/kernel-differences.md: whether they differ
	unexplained    []string
}

// TestGoal4Oracle compares the engine with all that the kernel was seen to do
// with the recorded packets: every socket buffer's way, the frames that left,
// marks and connections, and the state at the end. VERDICT_SHOW is a comma list
// of parts whose differences are printed.
func TestGoal4Oracle(t *testing.T) {
	dir := testdata.Path(t, "oracle")
	hosts := &recorded.Hosts{Dir: dir}
	n := &tally{t: t, explained: explainedCases(t), parts: map[recorded.Part]int{}, show: strings.Split(os.Getenv("VERDICT_SHOW"), ",")}
	if err := recorded.Cases(dir, func(c *recorded.Case) error { n.add(hosts, c); return nil }); err != nil {
		t.Fatal(err)
	}
	t.Logf("differences by part: %v", n.parts)
	goal(t, len(n.unexplained) == 0, "recorded cases that differ without explanation", fmt.Sprintf("%d %v", len(n.unexplained), n.unexplained), "0")
	for id, differs := range n.explained {
		if !differs {
			t.Errorf("docs/kernel-differences.md lists %s, which does not differ", id)
		}
	}
	goal(t, percent(n.right, n.packets) >= floorPackets, "recorded packets whose buffers, hooks, verdicts, rules and frames agree", share(n.right, n.packets), fmt.Sprintf("floor %v %%", floorPackets))
	goal(t, percent(n.whole, n.cases) >= floorCases, "recorded cases in which all agrees", share(n.whole, n.cases), fmt.Sprintf("floor %v %%", floorCases))
}

// add runs one case.
func (n *tally) add(hosts *recorded.Hosts, c *recorded.Case) {
	n.cases++
	n.packets += len(c.Truth.Packets)
	whole := true
	after, err := c.Replay(hosts, func(answer *recorded.PacketTruth) {
		if answer.N >= len(c.Truth.Packets) {
			return
		}
		list := c.Truth.Packets[answer.N].Compare(answer)
		n.note(c, list)
		whole = whole && len(list) == 0
		if !slices.ContainsFunc(list, func(d recorded.Difference) bool { return d.Part != recorded.PartMark && d.Part != recorded.PartCT }) {
			n.right++
		}
	})
	if err != nil {
		n.t.Logf("%s does not run: %v", c.ID, err)
		n.unexplained = append(n.unexplained, c.ID)
		return
	}
	c.Truth.After.Sort()
	list := c.Truth.After.Compare(after)
	n.note(c, list)
	if whole && len(list) == 0 {
		n.whole++
		return
	}
	if _, ok := n.explained[c.ID]; ok {
		n.explained[c.ID] = true
		return
	}
	n.unexplained = append(n.unexplained, c.ID)
}

// explainedCases reads the table of recorded cases that differ.
func explainedCases(t *testing.T) map[string]bool {
	text, err := os.ReadFile(filepath.Join(root(), "docs", "kernel-differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Recorded cases")
	cases := map[string]bool{}
	for line := range strings.Lines(table) {
		if id := strings.TrimSpace(strings.Split(line+"||", "|")[1]); strings.HasPrefix(id, "k") {
			cases[id] = false
		}
	}
	return cases
}

// note counts differences.
func (n *tally) note(c *recorded.Case, list []recorded.Difference) {
	for _, d := range list {
		n.parts[d.Part]++
		if slices.Contains(n.show, string(d.Part)) {
			n.t.Logf("%s %s", c.ID, d.String())
		}
	}
}
