//go:build !linux

package bench

import (
	"errors"
	"os/exec"
)

// inNamespace makes a command run in a network namespace of its own; only
// Linux has them.
func inNamespace(*exec.Cmd) error { return errors.New("only Linux has nf_tables") }
