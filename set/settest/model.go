package settest

import (
	"errors"
	"slices"

	"verdict/set/elem"
)

// model is the plainest set there is: lists that every operation goes through.
type model interface {
	insert(e *elem.Entry, now int64) error
	find(e *elem.Entry, now int64) *elem.Entry
	delete(e *elem.Entry, now int64) (*elem.Entry, error)
	lookup(list []*elem.Entry, key string, now int64) *elem.Entry
	// order sorts a list as Walk would visit it; false if any order will do.
	order(list []*elem.Entry) bool
	state() *state
}

// state is the elements in the order of insertion, live and prepared.
type state struct {
	live, next []*elem.Entry
	reset      func() // forgets what a model keeps about a transaction
}

func (s *state) commit() {
	s.live = slices.Clone(s.next)
	s.reset()
}

func (s *state) abort() {
	s.next = slices.Clone(s.live)
	s.reset()
}

func (s *state) flush() {
	s.next = nil
	s.reset()
}

func (s *state) drop(e *elem.Entry) {
	s.next = slices.DeleteFunc(s.next, func(x *elem.Entry) bool { return x == e })
}

func alive(list []*elem.Entry, now int64) []*elem.Entry {
	var a []*elem.Entry
	for _, e := range list {
		if !e.Expired(now) {
			a = append(a, e)
		}
	}
	return a
}

// single models a set of single keys.
type single struct{ s state }

func newSingle() *single { return &single{state{reset: func() {}}} }

func (m *single) state() *state { return &m.s }

func (m *single) find(e *elem.Entry, now int64) *elem.Entry {
	return m.lookup(m.s.next, e.Key(), now)
}

func (m *single) insert(e *elem.Entry, now int64) error {
	if m.find(e, now) != nil {
		return elem.ErrExist
	}
	m.s.next = append(m.s.next, e)
	return nil
}

func (m *single) delete(e *elem.Entry, now int64) (*elem.Entry, error) {
	old := m.find(e, now)
	if old == nil {
		return nil, elem.ErrNoEntry
	}
	m.s.drop(old)
	return old, nil
}

func (m *single) lookup(list []*elem.Entry, key string, now int64) *elem.Entry {
	for _, e := range list {
		if e.Key() == key && !e.Expired(now) {
			return e
		}
	}
	return nil
}

func (m *single) order([]*elem.Entry) bool { return false }

// boxes models a set of concatenated ranges.
type boxes struct {
	s      state
	fields []uint8
}

func newBoxes(fields []uint8) *boxes { return &boxes{state{reset: func() {}}, fields} }

func (m *boxes) state() *state { return &m.s }

func (m *boxes) holds(e *elem.Entry, key string) bool {
	at, low, high := 0, e.Key(), e.Last()
	for _, n := range m.fields {
		f := key[at : at+int(n)]
		if f < low[at:at+int(n)] || f > high[at:at+int(n)] {
			return false
		}
		at += elem.Padded(int(n))
	}
	return true
}

func (m *boxes) lookup(list []*elem.Entry, key string, now int64) *elem.Entry {
	for _, e := range list {
		if !e.Expired(now) && m.holds(e, key) {
			return e
		}
	}
	return nil
}

func (m *boxes) find(e *elem.Entry, now int64) *elem.Entry {
	return m.lookup(m.s.next, e.Key(), now)
}

func (m *boxes) insert(e *elem.Entry, now int64) error {
	if old := m.lookup(m.s.next, e.Key(), now); old != nil {
		if old.Key() == e.Key() && old.Last() == e.Last() {
			return elem.ErrExist
		}
		return elem.ErrNotEmpty
	}
	if m.lookup(m.s.next, e.Last(), now) != nil {
		return elem.ErrNotEmpty
	}
	at, low, high := 0, e.Key(), e.Last()
	for _, n := range m.fields {
		if low[at:at+int(n)] > high[at:at+int(n)] {
			return elem.ErrInvalid
		}
		at += elem.Padded(int(n))
	}
	m.s.next = append(m.s.next, e)
	return nil
}

func (m *boxes) delete(e *elem.Entry, now int64) (*elem.Entry, error) {
	old := m.find(e, now)
	if old == nil {
		return nil, elem.ErrNoEntry
	}
	m.s.drop(old)
	return old, nil
}

func (m *boxes) order([]*elem.Entry) bool { return true }

// sameError tells whether two errors have the same number.
func sameError(a, b error) bool {
	return (a == nil) == (b == nil) && elem.Errno(a) == elem.Errno(b) && (a == nil || errors.As(a, new(*elem.Error)))
}
