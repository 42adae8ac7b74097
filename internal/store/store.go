package store

import (
	"os"
	"path/filepath"
	"time"

	"verdict/nft/ruleset"
)

// Options of a store.
type Options struct {
	// Wait bounds the waiting for other callers, 0: 10 seconds.
	Wait time.Duration
	// Now is the clock in nanoseconds since the epoch, by which elements
	// expire; nil is the system's.
	Now func() int64
}

// Store is a state file. It is not safe for concurrent use; other processes,
// and other Stores on the same file, are.
type Store struct {
	path  string
	wait  time.Duration
	now   func() int64
	state State
	file  file

	follow Follower
	opened *os.File // that is followed
}

const defaultWait = 10 * time.Second

// Open returns the store of a path. Nothing is read yet; a file that does not
// exist is an empty ruleset.
func Open(path string, o Options) *Store {
	s := &Store{path: linkTarget(path), wait: o.Wait, now: o.Now}
	if s.wait == 0 {
		s.wait = defaultWait
	}
	if s.now == nil {
		s.now = func() int64 { return time.Now().UnixNano() }
	}
	s.forget()
	return s
}

// Path is the file's name.
func (s *Store) Path() string { return s.path }

// forget starts from an empty ruleset.
func (s *Store) forget() {
	s.state = State{Rules: &ruleset.Ruleset{}}
	s.file = file{}
}

// Read gives the present state. Cost: that of reading what others wrote since
// the last call.
func (s *Store) Read() (State, error) {
	unlock, err := s.lock(false)
	if err != nil {
		return State{}, err
	}
	defer unlock()
	if err := s.load(); err != nil {
		return State{}, err
	}
	return s.state, nil
}

// Update makes a transaction while no other caller can: change gets the
// present state and returns what became of it, nil for nothing. When Update
// returns without error the transaction is on disk. The error of change is
// returned as it is; the transaction that comes with it is kept nevertheless,
// so that a refused batch can leave the handles that it drew.
func (s *Store) Update(change func(State) (*Transaction, error)) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	unlock, err := s.lock(true)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.load(); err != nil {
		return err
	}
	t, refused := change(s.state)
	if t == nil || t.empty(&s.state) {
		return refused
	}
	if err := s.keep(t); err != nil {
		return err
	}
	return refused
}

// keep writes a transaction.
func (s *Store) keep(t *Transaction) error {
	record := t.record(nil)
	var err error
	if s.file.info == nil || !s.file.schema.same {
		err = s.rewrite(&s.state, record)
	} else {
		err = s.append(record)
	}
	if err != nil {
		return err
	}
	s.state.Rules = t.Next
	s.state.Interfaces = append(s.state.Interfaces[:len(s.state.Interfaces):len(s.state.Interfaces)], t.Interfaces...)
	s.state.Sequence++
	if s.large() {
		// The transaction is kept already; a journal that stays long costs
		// time at the next call and nothing else.
		_ = s.rewrite(&s.state, nil)
	}
	return nil
}

// The journal is folded when reading it would take longer than reading the
// snapshot that replaces it.
const (
	maxJournal = 256 << 10
	maxRecords = 256
)

func (s *Store) large() bool {
	journal := s.file.end - s.file.snapshot
	return s.file.records >= maxRecords || journal > maxJournal && journal > s.file.snapshot
}
