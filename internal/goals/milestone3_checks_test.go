package goals

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	benchmark "verdict/internal/cli/bench"
	"verdict/internal/simd"
)

// gotest runs tests of packages and tells whether they pass and how many
// functions and subtests did.
func gotest(t *testing.T, args ...string) (ok bool, passed int, output string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-count=1", "-v"}, args...)...)
	cmd.Dir = root()
	out, err := cmd.CombinedOutput()
	return err == nil, strings.Count(string(out), "--- PASS"), string(out)
}

// TestGoal3Model runs random operations against the linear model: in each
// shape, at each level of vector instructions.
func TestGoal3Model(t *testing.T) {
	timed(t)
	const operations = 100_000
	ok, passed, out := gotest(t, "-run", "TestSoak", "-timeout", "60m", "./set/pipapo", "-soak", strconv.Itoa(operations))
	if !ok {
		t.Log(out)
	}
	levels := int(simd.Supported()) + 1
	goal(t, ok && passed > 7*levels, "random operations against the linear model, in each shape at each level",
		fmt.Sprintf("%d operations each, %d levels, %d runs without a difference", operations, levels, passed-1), "100000 operations, no difference")
}

// TestGoal3Hostile: ten thousand hostile inputs.
func TestGoal3Hostile(t *testing.T) {
	ok, passed, out := gotest(t, "-run", "TestHostileInputs|TestBulkErrors", "./set/pipapo")
	if !ok {
		t.Log(out)
	}
	goal(t, ok && passed >= 2, "hostile inputs: the right error, the set unchanged", fmt.Sprintf("10000 inputs to each form, %d tests pass", passed), "10000")
}

// TestGoal3Readers: readers beside a writer under the race detector.
func TestGoal3Readers(t *testing.T) {
	ok, passed, out := gotest(t, "-race", "-run", "Concurrent|Readers|OpenTransaction", "./set/...")
	if !ok {
		t.Log(out)
	}
	goal(t, ok && passed >= 2, "readers beside a writer, race detector", fmt.Sprintf("%d tests pass", passed), "clean")
}

// TestGoal3Allocations: lookups do not allocate, in no kind of set.
func TestGoal3Allocations(t *testing.T) {
	for _, s := range benchmark.Shapes() {
		single, burst, err := benchmark.Allocations(s, 2000)
		if err != nil {
			t.Fatal(err)
		}
		goal(t, single == 0 && burst == 0, s.Name+": allocations per lookup", fmt.Sprintf("%v single, %v in bursts", single, burst), "none")
	}
}

// TestGoal3Vectors: the vector forms of the intersection against the generic
// one.
func TestGoal3Vectors(t *testing.T) {
	timed(t)
	if simd.Supported() == simd.Generic {
		t.Skip("skipped: this processor has no vector level")
	}
	generic, _ := bench(t, "./internal/simd", "And/4096/generic$")
	for l := simd.Generic + 1; l <= simd.Supported(); l++ {
		ns, _ := bench(t, "./internal/simd", "And/4096/"+l.String()+"$")
		goal(t, generic >= 3*ns, fmt.Sprintf("intersection of bit maps of 4096 rules, %v", l),
			fmt.Sprintf("%.1f ns, generic %.1f ns: %.1f times", ns, generic, generic/ns), "at least 3 times faster than generic")
	}
}

// TestGoal3BoundsChecks: the inner loop of the generic intersection has no
// bounds checks.
func TestGoal3BoundsChecks(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root(), "internal/simd/and.go"))
	if err != nil {
		t.Fatal(err)
	}
	inner := 0
	for i, line := range strings.Split(string(source), "\n") {
		if strings.TrimSpace(line) == "dst[i] &= src[i]" {
			inner = i + 1
		}
	}
	if inner == 0 {
		t.Fatal("the inner loop is not where it was")
	}
	// An empty cache makes the compiler run and speak.
	cmd := exec.Command("go", "build", "-gcflags=-d=ssa/check_bce", "./internal/simd")
	cmd.Dir = root()
	cmd.Env = append(os.Environ(), "GOCACHE="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checks := regexp.MustCompile(`(?m)and\.go:(\d+):\d+: Found`).FindAllStringSubmatch(string(out), -1)
	if len(checks) == 0 {
		t.Fatalf("the compiler lists no bounds checks at all:\n%s", out)
	}
	found := 0
	for _, m := range checks {
		if line, _ := strconv.Atoi(m[1]); line == inner {
			found++
		}
	}
	goal(t, found == 0, "bounds checks in the inner loop of the generic intersection", fmt.Sprint(found), "none")
}
