package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"verdict/nft/ruleset"
)

// ErrMissed says that transactions were folded into a new file before they
// could be read.
var ErrMissed = errors.New("transactions were missed: the state file was replaced meanwhile")

// Follow reads the present state and has a follower told of the transactions
// that come after it, whenever CatchUp is called.
func (s *Store) Follow(f Follower) error {
	unlock, err := s.lock(false)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.load(); err != nil {
		return err
	}
	s.follow = f
	return s.hold()
}

// hold keeps the file open, so that its end can still be read when another
// file has taken its name.
func (s *Store) hold() error {
	if s.opened != nil {
		s.opened.Close()
		s.opened = nil
	}
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.opened = f
	return err
}

// CatchUp reads what was written since the last call. Transactions of a file
// that was replaced meanwhile are read from the old one first. The error is
// ErrMissed if some were not to be had; the state is up to date nevertheless.
func (s *Store) CatchUp() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case s.file.info != nil && os.SameFile(info, s.file.info) && info.Size() == s.file.end:
		return nil
	}
	unlock, err := s.lock(false)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.drain(); err != nil {
		return err
	}
	sequence := s.state.Sequence
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return err
	}
	if s.file.info != nil && os.SameFile(info, s.file.info) {
		return nil // drained
	}
	return s.changeFile(f, info, sequence)
}

// drain reads the rest of the file that is held.
func (s *Store) drain() error {
	if s.opened == nil || s.file.info == nil {
		return nil
	}
	info, err := s.opened.Stat()
	if err != nil {
		return err
	}
	return s.readJournal(s.opened, info)
}

// changeFile goes over to a file that took the place of the one that was read
// up to a sequence number. Only the journal behind that number is new.
func (s *Store) changeFile(f *os.File, info os.FileInfo, sequence uint64) error {
	follow := s.follow
	defer func() { s.follow = follow }()
	s.follow = func(t *Transaction, events []ruleset.Event, made []Interface) {
		if s.state.Sequence > sequence {
			follow(t, events, made)
		}
	}
	if err := s.readAll(f, info); err != nil {
		return err
	}
	if err := s.hold(); err != nil {
		return err
	}
	if s.file.folded > sequence {
		return fmt.Errorf("%w (%d)", ErrMissed, s.file.folded-sequence)
	}
	return nil
}
