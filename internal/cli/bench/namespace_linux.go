package bench

import (
	"os/exec"
	"syscall"
)

// inNamespace makes a command run in a network namespace of its own.
func inNamespace(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	return nil
}
