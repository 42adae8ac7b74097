package goals

import (
	"fmt"
	"os/exec"
	"regexp"
	"testing"

	"verdict/internal/testdata"
)

var packageLine = regexp.MustCompile(`(?m)^(ok|FAIL|---|panic)\s+(\S+)`)

// TestGoal4BigEndian runs the tests of the packages that must be exact as a
// big-endian machine does.
func TestGoal4BigEndian(t *testing.T) {
	timed(t)
	if _, err := exec.LookPath("qemu-s390x"); err != nil {
		testdata.Missing(t, "qemu", "no command qemu-s390x (package qemu-user)")
	}
	cmd := exec.Command("make", "big-endian")
	cmd.Dir = root()
	out, err := cmd.CombinedOutput()
	passed := 0
	for _, m := range packageLine.FindAllSubmatch(out, -1) {
		if string(m[1]) == "ok" {
			passed++
		} else {
			t.Logf("%s", m[0])
		}
	}
	goal(t, err == nil && passed > 0, "packages whose tests pass on s390x, a big-endian machine", fmt.Sprint(passed), "all")
}
