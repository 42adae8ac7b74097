package goals

import (
	"fmt"
	"testing"
	"time"

	benchmark "verdict/internal/cli/bench"
	"verdict/internal/testdata"
)

// TestGoal5Families measures building, single lookups and bursts of acl, fw and
// ipc rules beside rte_acl in the same run.
func TestGoal5Families(t *testing.T) {
	timed(t)
	peers, note := benchmark.FindClassifyPeers(peers(t), 2*time.Minute)
	for _, n := range []int{1000, 10_000, 100_000} {
		for _, family := range benchmark.Families {
			beside := peers
			if family == "fw" && n == 100_000 { // does not build, and takes gigabytes to say so
				beside = nil
			}
			judgeFamily(t, family, n, beside, 21)
		}
	}
	if peers == nil {
		testdata.Missing(t, "oracle", note)
	}
}

// TestGoal5Large builds the largest sets.
func TestGoal5Large(t *testing.T) {
	timed(t)
	for _, family := range benchmark.Families {
		judgeFamily(t, family, 500_000, nil, 3)
	}
}

func judgeFamily(t *testing.T, family string, n int, peers *benchmark.ClassifyPeers, rounds int) {
	t.Helper()
	figures, notes, err := benchmark.Classify(family, n, peers, &benchmark.Options{Rounds: rounds})
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range notes {
		t.Log(note)
	}
	for i := range figures {
		f := &figures[i]
		if f.Bound == nil || f.Bound.Most == 0 && f.Peer == 0 {
			t.Logf("%s, %d rules: %s: %s", f.Case, f.Elements, f.What, f.MeasuredBeside("rte_acl"))
			continue
		}
		goal(t, f.OK(), fmt.Sprintf("%s, %d rules: %s", f.Case, f.Elements, f.What), f.MeasuredBeside("rte_acl"), f.Promise())
	}
}
