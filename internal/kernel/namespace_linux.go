package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"verdict/internal/netns"
)

// Available tells why the oracle cannot run here, nil if it can.
func Available() error {
	if os.Geteuid() != 0 {
		return errors.New("the oracle needs root")
	}
	if one := [2]byte{1, 0}; *(*uint16)(bytesPointer(one[:])) != 1 {
		return errors.New("the oracle needs a little-endian machine")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return errors.New("the oracle needs the command ip")
	}
	return InNamespace(func() error {
		s, err := openSocket(0)
		if err != nil {
			return fmt.Errorf("no netfilter netlink: %w", err)
		}
		defer s.close()
		if _, err := s.dump(getTables()); err != nil {
			return fmt.Errorf("no nf_tables: %w", err)
		}
		return nil
	})
}

// InNamespace runs a function in a new network namespace, which ends with it.
// The function's goroutine keeps a thread for itself; it must not hand work
// that is to happen in the namespace to others.
// The error is that of netns.Available where none can be made.
func InNamespace(work func() error) error {
	if err := netns.Available(); err != nil {
		return err
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- fmt.Errorf("new network namespace: %w", err)
			return
		}
		done <- work()
	}()
	return <-done
}

// errOutside refuses to set up the namespace that the process itself lives in.
var errOutside = errors.New("not in a namespace of its own: labs belong into InNamespace")

// outside is the namespace that the process started in.
var outside = namespace()

// namespace names the calling thread's network namespace, "" if /proc does not
// tell.
func namespace() string {
	name, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return ""
	}
	return name
}

// inside tells whether the calling goroutine is one of InNamespace.
func inside() bool { return outside != "" && namespace() != outside }

// sysctl writes a setting below /proc/sys/net of the calling thread's
// namespace.
func sysctl(name, value string) error {
	return os.WriteFile("/proc/sys/net/"+name, []byte(value), 0)
}

// tool runs a program in the namespace and returns what it prints.
func tool(input string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return out, nil
}
