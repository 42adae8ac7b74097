package elem

import (
	"unsafe"

	"verdict/internal/huge"
)

// Batch makes many entries of one key length with few allocations, each with
// its key beside it in memory. The entries that were allocated together are
// freed together, when the last of them is gone.
type Batch struct {
	klen int
	next func() (*Entry, []byte) // an unused entry, and room for its key
}

// NewBatch returns a maker of entries with keys of klen bytes.
func NewBatch(klen int) *Batch {
	b := &Batch{klen: klen}
	switch n := 2 * klen; {
	case n <= 8:
		b.next = slab[[8]byte]()
	case n <= 16:
		b.next = slab[[16]byte]()
	case n <= 24:
		b.next = slab[[24]byte]()
	case n <= 32:
		b.next = slab[[32]byte]()
	case n <= 40:
		b.next = slab[[40]byte]()
	case n <= 64:
		b.next = slab[[64]byte]()
	default:
		b.next = slab[[2 * MaxKeyLen]byte]()
	}
	return b
}

// New returns an entry like the function New.
func (b *Batch) New(key, keyEnd []byte) *Entry {
	if len(key) != b.klen || b.klen > MaxKeyLen || (keyEnd != nil && len(keyEnd) != b.klen) {
		return New(key, keyEnd)
	}
	e, room := b.next()
	n := copy(room, key)
	n += copy(room[n:], keyEnd)
	// The room is written once, before this string of it exists, so that the
	// string never changes.
	e.keys = unsafe.String(unsafe.SliceData(room), n)
	e.klen = uint16(b.klen)
	return e
}

// keyed is an entry with room for its key.
type keyed[K any] struct {
	entry Entry
	room  K
}

// slab returns a function that gives one entry after the other, from
// allocations that grow up to some megabytes.
func slab[K any]() func() (*Entry, []byte) {
	const first, most = 4, 1 << 16
	var left []keyed[K]
	size := first
	return func() (*Entry, []byte) {
		if len(left) == 0 {
			left = huge.Slice[keyed[K]](size)
			size = min(2*size, most)
		}
		k := &left[0]
		left = left[1:]
		return &k.entry, unsafe.Slice((*byte)(unsafe.Pointer(&k.room)), unsafe.Sizeof(k.room))
	}
}
