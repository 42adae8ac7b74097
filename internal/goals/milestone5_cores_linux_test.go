package goals

import (
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict/engine"
	"verdict/internal/workload"
)

// spreadCosts gives the processor time of packets on one core and, of two, on
// the one that deals the packets out and evaluates one half of them: what other
// programs take does not count. The halves are equal but for a few percent.
// wall is the least time by the clock on two cores.
func spreadCosts(t *testing.T, text string, o engine.Options, warm [][]engine.Input, in []engine.Input) (one, two, wall float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const part = 8192 // as run has it
	out := make([]engine.Outcome, part)
	w, x := newEngine(t, text, o).Worker(), newEngine(t, text, o).Worker().Workers(2)
	all := func(list []engine.Input, evaluate func([]engine.Input, []engine.Outcome)) {
		for ; len(list) > 0; list = list[part:] {
			evaluate(list[:part], out)
		}
	}
	for _, list := range warm {
		all(list, w.EvaluateBatch)
		all(list, x.EvaluateBatch)
	}
	if x.Count() != 2 {
		t.Fatalf("one worker: %v", x.Ordered())
	}
	const rounds = 21
	var times [3][]float64
	for range rounds {
		mine, started := threadTime(), time.Now()
		all(in, x.EvaluateBatch)
		took := time.Since(started)
		times[1] = append(times[1], float64(threadTime()-mine))
		times[2] = append(times[2], float64(took.Nanoseconds()))
		mine = threadTime()
		all(in, w.EvaluateBatch)
		times[0] = append(times[0], float64(threadTime()-mine))
	}
	for i := range times {
		slices.Sort(times[i])
	}
	n := float64(len(in))
	return times[0][rounds/2] / n, times[1][rounds/2] / n, times[2][0] / n
}

// TestGoal5Cores measures two cores against one where order allows both.
func TestGoal5Cores(t *testing.T) {
	timed(t)
	list := workload.FiveTuples("acl", 10_000, 1)
	frames := headerFrames(workload.Headers(list, 1<<15, 2))
	var unlimited []string
	for _, line := range strings.Split(realistic(), "\n") {
		if !strings.Contains(line, "limit rate") {
			unlimited = append(unlimited, line)
		}
	}
	opening, answers, established := connections(1 << 15)
	for _, c := range []struct {
		what string
		text string
		o    engine.Options
		warm [][]engine.Input
		in   []engine.Input
	}{
		{"10,000 rules of an access list", familyText(list), engine.Options{Hook: "forward"}, [][]engine.Input{frames}, frames},
		{"the realistic ruleset without its limits, established connections", strings.Join(unlimited, "\n"), engine.Options{Local: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}, [][]engine.Input{opening, answers, established}, established},
	} {
		one, two, wall := spreadCosts(t, c.text, c.o, c.warm, c.in)
		goal(t, one >= 1.8*two, "two cores to one, "+c.what, fmt.Sprintf("%.1f / %.1f ns = %.2f times (%.1f ns by the clock)", one, two, one/two, wall), "at least 1.8 times")
	}
}

// familyText is a chain that accepts by rule, with counters.
func familyText(list []workload.FiveTuple) string {
	var s strings.Builder
	s.WriteString("table ip t {\n\tchain c {\n\t\ttype filter hook forward priority 0; policy drop;\n")
	for i := range list {
		fmt.Fprintf(&s, "\t\t%scounter accept\n", list[i].Text())
	}
	return s.String() + "\t}\n}\n"
}
