//go:build unix

package goals

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// bounded runs a command and returns its status, peak memory in bytes, and
// what it printed on stderr.
func bounded(t *testing.T, name string, args ...string) (status int, peak int64, stderr string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		if _, isExit := err.(*exec.ExitError); !isExit {
			t.Fatal(err)
		}
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cmd.ProcessState.ExitCode(), usage.Maxrss << 10, errs.String()
}
