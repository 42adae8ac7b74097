package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"verdict"
	"verdict/diag"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/internal/workload"
)

// next loads a script of changes on a ruleset.
func next(t testing.TB, base *verdict.Ruleset, script string) *verdict.Ruleset {
	t.Helper()
	r, findings := verdict.LoadSources(verdict.LoadOptions{Base: base}, diag.NewSource("change", []byte(script)))
	if r == nil {
		t.Fatalf("%s: %v", script, findings.Err())
	}
	return r
}

// handles lists the handles of the rules of the only chain.
func handles(r *verdict.Ruleset) []uint64 {
	var list []uint64
	for _, rule := range r.Rules().Tables[0].Chains[0].Rules {
		list = append(list, rule.Handle)
	}
	return list
}

// TestUpdatesAgree changes a compiled chain again and again. After each change
// packets meet what they meet in an engine that was made for that ruleset, and
// counters go on.
func TestUpdatesAgree(t *testing.T) {
	rules := workload.FiveTuples("acl", 300, 1)
	more := workload.FiveTuples("fw", 300, 2)
	base, err := verdict.Parse(accessList(rules))
	if err != nil {
		t.Fatal(err)
	}
	o := engine.Options{Hook: "forward", Seed: 1, Executor: chain.Auto}
	e, err := engine.New(base.Rules(), base.Host(), o)
	if err != nil {
		t.Fatal(err)
	}
	w := e.Worker()
	list := packets(t, append(workload.Headers(rules, 300, 3), workload.Headers(more, 300, 4)...))
	r := rand.New(rand.NewPCG(1, 1))
	extended := 0
	for i := range 300 {
		known := handles(base)
		at := known[r.IntN(len(known))]
		q := &more[i%len(more)]
		verdictText := []string{"counter accept", "counter drop", "counter", "meta mark set 1", "limit rate 1/second drop"}[i%5]
		script := ""
		switch r.IntN(4) {
		case 0:
			script = fmt.Sprintf("delete rule ip t c handle %d", at)
		case 1:
			script = fmt.Sprintf("replace rule ip t c handle %d %s %s", at, q.Text(), verdictText)
		case 2:
			script = fmt.Sprintf("add rule ip t c handle %d %s %s", at, q.Text(), verdictText)
		default:
			script = fmt.Sprintf("insert rule ip t c handle %d %s ip saddr { 10.0.0.1, 10.0.0.%d } %s", at, q.Text(), i%250+2, verdictText)
		}
		base = next(t, base, script)
		before := e.Program()
		if err := e.Update(base.Rules()); err != nil {
			t.Fatal(err)
		}
		if e.Program().Extends(before) {
			extended++
		}
		fresh, err := engine.New(base.Rules(), base.Host(), engine.Options{Hook: "forward", Seed: 1, Executor: chain.VM})
		if err != nil {
			t.Fatal(err)
		}
		other := fresh.Worker()
		for range 40 {
			in := list[r.IntN(len(list))]
			in.Time = int64(i) * 1e12 // limits are full again
			if r.IntN(10) == 0 {
				in.Data = in.Data[:20+r.IntN(20)]
			}
			var want, got engine.Outcome
			other.Evaluate(&in, &want)
			w.Evaluate(&in, &got)
			if want.Fate != got.Fate || place(fresh, &want) != place(e, &got) {
				t.Fatalf("after %d changes (%s): %v by %s, updated %v by %s", i+1, script, want.Fate, place(fresh, &want), got.Fate, place(e, &got))
			}
		}
	}
	if extended < 250 {
		t.Errorf("only %d of 300 changes extended the program", extended)
	}
}

// place names the rule that decided.
func place(e *engine.Engine, o *engine.Outcome) string {
	if !o.Decided || o.Verdict.Policy || o.Verdict.Unknown {
		return "none"
	}
	_, rule, _ := e.Program().Rule(o.Verdict.Rule)
	return fmt.Sprint(rule.Handle)
}

// A rule added to 10,000 is there for the next packet of a worker that is
// busy, within a millisecond.
func TestUpdateIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: times mean nothing under emulation")
	}
	list := workload.FiveTuples("acl", 10000, 1)
	base, err := verdict.Parse(accessList(list))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(base.Rules(), base.Host(), engine.Options{Hook: "forward"})
	if err != nil {
		t.Fatal(err)
	}
	frames := packets(t, workload.Headers(list, 500, 2))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		w := e.Worker()
		var out engine.Outcome
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				w.Evaluate(&frames[i%len(frames)], &out)
			}
		}
	})
	w := e.Worker()
	var times []time.Duration
	for i := range 50 {
		base = next(t, base, fmt.Sprintf("insert rule ip t c ip saddr 203.0.113.%d counter drop", i+1))
		in := packets(t, []workload.Header{{Src: 203<<24 | 113<<8 | uint32(i+1), Dst: 1 << 24, Proto: 17}})[0]
		started := time.Now()
		if err := e.Update(base.Rules()); err != nil {
			t.Fatal(err)
		}
		var out engine.Outcome
		w.Evaluate(&in, &out)
		times = append(times, time.Since(started))
		if out.Fate != engine.Dropped || out.Verdict.Policy {
			t.Fatalf("the new rule does not drop: %+v", out)
		}
	}
	close(stop)
	readers.Wait()
	slices.Sort(times)
	t.Logf("update and next packet: median %v, slowest %v", times[len(times)/2], times[len(times)-1])
	if times[len(times)/2] > 20*time.Millisecond {
		t.Errorf("updates take %v", times[len(times)/2])
	}
}
