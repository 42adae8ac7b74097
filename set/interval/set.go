package interval

import (
	"fmt"
	"sync/atomic"

	"verdict/set/elem"
)

// Set is a set of ranges. It implements elem.Backend.
type Set struct {
	live atomic.Pointer[Table]

	next   *Table
	added  int // elements that the transaction inserted
	owner  uint64
	klen   int
	timed  bool
	anon   bool
	gc     int64
	lastGC int64
	// gone are expired elements that the transaction pushed aside.
	gone []*elem.Entry
	pair pairing
}

// pairing remembers the start of the range whose end comes next.
//
// Ref: nft_set_rbtree.c, start_rbe_cookie
type pairing struct {
	now int64
	// exists is the element that an inserted start found in its place.
	exists *elem.Entry
	// deleted tells that a start was deleted, and end the end of its range.
	deleted bool
	end     *elem.Entry
}

// New returns an empty set for the description.
func New(d *elem.Desc) (*Set, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if len(d.Fields) > 1 || d.Flags&elem.Eval != 0 {
		return nil, fmt.Errorf("%w: an interval set has one field and no packet-path updates", elem.ErrUnsupported)
	}
	s := &Set{
		klen: d.KeyLen, gc: d.GC(),
		timed: d.Flags&elem.Timeout != 0,
		anon:  d.Flags&elem.Anonymous != 0,
	}
	s.live.Store(s.empty())
	return s, nil
}

func (s *Set) empty() *Table { return &Table{klen: s.klen, timed: s.timed, soonest: never} }

// Lookup implements elem.Backend.
func (s *Set) Lookup(key []byte, now int64) *elem.Entry { return s.live.Load().Lookup(key, now) }

// LookupBatch looks up a burst in the live state, see elem.View.
func (s *Set) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	s.live.Load().LookupBatch(keys, stride, now, found)
}

// Live implements elem.Backend.
func (s *Set) Live() elem.View { return s.live.Load() }

// Next implements elem.Backend.
func (s *Set) Next() elem.View { return s.state() }

func (s *Set) state() *Table {
	if s.next != nil {
		return s.next
	}
	return s.live.Load()
}

func (s *Set) begin() *Table {
	if s.next == nil {
		s.owner++
		s.next = s.live.Load().clone()
	}
	return s.next
}

// Flush implements elem.Backend.
func (s *Set) Flush() {
	s.owner++
	s.next = s.empty()
	s.pair = pairing{}
}

// Commit implements elem.Backend.
func (s *Set) Commit(now int64) []*elem.Entry {
	if s.timed && now-s.lastGC >= s.gc {
		s.lastGC = now
		if s.state().soonest <= now {
			s.sweep(now)
		}
	}
	gone := s.gone
	if s.next != nil {
		if s.added >= packFrom && s.added >= s.next.n/4 {
			s.next.pack(s.owner)
		}
		s.live.Store(s.next)
	}
	s.Abort()
	return gone
}

// Abort implements elem.Backend.
func (s *Set) Abort() { s.next, s.gone, s.pair, s.added = nil, nil, pairing{}, 0 }

// Stats implements elem.Backend.
func (s *Set) Stats() elem.Stats {
	t := s.live.Load()
	return elem.Stats{Structure: "sorted leaves", Elements: t.Len(), Bytes: t.bytes()}
}

// Get implements elem.Backend: the start of the range that holds e's key, or
// if e is flagged as an end, the end of the range that e ends in.
//
// Ref: nft_set_rbtree.c, nft_rbtree_get
func (s *Set) Get(e *elem.Entry, now int64) *elem.Entry {
	t := s.live.Load()
	key := []byte(e.Key())
	if !e.IsEnd() {
		return t.Lookup(key, now)
	}
	if len(key) != t.klen {
		return nil
	}
	p, ok := t.floor(e)
	if ok && t.hasKey(p, e, numberOf(key)) && t.isEnd(p) {
		if !t.dead(p, now) {
			return t.at(p)
		}
		return nil
	}
	next := position{}
	if ok {
		next = t.after(p)
	}
	if t.isEnd(next) && !t.dead(next, now) {
		return t.at(next)
	}
	return nil
}

// dead tells whether the element at p belongs to an expired range.
func (t *Table) dead(p position, now int64) bool {
	if t.isEnd(p) {
		p = t.before(p)
	}
	return t.isStart(p) && t.at(p).Expired(now)
}

// floor returns the position of the last element that is not above e in the
// order of the sequence.
func (t *Table) floor(e *elem.Entry) (position, bool) {
	var buf [elem.MaxKeyLen]byte
	key := buf[:copy(buf[:], e.Key())]
	n := numberOf(key)
	p, ok := t.last(n, key)
	if !ok || !e.IsEnd() {
		return p, ok
	}
	// An end lies before a start with the same key.
	if t.isStart(p) && t.hasKey(p, e, n) {
		p = t.before(p)
	}
	return p, p.leaf >= 0
}

var _ elem.Backend = (*Set)(nil)
