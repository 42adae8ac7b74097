package store

import "time"

// Lock takes the lock beside a state file that is not a Store's, alone or
// shared with other readers, waiting as a Store does. The returned function
// gives it back. The error is a *LockError where somebody else keeps it.
func Lock(path string, alone bool) (release func(), err error) {
	s := &Store{path: linkTarget(path), wait: defaultWait, now: func() int64 { return time.Now().UnixNano() }}
	return s.lock(alone)
}
