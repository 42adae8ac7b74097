// Package bitmap is a set of keys of one or two bytes without data: the
// kernel's kind bitmap. A lookup is one bit test.
package bitmap

import (
	"fmt"
	"maps"
	"sync/atomic"

	"verdict/set/elem"
)

// Set is a bitmap set. It implements elem.Backend.
type Set struct {
	live atomic.Pointer[Table]
	next *Table
	klen int
}

// Table is one state of a set; it does not change once it is live.
type Table struct {
	klen  int
	bits  []uint64
	list  []*elem.Entry // in the order of insertion; nil where one was deleted
	index map[uint16]int
}

// New returns an empty set for the description.
func New(d *elem.Desc) (*Set, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.KeyLen > 2 || d.Flags&(elem.Interval|elem.Map|elem.Timeout|elem.Object|elem.Eval) != 0 || d.Exprs > 0 {
		return nil, fmt.Errorf("%w: a bitmap holds plain keys of one or two bytes", elem.ErrUnsupported)
	}
	s := &Set{klen: d.KeyLen}
	s.live.Store(newTable(d.KeyLen))
	return s, nil
}

func newTable(klen int) *Table {
	return &Table{klen: klen, bits: make([]uint64, (1<<(8*klen))/64), index: map[uint16]int{}}
}

// present is what lookups return: the kernel's elements of this kind carry
// nothing for the packet path either.
//
// Ref: nft_set_bitmap.c, nft_bitmap_lookup
var present elem.Entry

// Lookup implements elem.View. The entry it returns stands for any element.
func (t *Table) Lookup(key []byte, _ int64) *elem.Entry {
	if len(key) != t.klen {
		return nil
	}
	n := number(key)
	if int(n/64) < len(t.bits) && t.bits[n/64]>>(n%64)&1 != 0 {
		return &present
	}
	return nil
}

func number(key []byte) uint16 {
	if len(key) == 1 {
		return uint16(key[0])
	}
	return uint16(key[0]) | uint16(key[1])<<8
}

// LookupBatch implements elem.View.
func (t *Table) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	if stride < t.klen || len(found) > 0 && len(keys) < (len(found)-1)*stride+t.klen {
		clear(found)
		return
	}
	for i := range found {
		found[i] = t.Lookup(keys[i*stride:i*stride+t.klen], now)
	}
}

// Walk implements elem.View: in the order of insertion.
func (t *Table) Walk(visit func(*elem.Entry) bool) {
	for _, e := range t.list {
		if e != nil && !visit(e) {
			return
		}
	}
}

// Len implements elem.View.
func (t *Table) Len() int { return len(t.index) }

func (t *Table) clone() *Table {
	c := &Table{klen: t.klen, bits: append([]uint64(nil), t.bits...), index: maps.Clone(t.index)}
	c.list = make([]*elem.Entry, 0, len(t.index)+1)
	for _, e := range t.list {
		if e != nil {
			c.index[numberOf(e)] = len(c.list)
			c.list = append(c.list, e)
		}
	}
	return c
}

func numberOf(e *elem.Entry) uint16 { return number([]byte(e.Key())) }

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
		s.next = s.live.Load().clone()
	}
	return s.next
}

// Insert implements elem.Backend.
func (s *Set) Insert(e *elem.Entry, _ int64) (*elem.Entry, error) {
	if len(e.Key()) != s.klen || e.HasEnd() || e.Flags != 0 {
		return nil, fmt.Errorf("%w: a bitmap holds single keys of %d bytes", elem.ErrInvalid, s.klen)
	}
	if old := s.state().get(e); old != nil {
		return old, elem.ErrExist
	}
	t, n := s.begin(), numberOf(e)
	t.index[n] = len(t.list)
	t.list = append(t.list, e)
	t.bits[n/64] |= 1 << (n % 64)
	return nil, nil
}

func (t *Table) get(e *elem.Entry) *elem.Entry {
	if len(e.Key()) != t.klen || e.Flags != 0 {
		return nil
	}
	if i, ok := t.index[numberOf(e)]; ok {
		return t.list[i]
	}
	return nil
}

// InsertAll implements elem.Backend.
func (s *Set) InsertAll(es []*elem.Entry, now int64) (int, *elem.Entry, error) {
	return elem.InsertEach(s, es, now)
}

// Delete implements elem.Backend.
func (s *Set) Delete(e *elem.Entry, _ int64) (*elem.Entry, error) {
	old := s.state().get(e)
	if old == nil {
		return nil, elem.ErrNoEntry
	}
	t, n := s.begin(), numberOf(e)
	t.list[t.index[n]] = nil
	delete(t.index, n)
	t.bits[n/64] &^= 1 << (n % 64)
	return old, nil
}

// Find implements elem.Backend.
func (s *Set) Find(e *elem.Entry, _ int64) *elem.Entry { return s.state().get(e) }

// Get implements elem.Backend.
func (s *Set) Get(e *elem.Entry, _ int64) *elem.Entry { return s.live.Load().get(e) }

// Retime implements elem.Backend: a bitmap has no timeouts.
func (s *Set) Retime(*elem.Entry, int64, int64) {}

// Flush implements elem.Backend.
func (s *Set) Flush() { s.next = newTable(s.klen) }

// Commit implements elem.Backend.
func (s *Set) Commit(int64) []*elem.Entry {
	if s.next != nil {
		s.live.Store(s.next)
		s.next = nil
	}
	return nil
}

// Abort implements elem.Backend.
func (s *Set) Abort() { s.next = nil }

// Stats implements elem.Backend.
func (s *Set) Stats() elem.Stats {
	t := s.live.Load()
	return elem.Stats{Structure: "bitmap", Elements: t.Len(), Bytes: len(t.bits)*8 + len(t.list)*8 + len(t.index)*16}
}

var _ elem.Backend = (*Set)(nil)
