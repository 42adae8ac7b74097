package pipapo

import (
	"fmt"
	"slices"
	"sync/atomic"

	"verdict/set/elem"
)

// Set is a set of concatenated ranges whose lookups cost nearly the same for
// a thousand elements as for a million, and whose transactions copy only what
// they change. It behaves in every respect like Plain. It implements
// elem.Backend: one goroutine may write, any number may read without waiting.
type Set struct {
	live atomic.Pointer[Table]

	layout *layout
	next   *Table
	owner  uint64
	// churn is the number of single changes in the transaction, stale that of
	// all since the tables were built at once.
	churn, stale int
	order        uint64
	gc           int64
	lastGC       int64
	timed        bool
}

// New returns an empty set for the description, which must be a concatenation
// with ranges, of 2 to 16 fields of at most 16 bytes.
func New(d *elem.Desc) (*Set, error) {
	if err := checkDesc(d); err != nil {
		return nil, err
	}
	s := &Set{layout: newLayout(d), gc: d.GC(), timed: d.Flags&elem.Timeout != 0}
	s.live.Store(s.empty())
	return s, nil
}

func (s *Set) empty() *Table {
	return &Table{layout: s.layout, timed: s.timed, soonest: never}
}

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

// begin returns the writer of the transaction.
func (s *Set) begin() writer {
	if s.next == nil {
		s.owner++
		t := *s.live.Load()
		s.next = &t
	}
	return writer{Table: s.next, owner: s.owner}
}

// Insert implements elem.Backend, with the semantics of Plain.Insert.
func (s *Set) Insert(e *elem.Entry, now int64) (*elem.Entry, error) {
	if len(e.Key()) != s.layout.keyLen || len(e.Last()) != s.layout.keyLen || e.Flags != 0 {
		return nil, fmt.Errorf("%w: keys have %d bytes", elem.ErrInvalid, s.layout.keyLen)
	}
	t := s.state()
	if old := t.lookupString(e.Key(), now); old != nil {
		return old, cornerError(old, e)
	}
	if e.HasEnd() {
		if old := t.lookupString(e.KeyEnd(), now); old != nil {
			return old, fmt.Errorf("%w: it ends inside", elem.ErrNotEmpty)
		}
	}
	if !s.layout.valid(e) {
		return nil, fmt.Errorf("%w: in a field the start is above the end", elem.ErrInvalid)
	}
	s.order++
	e.Order = s.order
	w := s.begin()
	w.add(e)
	s.churn++
	return nil, nil
}

// InsertAll implements elem.Backend. A batch that is large beside what the set
// holds already is built at once, in a fraction of the time.
//
// A build that meets an element that is in the way is in vain. So the first
// elements are inserted one by one, and each build is limited by what the set
// holds by then: a caller who goes on behind every duplicate of a long list
// pays no more than some builds.
func (s *Set) InsertAll(es []*elem.Entry, now int64) (int, *elem.Entry, error) {
	const tryFirst, perBuild = 64, 64
	done, old, err := elem.InsertEach(s, es[:min(len(es), s.state().n/8+tryFirst)], now)
	for err == nil && done < len(es) {
		n := s.state().n
		part := es[done:min(len(es), done+perBuild*n)]
		var k int
		if len(part) < n/4 {
			k, old, err = elem.InsertEach(s, part, now)
		} else {
			k, old, err = s.build(part, now)
		}
		done += k
	}
	return done, old, err
}

// build is InsertAll by a bulk build.
func (s *Set) build(es []*elem.Entry, now int64) (int, *elem.Entry, error) {
	// What is wrong with an element alone is found by inserting it; those in
	// front of the first such one are built.
	sound := slices.IndexFunc(es, func(e *elem.Entry) bool {
		return len(e.Key()) != s.layout.keyLen || len(e.Last()) != s.layout.keyLen || e.Flags != 0 || !s.layout.valid(e)
	})
	if sound < 0 {
		sound = len(es)
	}
	base := s.state().elements()
	s.fill(base, es[:sound])
	s.churn = 0
	clash := s.firstClash(es[:sound], now)
	if clash == len(es) {
		return clash, nil, nil
	}
	if clash < sound { // what follows must not be there
		s.fill(base, es[:clash])
	}
	old, err := s.Insert(es[clash], now)
	return clash, old, err
}

// fill makes the prepared state of the elements of base, and es after them.
func (s *Set) fill(base, es []*elem.Entry) {
	all := append(make([]*elem.Entry, 0, len(base)+len(es)), base...)
	for _, e := range es {
		s.order++
		e.Order = s.order
		all = append(all, e)
	}
	w := s.begin()
	w.rebuild(all)
}

// firstClash returns the first of the elements, all of which are in the
// prepared state, that could not have been inserted: the first for which an
// earlier element holds one of its corners.
func (s *Set) firstClash(es []*elem.Entry, now int64) int {
	const burst = 32
	var found [2 * burst]*elem.Entry
	size := s.layout.keyLen
	keys := make([]byte, 0, 2*burst*size)
	for i := 0; i < len(es); i += burst {
		part := es[i:min(i+burst, len(es))]
		keys = keys[:0]
		for _, e := range part {
			keys = append(append(keys, e.Key()...), e.Last()...)
		}
		s.next.LookupBatch(keys, size, now, found[:2*len(part)])
		for j, e := range part {
			for _, old := range found[2*j : 2*j+2] {
				if old != nil && old.Order < e.Order {
					return i + j
				}
			}
		}
	}
	return len(es)
}

// Find implements elem.Backend: the element at e's start, whatever its end.
func (s *Set) Find(e *elem.Entry, now int64) *elem.Entry {
	return s.state().lookupString(e.Key(), now)
}

// Delete implements elem.Backend, with the semantics of Plain.Delete.
func (s *Set) Delete(e *elem.Entry, now int64) (*elem.Entry, error) {
	old := s.Find(e, now)
	if old == nil {
		return nil, elem.ErrNoEntry
	}
	w := s.begin()
	w.remove(old)
	s.churn++
	return old, nil
}

// Get implements elem.Backend.
func (s *Set) Get(e *elem.Entry, now int64) *elem.Entry {
	return s.live.Load().lookupString(e.Key(), now)
}

// Retime implements elem.Backend.
func (s *Set) Retime(e *elem.Entry, timeout, expires int64) {
	had := e.Timeout() != 0
	e.SetTimeout(timeout, expires)
	w := s.begin()
	if timeout != 0 && !had && w.remove(e) {
		w.add(e) // buckets know which elements have a timeout
	}
	if timeout != 0 {
		w.soonest = min(w.soonest, expires)
	}
}

// Flush implements elem.Backend.
func (s *Set) Flush() {
	s.owner++
	s.next, s.churn = s.empty(), 0
}

// Commit implements elem.Backend.
func (s *Set) Commit(now int64) []*elem.Entry {
	if s.next == nil {
		return nil
	}
	var gone []*elem.Entry
	if s.timed && now-s.lastGC >= s.gc {
		s.lastGC = now
		if s.next.soonest <= now {
			gone = s.collect(now)
		}
	}
	s.even()
	s.live.Store(s.next)
	s.next, s.churn = nil, 0
	return gone
}

// even builds the prepared tables again if single changes have left the cells
// uneven: after as many in this transaction, or a multiple of them in several,
// that the build costs little beside them.
func (s *Set) even() {
	const few, perBuild = 1024, 4
	s.stale += s.churn
	n := s.next.n
	if (s.churn >= few && s.churn >= n/2) || (s.stale >= few && s.stale >= perBuild*n) {
		w := s.begin()
		w.rebuild(w.elements())
		s.stale = 0
	}
}

// collect removes the expired elements from the prepared state.
func (s *Set) collect(now int64) []*elem.Entry {
	var gone, kept []*elem.Entry
	soonest := int64(never)
	for _, e := range s.next.elements() {
		if e.Expired(now) {
			gone = append(gone, e)
			continue
		}
		kept = append(kept, e)
		if e.Timeout() != 0 {
			soonest = min(soonest, e.Expires())
		}
	}
	w := s.begin()
	if len(gone) >= len(kept)/8 {
		w.rebuild(kept)
		return gone
	}
	for _, e := range gone {
		w.remove(e)
	}
	s.next.soonest = soonest
	return gone
}

// Abort implements elem.Backend.
func (s *Set) Abort() { s.next, s.churn = nil, 0 }

// Stats implements elem.Backend.
func (s *Set) Stats() elem.Stats {
	t := s.live.Load()
	return elem.Stats{Structure: t.structure(), Elements: t.n, Bytes: t.bytes()}
}

var _ elem.Backend = (*Set)(nil)
