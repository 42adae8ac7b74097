package elem

import "sync/atomic"

// EntryFlags are the element flags of nf_tables, with the kernel's values.
type EntryFlags uint8

// Element flags.
const (
	// IntervalEnd marks the exclusive end of a range in a set of kind rbtree.
	IntervalEnd EntryFlags = 1
	// CatchAll marks the element "*", which has no key.
	CatchAll EntryFlags = 2
)

// Entry is one element of a set. Its key never changes; its times may, and
// are read and written atomically. An entry is inserted at most once, into one
// set: who adds the same element again makes a new entry, because readers may
// still look at the old one.
//
// Lookups return the entry's address, so whatever the caller hangs on it is
// reached without allocation.
type Entry struct {
	keys string // key, followed by the upper end if there is one
	// Ext is the caller's: the data, objects and state of the element. Keep a
	// pointer in it; a pointer in an interface is not copied or allocated.
	Ext     any
	timeout atomic.Int64
	expires atomic.Int64
	// Order is the backend's: the element's place among those of its set.
	// Of two elements that both match, the lower order wins.
	Order uint64
	// Index is the caller's: a handle into arrays of its own.
	Index uint32
	klen  uint16
	// Flags of the element.
	Flags EntryFlags
}

// New returns an entry for key, or for the range from key to keyEnd inclusive
// if keyEnd is not nil. Both are copied and must have the same length, at most
// 64 bytes; backends refuse others as invalid.
func New(key, keyEnd []byte) *Entry {
	e := &Entry{klen: uint16(min(len(key), 1<<16-1))}
	if keyEnd == nil {
		e.keys = string(key)
		return e
	}
	both := make([]byte, 0, 2*MaxKeyLen)
	both = append(both, key...)
	both = append(both, keyEnd...)
	e.keys = string(both)
	return e
}

// NewIntervalEnd returns the exclusive end of a range of an rbtree set.
func NewIntervalEnd(key []byte) *Entry {
	e := New(key, nil)
	e.Flags = IntervalEnd
	return e
}

// NewCatchAll returns an entry without a key.
func NewCatchAll() *Entry { return &Entry{Flags: CatchAll} }

// Key is the element's key, or the lower end of its range.
func (e *Entry) Key() string { return e.keys[:e.klen] }

// KeyEnd is the inclusive upper end of the element's range; empty if the
// element is a single key.
func (e *Entry) KeyEnd() string { return e.keys[e.klen:] }

// HasEnd tells whether the entry was made with an upper end.
func (e *Entry) HasEnd() bool { return len(e.keys) > int(e.klen) }

// Last is the upper end of the range: KeyEnd, or Key for a single key.
func (e *Entry) Last() string {
	if e.HasEnd() {
		return e.KeyEnd()
	}
	return e.Key()
}

// Bounds returns Key and Last.
func (e *Entry) Bounds() (first, last string) {
	if n := int(e.klen); n < len(e.keys) {
		return e.keys[:n], e.keys[n:]
	}
	return e.keys, e.keys
}

// IsEnd tells whether the entry is the exclusive end of a range (rbtree).
func (e *Entry) IsEnd() bool { return e.Flags&IntervalEnd != 0 }

// SetTimeout gives the element a lifetime (0: for ever) and the time at which
// it expires. Safe beside lookups.
func (e *Entry) SetTimeout(timeout, expires int64) {
	e.expires.Store(expires)
	e.timeout.Store(timeout)
}

// Timeout is the element's lifetime in nanoseconds, 0 for ever.
func (e *Entry) Timeout() int64 { return e.timeout.Load() }

// Expires is the time at which the element expires; without meaning if
// Timeout is 0.
func (e *Entry) Expires() int64 { return e.expires.Load() }

// Refresh moves the expiration of an element with a timeout.
func (e *Entry) Refresh(expires int64) { e.expires.Store(expires) }

// Expired tells whether the element has a timeout that ran out at now.
//
// Ref: nf_tables.h, __nft_set_elem_expired
func (e *Entry) Expired(now int64) bool {
	return e.timeout.Load() != 0 && now >= e.expires.Load()
}
