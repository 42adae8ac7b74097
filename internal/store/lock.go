package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// LockError says that a state file stayed in use for too long.
type LockError struct {
	Path   string
	Holder int // process, 0 if unknown
	Waited time.Duration
}

func (e *LockError) Error() string {
	who := "another process"
	if e.Holder != 0 {
		who = fmt.Sprintf("process %d", e.Holder)
	}
	return fmt.Sprintf("state file %s is in use by %s; waited %v for it", e.Path, who, e.Waited)
}

// errLocked is that of takeLock where somebody else has the lock.
var errLocked = errors.New("locked")

// lock takes the lock beside the file, shared with other readers or alone. The
// returned function gives it back. A reader that may not write there reads
// without it.
func (s *Store) lock(alone bool) (func(), error) {
	if err := s.checkKind(); err != nil {
		return nil, err
	}
	name := s.path + ".lock"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if !alone && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)) {
			return func() {}, nil
		}
		return nil, err
	}
	if err := s.await(f, alone); err != nil {
		return nil, err
	}
	if alone {
		writeHolder(f)
	}
	return func() { f.Close() }, nil
}

// checkKind refuses what is there but no regular file: a device would be
// replaced by the state file, and opening a pipe would wait for a writer.
func (s *Store) checkKind() error {
	info, err := os.Stat(s.path)
	if err != nil || info.Mode().IsRegular() {
		return nil // what is wrong with the name shows when it is opened
	}
	if info.IsDir() {
		return fmt.Errorf("state file %s: is a directory", s.path)
	}
	return fmt.Errorf("state file %s: not a regular file", s.path)
}

// await takes the lock of an open file, and closes the file where that fails.
// Those who wait get it in turn, so that nobody waits for ever behind others
// who come again and again.
func (s *Store) await(f *os.File, alone bool) error {
	err := takeLock(f, alone, false)
	if err == nil {
		return nil
	}
	if !errors.Is(err, errLocked) {
		f.Close()
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	taken, given := make(chan error), make(chan struct{})
	go func() {
		err := takeLock(f, alone, true)
		select {
		case taken <- err:
		case <-given: // nobody waits for it any more
			f.Close()
		}
	}()
	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case err := <-taken:
		if err != nil {
			f.Close()
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		return nil
	case <-timer.C:
		close(given)
		return &LockError{s.path, readHolder(s.path + ".lock"), s.wait}
	}
}

// writeHolder notes who holds the lock, for the message to those who wait.
func writeHolder(f *os.File) {
	text := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(text), 0); err == nil {
		_ = f.Truncate(int64(len(text))) // only a message depends on it
	}
}

func readHolder(name string) int {
	text, err := os.ReadFile(name)
	if err != nil || len(text) > 32 {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}
