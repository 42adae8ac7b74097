package goals

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"verdict/tc"
)

// packageTests runs tests of packages at the size of the goals; it returns how
// many of the wanted ones passed, and prints what failed.
func packageTests(t *testing.T, packages, names []string) int {
	t.Helper()
	args := append([]string{"test", "-count=1", "-v", "-run", "^(" + strings.Join(names, "|") + ")$"}, packages...)
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root(), append(os.Environ(), "VERDICT_GOALS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%v\n%s", err, out)
	}
	passed := 0
	for _, n := range names {
		if regexp.MustCompile(`(?m)^--- PASS: ` + n + ` `).Match(out) {
			passed++
		}
	}
	return passed
}

func TestGoal6DeviceFailures(t *testing.T) {
	timed(t)
	names := []string{"TestSharedBlockReplay", "TestRefusedFilterLeavesNothing", "TestCommitRollsBack", "TestOffloadRollsBack"}
	n := packageTests(t, []string{".", "./tc", "./offload"}, names)
	goal(t, n == len(names), "a device fails at each point of a batch of 1,000 (filters of a block, rules of an nft batch): software and hardware as before", share(n, len(names)), "all tests")
}

func TestGoal6RandomWalk(t *testing.T) {
	timed(t)
	names := []string{"TestBypassKeepsVerdicts"}
	n := packageTests(t, []string{"./tc"}, names)
	goal(t, n == 1, "100,000 random filter operations with bypass on and off: same verdict of every probe", share(n, 1), "the test passes")
}

// TestGoal6MillionFilters loads a batch of filters that share one action.
func TestGoal6MillionFilters(t *testing.T) {
	timed(t)
	const n = 1000000
	s := tc.New(tc.Config{})
	s.AddDevice(tc.Device{Name: "d9"})
	var b strings.Builder
	b.WriteString("qdisc add dev d9 ingress\nactions add action drop index 1 skip_hw\n")
	for i := range n {
		fmt.Fprintf(&b, "filter add dev d9 ingress protocol ip pref 1 flower skip_hw src_mac e4:11:00:%02x:%02x:%02x action gact index 1\n", i>>16, i>>8&255, i&255)
	}
	o := s.Batch("batch", strings.NewReader(b.String()), tc.Options{})
	filters := len(s.Filters("d9", false))
	listed := s.Line("actions get action gact index 1", tc.Options{}).Stdout
	shared := strings.Contains(listed, fmt.Sprintf("ref %d bind %d", n+1, n))
	goal(t, o.Status == 0 && filters == n && shared, "a batch of a million filters that share an action", fmt.Sprintf("status %d %.60s, %d filters, the action: %s", o.Status, o.Stderr, filters, strings.Join(strings.Fields(listed), " ")), "loads")
}
