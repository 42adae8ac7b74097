package hash

import (
	"fmt"
	"sync"
	"sync/atomic"

	"verdict/set/elem"
)

// Set is a hash set. It implements elem.Backend, and Update and Remove for
// the packet path.
type Set struct {
	live atomic.Pointer[Table]

	// mu orders the writers: transactions and new elements from packets.
	mu      sync.Mutex
	next    *Table // what the transaction prepared, nil if nothing
	owner   uint64 // number of the transaction, for the ownership of pages
	lastGC  int64
	gc      int64
	klen    int
	limit   int // highest number of elements that packets may fill, 0: none
	timed   bool
	seed    uint64
	value   int64 // default timeout
	dynamic bool  // packets change the set, so that views must follow it
	// replaced are expired elements in whose place the transaction put others.
	replaced []*elem.Entry
}

// New returns an empty set for the description.
func New(d *elem.Desc) (*Set, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.Flags&elem.Interval != 0 {
		return nil, fmt.Errorf("%w: ranges in a hash set", elem.ErrUnsupported)
	}
	s := &Set{
		gc: d.GC(), klen: d.KeyLen, limit: int(d.Size), value: d.Timeout,
		timed: d.Flags&elem.Timeout != 0, seed: d.Seed, owner: 1,
		dynamic: d.Flags&elem.Eval != 0,
	}
	s.live.Store(newTable(s.klen, s.timed, s.seed, 0))
	return s, nil
}

// Lookup implements elem.Backend.
func (s *Set) Lookup(key []byte, now int64) *elem.Entry { return s.live.Load().Lookup(key, now) }

// LookupBatch looks up a burst in the live state, see elem.View.
func (s *Set) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	s.live.Load().LookupBatch(keys, stride, now, found)
}

// Live implements elem.Backend. The view of a set that packets change (flag
// elem.Eval) follows the set.
func (s *Set) Live() elem.View {
	if s.dynamic {
		return following{s}
	}
	return s.live.Load()
}

// Next implements elem.Backend.
func (s *Set) Next() elem.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dynamic && s.next == nil {
		return following{s}
	}
	return s.state()
}

// following is the view of a set that packets change.
type following struct{ s *Set }

func (f following) Lookup(key []byte, now int64) *elem.Entry { return f.s.Lookup(key, now) }

func (f following) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	f.s.LookupBatch(keys, stride, now, found)
}

func (f following) Walk(visit func(*elem.Entry) bool) { f.s.live.Load().Walk(visit) }

func (f following) Len() int { return f.s.live.Load().Len() }

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

// Insert implements elem.Backend.
//
// Ref: nft_set_hash.c, nft_hash_insert, nft_rhash_insert
func (s *Set) Insert(e *elem.Entry, now int64) (*elem.Entry, error) {
	if len(e.Key()) != s.klen || e.HasEnd() || e.Flags != 0 {
		return nil, fmt.Errorf("%w: a hash set holds single keys of %d bytes", elem.ErrInvalid, s.klen)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var buf [elem.MaxKeyLen]byte
	key := buf[:copy(buf[:], e.Key())]
	if old := s.state().find(key); old != nil {
		if !s.timed || !old.Expired(now) {
			return old, elem.ErrExist
		}
		s.begin().replace(old, e, s.owner)
		s.replaced = append(s.replaced, old)
		return nil, nil
	}
	t := s.begin()
	w := word(key, s.seed)
	for t.full(place(w, s.seed)) {
		t = t.grown(s.owner)
	}
	t.put(e, w, s.owner)
	s.next = t
	return nil, nil
}

// InsertAll implements elem.Backend.
func (s *Set) InsertAll(es []*elem.Entry, now int64) (int, *elem.Entry, error) {
	return elem.InsertEach(s, es, now)
}

// Delete implements elem.Backend.
func (s *Set) Delete(e *elem.Entry, now int64) (*elem.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := lookupEntry(s.state(), e, now)
	if old == nil {
		return nil, elem.ErrNoEntry
	}
	s.begin().remove(old, s.owner)
	return old, nil
}

// Find implements elem.Backend.
func (s *Set) Find(e *elem.Entry, now int64) *elem.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return lookupEntry(s.state(), e, now)
}

func lookupEntry(t *Table, e *elem.Entry, now int64) *elem.Entry {
	if e.Flags != 0 {
		return nil
	}
	var buf [elem.MaxKeyLen]byte
	return t.Lookup(buf[:copy(buf[:], e.Key())], now)
}

// Get implements elem.Backend.
func (s *Set) Get(e *elem.Entry, now int64) *elem.Entry {
	return lookupEntry(s.live.Load(), e, now)
}

// Retime implements elem.Backend.
func (s *Set) Retime(e *elem.Entry, timeout, expires int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.SetTimeout(timeout, expires)
	s.begin().note(e)
}

// Flush implements elem.Backend.
func (s *Set) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner++
	s.next = newTable(s.klen, s.timed, s.seed, 0)
}

// Commit implements elem.Backend.
func (s *Set) Commit(now int64) []*elem.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := s.replaced
	s.replaced = nil
	if s.timed && now-s.lastGC >= s.gc {
		s.lastGC = now
		if s.state().soonest.Load() <= now {
			gone = append(gone, s.sweep(s.begin(), now)...)
		}
	}
	if s.next != nil {
		s.live.Store(s.next)
		s.next = nil
	}
	return gone
}

// Abort implements elem.Backend.
func (s *Set) Abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.replaced = nil, nil
}

// Stats implements elem.Backend.
func (s *Set) Stats() elem.Stats {
	t := s.live.Load()
	return elem.Stats{Structure: "hash pages", Elements: t.Len(), Bytes: t.bytes()}
}

// sweep removes the expired elements from t.
func (s *Set) sweep(t *Table, now int64) []*elem.Entry {
	var gone []*elem.Entry
	soonest := int64(never)
	t.Walk(func(e *elem.Entry) bool {
		switch {
		case e.Expired(now):
			gone = append(gone, e)
		case e.Timeout() != 0 && e.Expires() < soonest:
			soonest = e.Expires()
		}
		return true
	})
	for _, e := range gone {
		t.remove(e, s.owner)
	}
	t.soonest.Store(soonest)
	return gone
}

var _ elem.Backend = (*Set)(nil)
