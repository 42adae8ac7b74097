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

// TestGoal4Live compares random rulesets and packets with the running kernel:
// a fixed seed, so that a failure comes again, and a fresh one. ORACLE_TIME
// (such as 1h) sets how long, ORACLE_SEED the fresh seed. Shrunk cases that
// differ are written to the folder ORACLE_SAVE in the form of spec/.
func TestGoal4Live(t *testing.T) {
	if err := kernel.Available(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
	each, least := 15*time.Second, 2000
	if os.Getenv("VERDICT_GOALS") != "" {
		total := 5 * time.Minute
		if d, err := time.ParseDuration(os.Getenv("ORACLE_TIME")); err == nil {
			total = d
		}
		each, least = total/2, int(pairsPerMinute*total.Minutes())
	}
	fresh := uint64(time.Now().UnixNano())
	if v, err := strconv.ParseUint(os.Getenv("ORACLE_SEED"), 10, 64); err == nil {
		fresh = v
	}
	pairs, differing := 0, 0
	for _, run := range []struct {
		what string
		seed uint64
	}{{"fixed", 1 << 32}, {"fresh", fresh}} {
		c := kernel.Campaign{Seed: run.seed, Packets: 60, Workers: runtime.GOMAXPROCS(0), Time: each, Keep: 10}
		r, err := c.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s seed %d: %d rulesets (%d refused by both), %d pairs, %.0f a second", run.what, run.seed, r.Cases, r.Refused, r.Pairs, r.Rate())
		for _, f := range r.Differing {
			t.Errorf("%s", f.Text)
			if dir := os.Getenv("ORACLE_SAVE"); dir != "" {
				name := filepath.Join(dir, fmt.Sprintf("seed-%d.txtar", f.Case.Seed))
				if err := os.WriteFile(name, []byte(f.Spec), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
		pairs, differing = pairs+r.Pairs, differing+len(r.Differing)
	}
	goal(t, pairs >= least, "pairs of ruleset and packet compared with the running kernel", fmt.Sprint(pairs), fmt.Sprintf("at least %d", least))
	goal(t, differing == 0, "cases in which kernel and engine differ", fmt.Sprint(differing), "none")
}
