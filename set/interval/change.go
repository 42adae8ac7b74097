package interval

import (
	"fmt"

	"verdict/set/elem"
)

// Insert implements elem.Backend. A range is inserted as its start, then its
// end.
//
//   - A start where a range starts already: ErrExist. Its end must then be the
//     end of that range (ErrExist), else ErrNotEmpty.
//   - A start inside a range: ErrNotEmpty, except in anonymous sets.
//   - An end inside or behind another range: ErrNotEmpty.
//   - The end with an all-zero key, which user space puts in front of the first
//     range, a second time: ErrCanceled, which stands for success.
//
// Ref: nft_set_rbtree.c, nft_rbtree_insert
func (s *Set) Insert(e *elem.Entry, now int64) (*elem.Entry, error) {
	if !s.takes(e) {
		return nil, fmt.Errorf("%w: an interval set holds starts and ends of %d bytes", elem.ErrInvalid, s.klen)
	}
	if s.pair.now != now {
		s.pair = pairing{now: now}
	}
	p := s.freshen(e, now)
	t := s.state()
	same := t.isEnd(p) == e.IsEnd() && t.hasKey(p, e, numberOfEntry(e))
	var err error
	if e.IsEnd() {
		err = s.checkEnd(e, p, same)
	} else {
		err = s.checkStart(p, same)
	}
	if err != nil {
		return t.at(p), err
	}
	s.begin().insertAfter(p, e, s.owner)
	s.added++
	return nil, nil
}

// takes reports whether an element is a start or an end.
func (s *Set) takes(e *elem.Entry) bool {
	return len(e.Key()) == s.klen && !e.HasEnd() && e.Flags&^elem.IntervalEnd == 0
}

func (s *Set) checkStart(p position, same bool) error {
	s.pair.exists = nil
	t := s.state()
	if same {
		s.pair.exists = t.at(p)
		return elem.ErrExist
	}
	if !s.anon && t.isStart(p) {
		return fmt.Errorf("%w: it starts inside", elem.ErrNotEmpty)
	}
	return nil
}

func (s *Set) checkEnd(e *elem.Entry, p position, same bool) error {
	exists := s.pair.exists
	s.pair.exists = nil
	t := s.state()
	switch {
	case same && zero(e.Key()):
		return elem.ErrCanceled
	case same && exists != nil && t.at(t.before(p)) == exists:
		return elem.ErrExist
	case same, exists != nil && s.anon:
		return fmt.Errorf("%w: its end is that of another range", elem.ErrNotEmpty)
	case t.isEnd(p), t.isEnd(t.follow(p)):
		return fmt.Errorf("%w: it ends inside or behind another range", elem.ErrNotEmpty)
	}
	return nil
}

func zero(key string) bool {
	for i := range len(key) {
		if key[i] != 0 {
			return false
		}
	}
	return true
}

// follow returns the position behind p, where p may be in front of the first.
func (t *Table) follow(p position) position {
	if p.leaf < 0 {
		return position{0, 0}
	}
	return t.after(p)
}

// freshen removes the expired ranges beside the place of e and returns the
// position of the last element that is not above e.
func (s *Set) freshen(e *elem.Entry, now int64) position {
	for {
		t := s.state()
		p, ok := t.floor(e)
		if !ok {
			p = position{-1, 0}
		}
		if !s.timed {
			return p
		}
		switch q := t.follow(p); {
		case ok && t.dead(p, now):
			s.dropRange(p)
		case t.holds(q) && t.dead(q, now):
			s.dropRange(q)
		default:
			return p
		}
	}
}

// dropRange removes the expired range whose start or end lies at p.
func (s *Set) dropRange(p position) {
	t := s.begin()
	if t.isEnd(p) {
		p = t.before(p)
	}
	s.gone = append(s.gone, t.at(p))
	if q := t.after(p); t.isEnd(q) {
		s.gone = append(s.gone, t.at(q))
		t.remove(q, s.owner)
	}
	t.remove(p, s.owner)
}

// InsertAll implements elem.Backend.
func (s *Set) InsertAll(es []*elem.Entry, now int64) (int, *elem.Entry, error) {
	return elem.InsertEach(s, es, now)
}

// Delete implements elem.Backend. A range is deleted as its start, then its
// end, which must be the end of the same range.
//
// Ref: nft_set_rbtree.c, nft_rbtree_deactivate
func (s *Set) Delete(e *elem.Entry, now int64) (*elem.Entry, error) {
	if len(e.Key()) != s.klen {
		return nil, elem.ErrNoEntry
	}
	if s.pair.now != now {
		s.pair = pairing{now: now}
	}
	t := s.state()
	p, ok := t.exact(e, now)
	if !ok {
		return nil, elem.ErrNoEntry
	}
	old := t.at(p)
	if e.IsEnd() {
		if s.pair.deleted && s.pair.end != old && !zero(e.Key()) {
			return nil, fmt.Errorf("%w: its end is that of another range", elem.ErrNoEntry)
		}
		s.pair.deleted = false
	} else {
		s.pair.deleted, s.pair.end = true, nil
		if next := t.after(p); t.isEnd(next) {
			s.pair.end = t.at(next)
		}
	}
	s.begin().remove(p, s.owner)
	return old, nil
}

// Find implements elem.Backend.
func (s *Set) Find(e *elem.Entry, now int64) *elem.Entry {
	if p, ok := s.state().exact(e, now); ok {
		return s.state().at(p)
	}
	return nil
}

// exact returns the position of the element with e's key and flags, unless
// its range is expired.
func (t *Table) exact(e *elem.Entry, now int64) (position, bool) {
	p, ok := t.floor(e)
	if !ok || !t.hasKey(p, e, numberOfEntry(e)) || t.isEnd(p) != e.IsEnd() || t.dead(p, now) {
		return p, false
	}
	return p, true
}

// Retime implements elem.Backend.
func (s *Set) Retime(e *elem.Entry, timeout, expires int64) {
	e.SetTimeout(timeout, expires)
	if t := s.begin(); timeout != 0 {
		t.soonest = min(t.soonest, expires)
	}
}

// sweep removes all expired ranges from the prepared state.
func (s *Set) sweep(now int64) {
	t := s.begin()
	fresh := s.empty()
	tail := position{-1, 0}
	dropped := false
	for _, l := range t.leaves {
		for _, e := range l.ents[:l.n] {
			switch {
			case !e.IsEnd() && e.Expired(now):
				dropped = true
				s.gone = append(s.gone, e)
			case dropped && e.IsEnd():
				dropped = false
				s.gone = append(s.gone, e)
			default:
				dropped = false
				fresh.insertAfter(tail, e, s.owner)
				last := len(fresh.leaves) - 1
				tail = position{last, fresh.leaves[last].n - 1}
			}
		}
	}
	s.next = fresh
}
