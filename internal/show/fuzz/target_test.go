package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseList(t *testing.T) {
	const text = `ok  	verdict	0.003s
FuzzReader
FuzzOptions
ok  	verdict/capture	0.004s
?   	verdict/catalog	[no test files]
FuzzDecode
ok  	verdict/packet	0.003s
`
	want := []target{{"verdict/capture", "FuzzReader"}, {"verdict/capture", "FuzzOptions"}, {"verdict/packet", "FuzzDecode"}}
	if got := parseList(text); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestExecutions(t *testing.T) {
	const text = `fuzz: elapsed: 0s, gathering baseline coverage: 0/20 completed
fuzz: elapsed: 3s, execs: 1200 (400/sec), new interesting: 2 (total: 22)
fuzz: elapsed: 5s, execs: 23456 (1000/sec), new interesting: 3 (total: 23)
PASS
`
	if got := executions(text); got != 23456 {
		t.Errorf("got %d, want 23456", got)
	}
	if got := executions("FAIL"); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}

func TestLateStop(t *testing.T) {
	const progress = "fuzz: elapsed: 5s, execs: 114986 (23272/sec), new interesting: 8 (total: 36)\n"
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"time over", progress + "--- FAIL: FuzzTrace (5.06s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true},
		{"crash", progress + "--- FAIL: FuzzTrace (0.31s)\n    --- FAIL: FuzzTrace (0.00s)\n        trace_test.go:9: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzTrace/1a\nFAIL\n", false},
		{"hang", progress + "--- FAIL: FuzzTrace (5.06s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n", false},
		{"pass", progress + "PASS\n", false},
	} {
		if got := lateStop(c.text); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestHung(t *testing.T) {
	lines := func(apart int, execs ...int) string {
		var b strings.Builder
		for i, n := range execs {
			fmt.Fprintf(&b, "fuzz: elapsed: %v, execs: %d (0/sec), new interesting: 2 (total: 290)\n", time.Duration(i*apart)*time.Second, n)
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		text string
		want bool
	}{
		{"runs", lines(3, 1, 2, 3, 4, 5, 6), false},
		{"slow", lines(3, 1, 1, 1, 2, 2, 2, 3, 3), false},
		{"hangs", lines(3, 1, 7, 7, 7, 7, 7), true},
		{"the machine stands still", lines(40, 1, 7, 7, 7, 7, 7), false},
	} {
		if got := hung(c.text); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
