package goals

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// goal prints a figure with its bound and fails the test where it misses.
func goal(t *testing.T, ok bool, what, figure, bound string) {
	t.Helper()
	result := "pass"
	if !ok {
		result = "fail"
	}
	line := fmt.Sprintf("goal: %s: %s (%s): %s", what, figure, bound, result)
	t.Log(line)
	if !ok {
		t.Fail()
	}
}

// share is a share in percent with its parts.
func share(n, of int) string {
	return fmt.Sprintf("%d of %d = %.1f %%", n, of, percent(n, of))
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// timed skips goals that time something unless they were asked for.
func timed(t *testing.T) {
	t.Helper()
	if os.Getenv("VERDICT_GOALS") == "" {
		t.Skip("skipped: timing goals run with VERDICT_GOALS=1 (make show-N)")
	}
}

// root is the repository's root.
func root() string {
	_, self, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(self)))
}

// binary builds the command once per test run.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "verdict")
	build := exec.Command("go", "build", "-o", path, "./cmd/verdict")
	build.Dir = root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// run executes the command and returns status, stdout and stderr.
func run(t *testing.T, name string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatalf("%s: %v", name, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
