package goals

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	benchmark "verdict/internal/cli/bench"
	"verdict/internal/testdata"
)

// TestGoal6RecordedVerdicts counts the recorded cases of a real kernel that
// agree; the comparison is that of the package's own test.
func TestGoal6RecordedVerdicts(t *testing.T) {
	testdata.Path(t, "tcoracle/cases")
	cmd := exec.Command("go", "test", "-count=1", "-run", "TestRecordedVerdicts", "-v", "./tc")
	cmd.Dir = root()
	out, err := cmd.CombinedOutput()
	m := regexp.MustCompile(`(\d+) of (\d+) recorded cases agree`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n, _ := strconv.Atoi(string(m[1]))
	all, _ := strconv.Atoi(string(m[2]))
	for _, why := range regexp.MustCompile(`\S+: explained: .*`).FindAll(out, -1) {
		t.Logf("%s", why)
	}
	goal(t, err == nil && n == all, "recorded kernel verdicts of tc", share(n, all), "all, listings included")
}

// TestGoal6Bench reads the figures of "verdict bench tc".
func TestGoal6Bench(t *testing.T) {
	timed(t)
	r, err := benchmark.Traffic(&benchmark.Options{Rounds: 101})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	row := func(rules int, follow string) *benchmark.TrafficRow {
		for i := range r.Rows {
			if r.Rows[i].Rules == rules && r.Rows[i].Follow == follow {
				return &r.Rows[i]
			}
		}
		t.Fatalf("no row of %d rules, %s", rules, follow)
		return nil
	}
	var empty *benchmark.TrafficRow
	for i := range r.Rows {
		if r.Rows[i].Name == "add ingress qdisc" {
			empty = &r.Rows[i]
		}
	}
	for _, m := range []benchmark.TrafficMode{benchmark.FirstBypass, benchmark.Refined} {
		var times []float64
		for _, n := range []int{1, 5, 10, 25, 50} {
			times = append(times, row(n, benchmark.FallThrough).Low[m])
		}
		apart := slices.Max(times)/slices.Min(times) - 1
		goal(t, apart <= 0.05, "only skip_sw filters, "+string(m)+" bypass: 1 to 50", fmt.Sprintf("%.0f ns, apart by %.1f %%", times, 100*apart), "within 5 %")
		beyond := slices.Max(times)/empty.Low[m] - 1
		goal(t, beyond <= 0.05, "only skip_sw filters, "+string(m)+" bypass, against an empty block", fmt.Sprintf("%.0f ns, %+.1f %%", empty.Low[m], 100*beyond), "within 5 %")
	}
	one, fifty := row(1, benchmark.FallThrough), row(50, benchmark.FallThrough)
	goal(t, fifty.Time[benchmark.OffCompiled] <= 1.5*one.Time[benchmark.OffCompiled], "50 rules with compiled masks, without bypass",
		fmt.Sprintf("%.2f times one rule", fifty.Time[benchmark.OffCompiled]/one.Time[benchmark.OffCompiled]), "at most 1.5 times")
	slope := fifty.Time[benchmark.OffByMask] / one.Time[benchmark.OffByMask]
	goal(t, slope >= 5.5, "50 rules mask by mask, without bypass", fmt.Sprintf("%.1f times one rule", slope), "the published slope: at least 5.5 times")
	right, all := 0, 0
	for _, n := range []int{1, 5, 10, 25, 50} {
		trap, fall, empty := row(n, benchmark.MatchTrap), row(n, benchmark.FallThrough), row(n, benchmark.GotoEmpty)
		for _, ok := range []bool{
			trap.Time[benchmark.OffByMask] > trap.Time[benchmark.Refined], // the bypass helps trapped packets
			fall.Time[benchmark.OffByMask] > fall.Time[benchmark.Refined],
			empty.Time[benchmark.OffByMask] < fall.Time[benchmark.OffByMask], // a chain without filters costs less than falling through
			empty.Time[benchmark.OffByMask]/empty.Time[benchmark.Refined] < trap.Time[benchmark.OffByMask]/trap.Time[benchmark.Refined],
		} {
			all++
			if ok {
				right++
			}
		}
	}
	goal(t, right == all, "trap, fall-through and goto rows move as published", share(right, all), "all comparisons")
	n := r.Insertion
	goal(t, n.SerialTime < 1e9, "100,000 flower filters inserted serially", fmt.Sprintf("%.0f ms of processor time, %.0f ms by the wall", n.SerialTime/1e6, n.Serial/1e6), "under 1 s")
	how := "by the wall"
	if n.Busy() {
		how = fmt.Sprintf("by processor time, the machine being busy: %.0f ms in all, %.0f ms of it not shared; by the wall %.2f", n.ParallelTime/1e6, n.Executor/1e6, n.Serial/n.Parallel)
	}
	goal(t, n.Scaling() >= 1.6, "100,000 flower filters by 16 goroutines on two cores", fmt.Sprintf("%.2f times faster, %s", n.Scaling(), how), "at least 1.6 times")
	goal(t, n.Lookup <= 200, "classification among 100,000 flower filters", fmt.Sprintf("%.0f ns", n.Lookup), "at most 200 ns")
}
