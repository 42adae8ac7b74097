//go:build unix && !solaris && !illumos && !aix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// takeLock takes the lock of an open file. Without wait it gives errLocked
// where another has it. Closing the file, also by the end of the process,
// gives it back.
func takeLock(f *os.File, alone, wait bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}
