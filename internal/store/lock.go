package store

import (
	"errors"
	"fmt"
	"io"
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

// errLocked is that of tryLock where somebody else has the lock.
var errLocked = errors.New("locked")

// How often a lock that is taken is tried again.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// lock takes the lock beside the file, shared with other readers or alone. The
// returned function gives it back. A reader that may not write there reads
// without it.
func (s *Store) lock(alone bool) (func(), error) {
	name := s.path + ".lock"
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if !alone && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)) {
			return func() {}, nil
		}
		return nil, err
	}
	started := time.Now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := tryLock(f, alone)
		if err == nil {
			break
		}
		if !errors.Is(err, errLocked) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if waited := time.Since(started); waited >= s.wait {
			holder := readHolder(f)
			f.Close()
			return nil, &LockError{s.path, holder, waited.Round(time.Millisecond)}
		}
		time.Sleep(pause)
	}
	if alone {
		writeHolder(f)
	}
	return func() { f.Close() }, nil
}

// writeHolder notes who holds the lock, for the message to those who wait.
func writeHolder(f *os.File) {
	text := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(text), 0); err == nil {
		_ = f.Truncate(int64(len(text))) // only a message depends on it
	}
}

func readHolder(f *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}
