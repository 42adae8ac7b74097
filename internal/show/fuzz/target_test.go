package main

import (
	"slices"
	"testing"
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
