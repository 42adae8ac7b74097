package goals

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// benchLine is a result of the benchmark harness.
var benchLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op.*?(\d+) allocs/op`)

// bench runs a benchmark several times and gives its median time in
// nanoseconds and its allocations per operation.
func bench(t *testing.T, pkg, name string) (ns float64, allocations int) {
	t.Helper()
	const rounds = "21"
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", name, "-benchmem", "-benchtime", "100ms", "-count", rounds, pkg)
	cmd.Dir = root()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var times []float64
	for _, m := range benchLine.FindAllSubmatch(out, -1) {
		ns, _ := strconv.ParseFloat(string(m[2]), 64)
		times = append(times, ns)
		allocations, _ = strconv.Atoi(string(m[3]))
	}
	if len(times) == 0 {
		t.Fatalf("no result of %s in\n%s", name, out)
	}
	slices.Sort(times)
	return times[len(times)/2], allocations
}

func TestGoal1Speed(t *testing.T) {
	timed(t)
	ns, allocations := bench(t, "./packet", "DecodeTCP4$")
	goal(t, ns <= 25 && allocations == 0, "decoding an ordinary TCP/IPv4 packet", fmt.Sprintf("%.1f ns, %d allocations", ns, allocations), "at most 25 ns, none")
	ns, allocations = bench(t, "./engine", "Evaluate/rules=40$")
	goal(t, ns <= 200 && allocations == 0, "a stateless ruleset of 40 rules on one core, decoding included", fmt.Sprintf("%.2f M packets/s, %d allocations", 1e3/ns, allocations), "at least 5 M, none")
}
