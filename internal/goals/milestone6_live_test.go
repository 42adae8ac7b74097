//go:build linux

package goals

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"verdict/internal/kernel"
	"verdict/internal/testdata"
)

// TestGoal6Live compares random u32 filters, mirred actions and packets at both
// hooks of clsact with the running kernel.
func TestGoal6Live(t *testing.T) {
	timed(t)
	if err := kernel.TrafficAvailable(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
	const wanted, perCase, most = 50000, 50, 10 * time.Minute
	fresh := uint64(time.Now().UnixNano())
	pairs, cases, differing := 0, 0, 0
	err := kernel.InNamespace(func() error {
		l, err := kernel.OpenTrafficLab()
		if err != nil {
			return err
		}
		defer l.Close()
		for started := time.Now(); pairs < wanted && time.Since(started) < most; cases++ {
			seed := uint64(cases) + 1000
			if cases%2 == 1 {
				seed = fresh + uint64(cases)
			}
			c := kernel.NewTrafficCase(seed, perCase)
			differences, err := l.Compare(c)
			if err != nil {
				return err
			}
			pairs += c.Compared
			if len(differences) > 0 {
				differing++
				if differing < 5 {
					t.Logf("seed %d:\n%s\n%s", seed, strings.Join(c.Commands, "\n"), strings.Join(differences[:min(len(differences), 3)], "\n"))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	goal(t, pairs >= wanted, "pairs of u32 filters and packet compared with the running kernel", fmt.Sprintf("%d in %d cases, fresh seed %d", pairs, cases, fresh), fmt.Sprintf("at least %d", wanted))
	goal(t, differing == 0, "cases in which frames, counters or refusals differ", fmt.Sprint(differing), "none")
}
