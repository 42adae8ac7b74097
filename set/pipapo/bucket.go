package pipapo

import (
	"math/bits"
	"unsafe"

	"verdict/internal/simd"
	"verdict/set/elem"
)

// bucketSize is how many elements a bucket holds: what one vector compares.
const bucketSize = 16

// bucket holds the elements that reach into one cell, in the order of their
// insertion, with two words of their boxes to compare first. What does not fit
// is in further buckets, in no order between buckets. If sub is set, the cell
// is divided once more and the bucket itself is empty.
type bucket struct {
	// box has the lower ends in word a, the widths there, and the same for
	// word b.
	box   [4 * bucketSize]uint32
	ents  [bucketSize]*elem.Entry
	sub   *tree
	more  *bucket
	owner uint64
	timed uint16 // bit set: the element has a timeout
	a, b  uint8
	n     uint8
	_     [bucketBytes - 4*4*bucketSize - bucketSize*pointerBytes - 2*pointerBytes - 13]byte
}

const (
	// bucketBytes is the size of a bucket: whole cache lines.
	bucketBytes  = 448
	boxBytes     = 4 * 4 * bucketSize
	pointerBytes = unsafe.Sizeof(uintptr(0))
)

// best returns the element with the lowest order in the bucket and those
// behind it that holds the key and is not expired, unless found has a lower one.
// far tells that entries must be compared and are not in the nearest caches.
func (b *bucket) best(l *layout, w *words, now int64, far bool, found *elem.Entry) *elem.Entry {
	for ; b != nil; b = b.more {
		hits := b.hits(w)
		if far && hits != 0 {
			prefetchEntry(b.ents[bits.TrailingZeros32(hits)&(bucketSize-1)])
		}
		found = b.pick(hits, l, w, now, found)
	}
	return found
}

// hits are the elements whose words a and b hold those of a key, as bits.
func (b *bucket) hits(w *words) uint32 {
	return simd.Match16(&b.box, w[b.a&(maxWords-1)], w[b.b&(maxWords-1)]) & (1<<b.n - 1)
}

// pick is best for the bucket alone, whose hits are known.
func (b *bucket) pick(hits uint32, l *layout, w *words, now int64, found *elem.Entry) *elem.Entry {
	for ; hits != 0; hits &= hits - 1 {
		i := bits.TrailingZeros32(hits) & (bucketSize - 1)
		e := b.ents[i]
		if found != nil && e.Order > found.Order {
			break
		}
		if (l.whole || l.holds(e, w, b.a, b.b)) && (b.timed>>i&1 == 0 || !e.Expired(now)) {
			return e
		}
	}
	return found
}

// prefetchEntry asks for an entry, and for its key, which usually lies behind
// it.
func prefetchEntry(e *elem.Entry) {
	simd.Prefetch(unsafe.Pointer(e), 2)
}

// put adds an element with its box to a bucket that has room.
func (b *bucket) put(e *elem.Entry, low, high *words) {
	at := int(b.n)
	for at > 0 && b.ents[at-1].Order > e.Order {
		at--
	}
	copy(b.ents[at+1:b.n+1], b.ents[at:b.n])
	for row := 0; row < len(b.box); row += bucketSize {
		copy(b.box[row+at+1:row+int(b.n)+1], b.box[row+at:row+int(b.n)])
	}
	below := uint16(1)<<at - 1
	b.timed = b.timed&below | b.timed&^below<<1
	if e.Timeout() != 0 {
		b.timed |= 1 << at
	}
	b.set(at, e, low, high)
	b.n++
}

func (b *bucket) set(at int, e *elem.Entry, low, high *words) {
	b.ents[at] = e
	b.box[at], b.box[bucketSize+at] = low[b.a], high[b.a]-low[b.a]
	b.box[2*bucketSize+at], b.box[3*bucketSize+at] = low[b.b], high[b.b]-low[b.b]
}

// take removes the element and tells whether it was there.
func (b *bucket) take(e *elem.Entry) bool {
	for i, x := range b.ents[:b.n] {
		if x != e {
			continue
		}
		copy(b.ents[i:], b.ents[i+1:b.n])
		for row := 0; row < len(b.box); row += bucketSize {
			copy(b.box[row+i:row+int(b.n)], b.box[row+i+1:row+int(b.n)])
		}
		below := uint16(1)<<i - 1
		b.timed = b.timed&below | b.timed>>1&^below
		b.n--
		b.ents[b.n] = nil
		return true
	}
	return false
}

// count is the number of elements in the bucket and those behind it.
func (b *bucket) count() int {
	n := 0
	for ; b != nil; b = b.more {
		n += int(b.n)
	}
	return n
}

// each visits the elements of the bucket and those behind it.
func (b *bucket) each(visit func(*elem.Entry)) {
	for ; b != nil; b = b.more {
		for _, e := range b.ents[:b.n] {
			visit(e)
		}
	}
}

// owned returns the bucket for changing by a transaction.
func (b *bucket) owned(owner uint64) *bucket {
	if b.owner == owner {
		return b
	}
	c := *b
	c.owner = owner
	return &c
}
