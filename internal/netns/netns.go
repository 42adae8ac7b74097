// Package netns tells whether network namespaces can be made on this machine.
package netns

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// patience is how long a kernel may take to make a namespace.
const patience = 10 * time.Second

// Available tells why no network namespace can be made here, nil if one can be.
// The first call tries: in a process of its own that nobody waits for, since a
// kernel that is stuck in an earlier change of its network never answers, and
// keeps whoever asked. It takes at most ten seconds, later calls nothing. Safe
// for concurrent use.
var Available = sync.OnceValue(func() error { return try("unshare", "--net", "true") })

// try runs a command, and leaves it alone when it does not end.
func try(name string, args ...string) error {
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("network namespaces need the command %s", name)
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("no network namespace: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("no network namespace: %w (root is needed)", err)
		}
		return nil
	case <-time.After(patience):
		return errStuck
	}
}

var errStuck = errors.New("no network namespace: the kernel does not answer; it may be stuck in an earlier change of its network")
