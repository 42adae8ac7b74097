package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// target is a fuzz target.
type target struct{ Package, Name string }

// result is what a run of a target gave.
type result struct {
	Executions int64
	Failed     bool
	Hung       bool // one input took so long that nothing else ran
	Output     string
}

func (r result) verdict() string {
	switch {
	case r.Failed:
		return "FAIL"
	case r.Hung:
		return "HUNG"
	}
	return "pass"
}

// find lists the fuzz targets of all packages of the module.
func find(ctx context.Context) ([]target, error) {
	var out, complaints bytes.Buffer
	c := exec.CommandContext(ctx, "go", "test", "-list", "^Fuzz", "./...")
	c.Stdout, c.Stderr = &out, &complaints
	err := c.Run()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s%s", err, complaints.Bytes(), out.Bytes())
	}
	return parseList(out.String()), nil
}

// parseList reads the output of go test -list: the names of a package's
// targets stand before the line of the package.
func parseList(text string) []target {
	var targets []target
	var names []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 1 && strings.HasPrefix(words[0], "Fuzz"):
			names = append(names, words[0])
		case len(words) >= 2 && words[0] == "ok":
			for _, name := range names {
				targets = append(targets, target{Package: words[1], Name: name})
			}
			names = nil
		}
	}
	return targets
}

func (t target) run(ctx context.Context, span time.Duration) result {
	c := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.Name+"$", "-fuzztime", span.String(), "-fuzzminimizetime", "200x", t.Package)
	out, err := c.CombinedOutput()
	text := string(out)
	return result{Executions: executions(text), Failed: err != nil && !lateStop(text), Hung: hung(text), Output: text}
}

// lateStopPattern is a failure whose whole text is the end of the time given.
var lateStopPattern = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([0-9.]+s\)\n    context deadline exceeded\nFAIL$`)

// lateStop reports whether a run failed only because its time was over. Before
// Go 1.27 the coordinator of workers may take that for an error when its
// deadline passes before theirs; an input at fault is always written to a file
// and named.
//
// Ref: https://go.dev/issue/75804
func lateStop(output string) bool {
	return lateStopPattern.MatchString(output) && !strings.Contains(output, "Failing input written")
}

// stalls is the number of progress lines, three seconds apart, without any
// execution that mean an input which does not end. The harness itself takes
// that for a success when its time is over.
const stalls = 4

// hung reports whether executions stopped. Where lines are further apart than
// they should be it was the machine that did.
func hung(output string) bool {
	last, before, same := "", time.Duration(0), 0
	for _, m := range progressPattern.FindAllStringSubmatch(output, -1) {
		at, err := time.ParseDuration(m[1])
		inTime := err == nil && at-before <= 4*time.Second
		if m[2] != last || !inTime {
			same = 0
		} else if same++; same >= stalls {
			return true
		}
		last, before = m[2], at
	}
	return false
}

var progressPattern = regexp.MustCompile(`elapsed: ([0-9hms]+), execs: (\d+)`)

var executionsPattern = regexp.MustCompile(`execs: (\d+)`)

// executions finds the last count in the progress lines of a fuzz run.
func executions(output string) int64 {
	found := executionsPattern.FindAllStringSubmatch(output, -1)
	if len(found) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(found[len(found)-1][1], 10, 64)
	return n
}
