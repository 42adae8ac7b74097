//go:build linux

package goals

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"verdict/internal/kernel"
	"verdict/internal/testdata"
)

// pairsPerMinute is the least rate: 200,000 in five minutes on two cores.
const pairsPerMinute = 40_000

// fixedCases is how many cases of the fixed seed a run in CI has.
const fixedCases = 2000

// TestGoal4Live compares random rulesets and packets with the running kernel:
// a fixed seed, so that a failure comes again, and as a goal a fresh one.
// ORACLE_TIME (such as 1h) sets how long, ORACLE_SEED the fresh seed. Shrunk
// cases that differ are written to the folder ORACLE_SAVE in the form of spec/.
// With ORACLE_FRESH=report a difference that the fresh seed finds is told and
// fails nothing: it is no fault of the change that is being tested.
func TestGoal4Live(t *testing.T) {
	if err := kernel.Available(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
	each, least, cases := 15*time.Second, 2000, 1000
	if os.Getenv("VERDICT_GOALS") != "" {
		total := 5 * time.Minute
		if d, err := time.ParseDuration(os.Getenv("ORACLE_TIME")); err == nil {
			total = d
		}
		each, least, cases = total/2, int(pairsPerMinute*total.Minutes()), 0
	}
	report := os.Getenv("ORACLE_FRESH") == "report"
	fresh := uint64(time.Now().UnixNano())
	if v, err := strconv.ParseUint(os.Getenv("ORACLE_SEED"), 10, 64); err == nil {
		fresh = v
	}
	type campaign struct {
		what string
		seed uint64
	}
	runs := []campaign{{"fixed", 1 << 32}}
	if os.Getenv("VERDICT_GOALS") != "" {
		runs = append(runs, campaign{"fresh", fresh})
	}
	pairs, differing := 0, 0
	for _, run := range runs {
		if run.what == "fixed" && report {
			cases = fixedCases // the same on every machine
		} else if run.what == "fresh" {
			cases = 0
		}
		c := kernel.Campaign{Seed: run.seed, Cases: cases, Packets: 60, Workers: runtime.GOMAXPROCS(0), Time: each, Keep: 10}
		r, err := c.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s seed %d: %d rulesets (%d refused by both), %d pairs, %.0f a second", run.what, run.seed, r.Cases, r.Refused, r.Pairs, r.Rate())
		tell := t.Errorf
		if run.what == "fresh" && report {
			tell = t.Logf
		} else {
			differing += len(r.Differing)
		}
		for _, f := range r.Differing {
			tell("%s", f.Text)
			if dir := os.Getenv("ORACLE_SAVE"); dir != "" {
				name := filepath.Join(dir, fmt.Sprintf("seed-%d.txtar", f.Case.Seed))
				if err := os.WriteFile(name, []byte(f.Spec), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
		pairs += r.Pairs
	}
	goal(t, pairs >= least, "pairs of ruleset and packet compared with the running kernel", fmt.Sprint(pairs), fmt.Sprintf("at least %d", least))
	goal(t, differing == 0, "cases in which kernel and engine differ", fmt.Sprint(differing), "none")
}
