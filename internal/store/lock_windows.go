package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// takeLock takes the lock of an open file. Without wait it gives errLocked
// where another has it. Closing the file, also by the end of the process,
// gives it back. The locked byte lies far behind the content, which stays
// readable.
func takeLock(f *os.File, alone, wait bool) error {
	var flags uint32
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
