package goals

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// firstCommand takes the first command of the README.
func firstCommand(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join(root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?m)^ {4}(go run .*)$").FindSubmatch(text)
	if m == nil {
		t.Fatal("the README shows no command")
	}
	return string(m[1])
}

func TestGoal1FirstCommand(t *testing.T) {
	timed(t)
	dir := t.TempDir()
	clone := exec.Command("git", "clone", "-q", root(), filepath.Join(dir, "fresh"))
	if out, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("clone: %v %s", err, out)
	}
	cmd := exec.Command("sh", "-c", firstCommand(t))
	cmd.Dir = filepath.Join(dir, "fresh")
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
	started := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(started)
	ok := err == nil && strings.Contains(string(out), "hook") && strings.Contains(string(out), "drop")
	if !ok {
		t.Logf("%v\n%s", err, out)
	}
	goal(t, ok && took < time.Minute, "README's first command on a fresh checkout, build included", fmt.Sprintf("%.1f s", took.Seconds()), "verdict table in under 60 s")
}
