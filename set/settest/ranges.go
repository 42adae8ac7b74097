package settest

import (
	"slices"
	"strings"

	"verdict/set/elem"
)

// ranges models a set of ranges whose starts and ends are elements. It always
// works on whole ranges: rng pairs each start with the end that follows it.
type ranges struct {
	s     state
	anon  bool
	exist *elem.Entry // the element that the last start met
	gone  *elem.Entry // the end that must be deleted next
	begun bool        // a start was deleted
	now   int64
}

func newRanges(anon bool) *ranges {
	m := &ranges{anon: anon}
	m.s.reset = func() { m.exist, m.gone, m.begun = nil, nil, false }
	return m
}

func (m *ranges) state() *state { return &m.s }

// sorted returns the elements of list that do not belong to an expired range,
// ascending, an end before a start with the same key.
func sorted(list []*elem.Entry, now int64) []*elem.Entry {
	all := slices.Clone(list)
	slices.SortFunc(all, compareEnds)
	var a []*elem.Entry
	for i, e := range all {
		if e.Expired(now) {
			continue
		}
		if e.IsEnd() && i > 0 && !all[i-1].IsEnd() && all[i-1].Expired(now) {
			continue
		}
		a = append(a, e)
	}
	return a
}

func compareEnds(a, b *elem.Entry) int {
	if c := strings.Compare(a.Key(), b.Key()); c != 0 {
		return c
	}
	switch {
	case a.IsEnd() == b.IsEnd():
		return 0
	case a.IsEnd():
		return -1
	}
	return 1
}

func (m *ranges) lookup(list []*elem.Entry, key string, now int64) *elem.Entry {
	var at *elem.Entry
	for _, e := range sorted(list, now) {
		if e.Key() <= key {
			at = e
		}
	}
	if at == nil || at.IsEnd() {
		return nil
	}
	return at
}

// around returns the neighbours of e in the sequence, and the one at its place.
func (m *ranges) around(e *elem.Entry, now int64) (below, same, above *elem.Entry) {
	for _, x := range sorted(m.s.next, now) {
		switch c := compareEnds(x, e); {
		case c < 0:
			below = x
		case c == 0:
			same = x
		case above == nil:
			above = x
		}
	}
	return below, same, above
}

func (m *ranges) tick(now int64) {
	if now != m.now {
		m.s.reset()
		m.now = now
	}
}

func (m *ranges) insert(e *elem.Entry, now int64) error {
	m.tick(now)
	below, same, above := m.around(e, now)
	exist := m.exist
	m.exist = nil
	isEnd := func(x *elem.Entry) bool { return x != nil && x.IsEnd() }
	if !e.IsEnd() {
		if same != nil {
			m.exist = same
			return elem.ErrExist
		}
		if !m.anon && below != nil && !below.IsEnd() {
			return elem.ErrNotEmpty
		}
	} else {
		switch {
		case same != nil && strings.Trim(e.Key(), "\x00") == "":
			return elem.ErrCanceled
		case same != nil && exist != nil && below == exist:
			return elem.ErrExist
		case same != nil, exist != nil && m.anon, isEnd(below), isEnd(above):
			return elem.ErrNotEmpty
		}
	}
	// Elements of expired ranges that e would be taken for one of, or would
	// break up, are gone for good.
	m.s.next = sorted(m.s.next, now)
	m.s.next = append(m.s.next, e)
	return nil
}

func (m *ranges) find(e *elem.Entry, now int64) *elem.Entry {
	_, same, _ := m.around(e, now)
	return same
}

func (m *ranges) delete(e *elem.Entry, now int64) (*elem.Entry, error) {
	m.tick(now)
	_, same, above := m.around(e, now)
	if same == nil {
		return nil, elem.ErrNoEntry
	}
	if e.IsEnd() {
		if m.begun && m.gone != same && strings.Trim(e.Key(), "\x00") != "" {
			return nil, elem.ErrNoEntry
		}
		m.begun = false
	} else {
		m.begun, m.gone = true, nil
		if above != nil && above.IsEnd() {
			m.gone = above
		}
	}
	m.s.drop(same)
	return same, nil
}

func (m *ranges) order(list []*elem.Entry) bool {
	slices.SortFunc(list, func(a, b *elem.Entry) int { return compareEnds(b, a) })
	return true
}

// whole returns the range that e starts or ends, start first.
func (m *ranges) whole(e *elem.Entry, now int64) []*elem.Entry {
	below, _, above := m.around(e, now)
	switch {
	case !e.IsEnd() && above != nil && above.IsEnd():
		return []*elem.Entry{e, above}
	case e.IsEnd() && below != nil && !below.IsEnd():
		return []*elem.Entry{below, e}
	}
	return []*elem.Entry{e}
}
