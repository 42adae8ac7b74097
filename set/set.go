package set

import (
	"fmt"
	"slices"
	"sync/atomic"

	"verdict/set/bitmap"
	"verdict/set/elem"
	"verdict/set/hash"
	"verdict/set/interval"
	"verdict/set/pipapo"
)

// Set is a set of any kind, with the catch-all element and the size limit
// that all kinds have in common. One goroutine may change it; readers use
// Lookup or a View.
type Set struct {
	kind    Kind
	desc    Desc
	backend elem.Backend
	hash    *hash.Set // the backend, if packets may update it

	live     atomic.Pointer[View]
	catchAll *Entry // of the transaction
	replaced *Entry // an expired catch-all element that it replaced
	changed  bool
}

// New returns an empty set of the kind that Select chooses.
func New(d Desc) (*Set, error) {
	k, err := Select(&d)
	if err != nil {
		return nil, err
	}
	return NewKind(d, k)
}

// NewKind returns an empty set of a given kind; an error if that kind cannot
// store what d describes.
func NewKind(d Desc, k Kind) (*Set, error) {
	s := &Set{kind: k, desc: d}
	var err error
	switch k {
	case HashFast, Hash, Rhash:
		s.hash, err = hash.New(&d)
		s.backend = s.hash
	case Bitmap:
		s.backend, err = bitmap.New(&d)
	case Rbtree:
		s.backend, err = interval.New(&d)
	case Pipapo:
		s.backend, err = pipapo.New(&d)
	default:
		err = fmt.Errorf("%w: %v", elem.ErrUnsupported, k)
	}
	if err != nil {
		return nil, err
	}
	s.publish()
	return s, nil
}

// Kind of the set.
func (s *Set) Kind() Kind { return s.kind }

// Desc is the description that the set was made for.
func (s *Set) Desc() Desc { return s.desc }

// Stats of the live state.
func (s *Set) Stats() Stats { return s.backend.Stats() }

// Lookup returns the element that matches key at time now in the live state:
// an element with that key, else the catch-all element, else nil. It neither
// allocates nor waits.
//
// Ref: nft_lookup.c, nft_lookup_eval; nf_tables_api.c, nft_set_catchall_lookup
func (s *Set) Lookup(key []byte, now int64) *Entry { return s.live.Load().Lookup(key, now) }

// LookupBatch looks up a burst of keys, see View.LookupBatch.
func (s *Set) LookupBatch(keys []byte, stride int, now int64, found []*Entry) {
	s.live.Load().LookupBatch(keys, stride, now, found)
}

// View is the live state. Later transactions do not change it; elements that
// packets add or remove (flag elem.Eval) do show in it.
func (s *Set) View() *View { return s.live.Load() }

// Prepared is the state that Commit will publish.
func (s *Set) Prepared() *View { return s.viewOf(s.backend.Next(), s.catchAll) }

// Insert adds e in the current transaction.
//
// The errors are those of the kind: ErrExist with the identical element,
// ErrNotEmpty with one that overlaps, ErrCanceled where nothing needs to be
// done, ErrInvalid, ErrNoSpace. With ErrFull the element has been added
// nevertheless, as in the kernel: the caller must abort.
//
// Ref: nf_tables_api.c, nft_add_set_elem
func (s *Set) Insert(e *Entry, now int64) (*Entry, error) {
	if e.Flags&elem.CatchAll != 0 {
		return s.insertCatchAll(e, now)
	}
	old, err := s.backend.Insert(e, now)
	if err != nil {
		return old, err
	}
	s.changed = true
	return nil, s.checkSize()
}

// InsertAll adds many elements in the current transaction, with the same
// result as inserting them one after the other; large batches are much faster
// this way. It stops at the first element that is not inserted (for whatever
// reason, ErrExist and ErrCanceled included) and returns how many were, and
// Insert's results for that one. A caller that tolerates the error goes on
// with the elements after it.
func (s *Set) InsertAll(es []*Entry, now int64) (int, *Entry, error) {
	if i := slices.IndexFunc(es, func(e *Entry) bool { return e.Flags&elem.CatchAll != 0 }); i >= 0 {
		if n, old, err := s.InsertAll(es[:i], now); err != nil {
			return n, old, err
		}
		if old, err := s.insertCatchAll(es[i], now); err != nil {
			return i, old, err
		}
		n, old, err := s.InsertAll(es[i+1:], now)
		return i + 1 + n, old, err
	}
	n, old, err := s.backend.InsertAll(es, now)
	if n > 0 {
		s.changed = true
	}
	if full := s.checkSize(); err == nil && full != nil {
		err = full
	}
	return n, old, err
}

// Restore adds the elements of an empty set as View.Walk gave them, in its
// order, with the results of InsertAll. A set of ranges takes any state that it
// can have been in, also one that the elements alone do not lead to.
func (s *Set) Restore(es []*Entry, now int64) (int, *Entry, error) {
	b, ok := s.backend.(*interval.Set)
	if !ok {
		return s.InsertAll(es, now)
	}
	n := len(es)
	if n > 0 && es[n-1].Flags&elem.CatchAll != 0 { // comes last
		n--
	}
	done, err := b.Restore(es[:n])
	if done > 0 {
		s.changed = true
	}
	if err != nil {
		return done, nil, err
	}
	return s.restoreRest(es, n, now)
}

// restoreRest adds a catch-all element behind n others.
func (s *Set) restoreRest(es []*Entry, n int, now int64) (int, *Entry, error) {
	if n < len(es) {
		if old, err := s.insertCatchAll(es[n], now); err != nil {
			return n, old, err
		}
	}
	return len(es), nil, s.checkSize()
}

// checkSize reports ErrFull if the transaction holds too many elements. The
// kernel counts deleted elements until the commit and adds as many to the
// limit, which comes to the same. The limit of ranges counts both ends, and
// one more while the end in front of the first range, at key zero, is there.
//
// Ref: nf_tables_api.c, nft_set_maxsize; nft_set_rbtree.c, nft_rbtree_adjust_maxsize
func (s *Set) checkSize() error {
	if s.desc.Size == 0 {
		return nil
	}
	limit, n := int(s.desc.Size), s.backend.Next().Len()
	if s.kind == Rbtree {
		if limit *= 2; n == limit+1 && s.backend.Find(elem.NewIntervalEnd(make([]byte, s.desc.KeyLen)), 0) != nil {
			limit++
		}
	}
	if n > limit {
		return fmt.Errorf("%w: its size is %d", elem.ErrFull, s.desc.Size)
	}
	return nil
}

// insertCatchAll adds the element "*", of which a set has at most one. It does
// not count against the size.
func (s *Set) insertCatchAll(e *Entry, now int64) (*Entry, error) {
	if old := s.catchAll; old != nil && !old.Expired(now) {
		return old, elem.ErrExist
	}
	if s.catchAll != nil {
		s.replaced = s.catchAll
	}
	s.catchAll, s.changed = e, true
	return nil, nil
}

// Delete removes the element that e names by its key and flags and returns
// it, or ErrNoEntry. Expired elements are not found. The upper end of a range
// in a concatenation is not compared.
func (s *Set) Delete(e *Entry, now int64) (*Entry, error) {
	if e.Flags&elem.CatchAll != 0 {
		old := s.catchAll
		if old == nil || old.Expired(now) {
			return nil, elem.ErrNoEntry
		}
		s.catchAll, s.changed = nil, true
		return old, nil
	}
	old, err := s.backend.Delete(e, now)
	if err == nil {
		s.changed = true
	}
	return old, err
}

// Find returns the element in the current transaction's state with exactly
// e's key and flags, or nil: what Delete would remove.
func (s *Set) Find(e *Entry, now int64) *Entry {
	if e.Flags&elem.CatchAll != 0 {
		return live(s.catchAll, now)
	}
	return s.backend.Find(e, now)
}

// Get returns the element that the kernel reports when asked for e, from the
// live state, or nil.
func (s *Set) Get(e *Entry, now int64) *Entry {
	if e.Flags&elem.CatchAll != 0 {
		return live(s.live.Load().catchAll, now)
	}
	return s.backend.Get(e, now)
}

// Retime gives an element of the set a new lifetime and expiration, as the
// kernel does at the commit for an element that is added again. It cannot be
// aborted: call it directly before Commit. Views from before that may show the
// old times or the new ones.
func (s *Set) Retime(e *Entry, timeout, expires int64) {
	s.changed = true
	if e.Flags&elem.CatchAll != 0 {
		e.SetTimeout(timeout, expires)
		return
	}
	s.backend.Retime(e, timeout, expires)
}

// Flush removes all elements in the current transaction.
func (s *Set) Flush() {
	s.backend.Flush()
	s.catchAll, s.changed = nil, true
}

// Commit publishes the transaction's changes to readers at once. It returns
// the expired elements that it removed, so that the caller can release what
// they refer to.
func (s *Set) Commit(now int64) []*Entry {
	if !s.changed {
		return nil
	}
	gone := s.backend.Commit(now)
	if c := s.catchAll; c != nil && c.Expired(now) {
		gone = append(gone, c)
		s.catchAll = nil
	}
	if s.replaced != nil {
		gone = append(gone, s.replaced)
	}
	s.publish()
	s.replaced, s.changed = nil, false
	return gone
}

// Abort drops the transaction's changes.
func (s *Set) Abort() {
	s.backend.Abort()
	s.catchAll, s.replaced, s.changed = s.live.Load().catchAll, nil, false
}

func (s *Set) publish() { s.live.Store(s.viewOf(s.backend.Live(), s.catchAll)) }

// Update is the packet path's add and update, see hash.Set.Update. Only sets
// of kind Rhash have it; others return nil.
func (s *Set) Update(op hash.Op, key []byte, now, timeout int64, make func(key []byte) *Entry) (*Entry, bool) {
	if s.kind != Rhash {
		return nil, false
	}
	return s.hash.Update(op, key, now, timeout, make)
}

// Remove is the packet path's delete, see hash.Set.Remove.
func (s *Set) Remove(key []byte, now int64) bool {
	return s.kind == Rhash && s.hash.Remove(key, now)
}

// Collect removes the expired elements of a set that packets change, if the
// time for it has come. It may run beside packets. The kernel does this on its
// own, once per interval; a caller that wants the room back calls it as often.
func (s *Set) Collect(now int64) []*Entry {
	if s.kind != Rhash {
		return nil
	}
	return s.hash.Collect(now)
}

func live(e *Entry, now int64) *Entry {
	if e == nil || e.Expired(now) {
		return nil
	}
	return e
}
