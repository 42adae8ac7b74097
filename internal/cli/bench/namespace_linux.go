package bench

import (
	"os/exec"
	"syscall"

	"verdict/internal/netns"
)

// inNamespace makes a command run in a network namespace of its own.
func inNamespace(cmd *exec.Cmd) error {
	if err := netns.Available(); err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	return nil
}
