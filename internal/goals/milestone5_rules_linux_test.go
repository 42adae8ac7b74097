package goals

import (
	"fmt"
	"net/netip"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"verdict"
	"verdict/engine"
	benchmark "verdict/internal/cli/bench"
	"verdict/internal/testdata"
	"verdict/internal/workload"
)

// threadTime is the processor time of this thread: what other programs take
// does not count.
func threadTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return t.Nano()
}

// costs measures several operations by turns and returns the median processor
// time of each in nanoseconds. One call of an operation does as many things as
// size says.
func costs(size int, ops ...func()) []float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const rounds = 21
	times := make([][]float64, len(ops))
	repeat := make([]int, len(ops))
	for i, op := range ops { // as often as fills some milliseconds
		op()
		started := threadTime()
		op()
		repeat[i] = int(max(5_000_000/max(threadTime()-started, 1), 1))
	}
	for range rounds {
		for i, op := range ops {
			started := threadTime()
			for range repeat[i] {
				op()
			}
			times[i] = append(times[i], float64(threadTime()-started)/float64(repeat[i]*size))
		}
	}
	medians := make([]float64, len(ops))
	for i := range times {
		slices.Sort(times[i])
		medians[i] = times[i][rounds/2]
	}
	return medians
}

const batch = 256

func perSecond(ns float64) string { return fmt.Sprintf("%.3g M packets/s", 1e3/ns) }

// peers builds the programs that measure others, and gives their folder. What
// cannot be built here is missing in it.
func peers(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("make", "--silent", "peers", "PEERS="+dir)
	build.Dir = root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make peers: %v\n%s", err, out)
	} else if len(out) > 0 {
		t.Logf("make peers: %s", out)
	}
	return dir
}

// TestGoal5Rules measures rules of which none matches: ten and 10,000, step by
// step, as legacy tables, compiled, and in the kernel, in the same run.
func TestGoal5Rules(t *testing.T) {
	timed(t)
	ways, notes := benchmark.StartKernelWays(peers(t))
	for _, w := range ways {
		t.Cleanup(func() { w.Close() })
	}
	report, err := benchmark.Rules([]string{"same", "distinct", "lengths"}, []int{10, 10_000}, ways, &benchmark.Options{Rounds: 21})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range report.Goals {
		goal(t, g.OK, "inverted prefixes, "+g.What, g.Figure, g.Bound)
	}
	if len(notes) > 0 {
		testdata.Missing(t, "oracle", strings.Join(notes, "; "))
	}
}

func TestGoal5Update(t *testing.T) {
	timed(t)
	list := workload.FiveTuples("acl", 10000, 1)
	base, err := verdict.Parse(familyRules(list))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(base.Rules(), base.Host(), engine.Options{Hook: "forward"})
	if err != nil {
		t.Fatal(err)
	}
	w := e.Worker()
	var times []time.Duration
	for i := range 101 {
		h := workload.Header{Src: 203<<24 | 113<<8 | uint32(i), Dst: 1 << 24, Proto: 17}
		in := headerFrames([]workload.Header{h})[0]
		base = change(t, base, fmt.Sprintf("insert rule ip t c ip saddr 203.0.113.%d counter drop", i))
		started := time.Now()
		if err := e.Update(base.Rules()); err != nil {
			t.Fatal(err)
		}
		var out engine.Outcome
		w.Evaluate(&in, &out)
		times = append(times, time.Since(started))
		if out.Fate != engine.Dropped || out.Verdict.Policy {
			t.Fatalf("the added rule is not seen: %+v", out)
		}
	}
	slices.Sort(times)
	median, most := times[len(times)/2], times[len(times)*9/10]
	goal(t, median < time.Millisecond, "a rule added to 10,000 is met by the next packet", fmt.Sprintf("median %v, 90 %% within %v", median, most), "under 1 ms")
}

func TestGoal5Bulk(t *testing.T) {
	timed(t)
	text := benchmark.InvertedRules("distinct", 100_000, false)
	started := time.Now()
	loaded, err := verdict.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	parsed := time.Since(started)
	if _, err := engine.New(loaded.Rules(), loaded.Host(), engine.Options{}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(started)
	goal(t, took < time.Second, "100,000 rules from text to compiled chain", fmt.Sprintf("%v, of which parsing and applying %v", took.Round(time.Millisecond), parsed.Round(time.Millisecond)), "under 1 s")
}

func TestGoal5Allocations(t *testing.T) {
	list := workload.FiveTuples("fw", 5000, 1)
	loaded, err := verdict.Parse(familyRules(list))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(loaded.Rules(), loaded.Host(), engine.Options{Hook: "forward"})
	if err != nil {
		t.Fatal(err)
	}
	w, ins, outs := e.Worker(), headerFrames(workload.Headers(list, batch, 2)), make([]engine.Outcome, batch)
	w.EvaluateBatch(ins, outs)
	w.EvaluateBatch(ins, outs)
	many := testing.AllocsPerRun(20, func() { w.EvaluateBatch(ins, outs) })
	one := testing.AllocsPerRun(200, func() { w.Evaluate(&ins[0], &outs[0]) })
	goal(t, one == 0 && many == 0, "allocations per packet and per batch, 5,000 rules compiled", fmt.Sprintf("%v, %v", one, many), "none")
}

// TestGoal5AllocationsConnections: packets of established connections allocate
// nothing, one by one and in batches.
func TestGoal5AllocationsConnections(t *testing.T) {
	local := engine.Options{Local: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	w := newEngine(t, realistic(), local).Worker()
	there, back, established := connections(2048)
	outs := make([]engine.Outcome, 2048)
	for _, list := range [][]engine.Input{there, back, established, established} {
		w.EvaluateBatch(list, outs)
	}
	many := testing.AllocsPerRun(20, func() { w.EvaluateBatch(established, outs) })
	one := testing.AllocsPerRun(200, func() { w.Evaluate(&established[7], &outs[7]) })
	if outs[7].Fate != engine.Accepted {
		t.Fatalf("%+v", outs[7])
	}
	goal(t, one == 0 && many == 0, "allocations per established packet and per batch, realistic ruleset", fmt.Sprintf("%v, %v", one, many), "none")
}
