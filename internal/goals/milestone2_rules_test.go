package goals

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"verdict"
)

// plainRules is a ruleset of many different rules.
func plainRules(n int) string {
	var b strings.Builder
	b.WriteString("table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n")
	for i := range n {
		fmt.Fprintf(&b, "\t\tip saddr 10.%d.%d.0/24 tcp dport %d counter accept\n", i>>8&0xff, i&0xff, 1+i%65535)
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

func TestGoal2ManyRules(t *testing.T) {
	timed(t)
	for _, c := range []struct {
		rules int
		bound time.Duration
	}{{10_000, 100 * time.Millisecond}, {100_000, time.Second}} {
		text := plainRules(c.rules)
		load := median(func() {
			if _, err := verdict.Parse(text); err != nil {
				t.Fatal(err)
			}
		})
		rules, err := verdict.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list := median(func() {
			var b bytes.Buffer
			if err := rules.List(&b); err != nil {
				t.Fatal(err)
			}
		})
		goal(t, load <= c.bound, fmt.Sprintf("%d rules from text to ready", c.rules), load.Round(time.Millisecond).String(), "at most "+c.bound.String())
		goal(t, list <= c.bound, fmt.Sprintf("%d rules listed", c.rules), list.Round(time.Millisecond).String(), "at most "+c.bound.String())
	}
}

// median runs something 21 times and gives the median time.
func median(f func()) time.Duration {
	times := make([]time.Duration, 21)
	for i := range times {
		started := time.Now()
		f()
		times[i] = time.Since(started)
	}
	slices.Sort(times)
	return times[len(times)/2]
}
