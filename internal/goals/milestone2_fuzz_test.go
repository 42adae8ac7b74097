package goals

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// fuzzTargets are those of what reads input: parser, compiler with listing,
// JSON, state file.
const fuzzTargets = `^verdict/FuzzReload|syntax/FuzzParse|compile/FuzzCompile|nftjson/Fuzz|store/FuzzFile`

var fuzzLine = regexp.MustCompile(`(?m)^(verdict\S+) +(\d+) executions  (\w+)$`)

// TestGoal2Fuzz fuzzes for $FUZZ_TIME in all, half an hour if that is not set.
func TestGoal2Fuzz(t *testing.T) {
	timed(t)
	whole := 30 * time.Minute
	if text := os.Getenv("FUZZ_TIME"); text != "" {
		var err error
		if whole, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	const targets = 6
	cmd := exec.Command("go", "run", "./internal/show/fuzz", "-time", (whole / targets).String(), "-match", fuzzTargets)
	cmd.Dir = root()
	out, err := cmd.CombinedOutput()
	found := fuzzLine.FindAllStringSubmatch(string(out), -1)
	executions, passed := 0, 0
	for _, m := range found {
		n, _ := strconv.Atoi(m[2])
		executions += n
		if m[3] == "pass" {
			passed++
		}
	}
	goal(t, err == nil && passed == targets, fmt.Sprintf("%v of fuzzing parser, compiler, JSON, state file", whole), fmt.Sprintf("%d of %d targets pass, %d executions", passed, len(found), executions), "all 6 pass: no crash, no hang over 1 s, listings load and list the same")
	if err != nil {
		t.Logf("%s", out)
	}
}
