package goals

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"verdict/internal/testdata"
)

// TestGoal6FreshVerdicts boots a kernel of Debian under emulation, lets it judge
// fresh random cases, and compares. It runs where TCORACLE is set, or where the
// machine was prepared before.
func TestGoal6FreshVerdicts(t *testing.T) {
	timed(t)
	script := testdata.Path(t, "tcoracle/tcoracle.sh")
	dir := os.Getenv("TCORACLE_DIR")
	if dir == "" {
		home, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("skipped: %v", err)
		}
		dir = filepath.Join(home, "verdict", "tcoracle")
	}
	limit := 20 * time.Minute
	if d, err := time.ParseDuration(os.Getenv("TCORACLE_TIME")); err == nil {
		limit = d
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if _, err := os.Stat(filepath.Join(dir, "base.cpio")); err != nil {
		if os.Getenv("TCORACLE") == "" {
			t.Skipf("skipped: no emulated machine in %s (make tcoracle prepares one)", dir)
		}
		runScript(ctx, t, "", script, "prepare", dir)
	}
	number := setting("TCORACLE_N", 200)
	seed := setting("TCORACLE_SEED", int(time.Now().Unix()%1e6))
	jobs, truth := filepath.Join(t.TempDir(), "jobs.jsonl"), filepath.Join(t.TempDir(), "truth.jsonl")
	runScript(ctx, t, jobs, script, "gen", dir, "-seed", strconv.Itoa(seed), "-from", "0", "-n", strconv.Itoa(number), "-packets", "20")
	runScript(ctx, t, "", script, "run", dir, jobs, truth)
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^TestFreshVerdicts$", "./tc")
	cmd.Dir, cmd.Env = root(), append(os.Environ(), "TC_TRUTH="+truth)
	out, err := cmd.CombinedOutput()
	m := regexp.MustCompile(`(\d+) of (\d+) fresh cases agree`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	good, _ := strconv.Atoi(string(m[1]))
	all, _ := strconv.Atoi(string(m[2]))
	if good != all {
		t.Logf("%s", out)
	}
	goal(t, all == number, "fresh random cases that the emulated kernel judged", fmt.Sprintf("%d, seed %d", all, seed), fmt.Sprint(number))
	goal(t, good == all, "fresh random cases that agree", share(good, all), "all, or explained")
}

// runScript runs the oracle's script, its output into a file where one is named.
func runScript(ctx context.Context, t *testing.T, output, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, args...)
	if output != "" {
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		if err := os.WriteFile(output, out, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	// The machine's console is not a pipe's business: what it prints last says
	// why it failed.
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out[max(0, len(out)-2000):])
	}
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
