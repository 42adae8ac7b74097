package interval

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"unsafe"

	"verdict/set/elem"
)

// leafMax is the highest number of elements in a leaf.
const leafMax = 64

// leaf holds n consecutive elements. Only the transaction that made it may
// change it.
type leaf struct {
	keys  [leafMax]uint64 // the first eight bytes of each key, see number
	ents  [leafMax]*elem.Entry
	start uint64 // bit set: the element starts a range
	owner uint64
	n     int
	low   *[leafMax]uint64 // the next eight bytes, where keys are longer
}

// Table is one state of a set. No leaf is empty.
type Table struct {
	klen   int
	timed  bool
	firsts []uint64 // the first key of each leaf
	lows   []uint64 // its next eight bytes, where keys are longer
	leaves []*leaf
	n      int // elements
	// soonest is a time before which no element expires.
	soonest int64
}

const never = 1<<63 - 1

// number is the first sixteen bytes of a key; it orders keys. Of longer keys,
// those with equal numbers are told apart by the keys themselves.
type number struct{ high, low uint64 }

func numberOf(key []byte) number {
	switch len(key) {
	case 4:
		return number{high: uint64(binary.BigEndian.Uint32(key)) << 32}
	case 2:
		return number{high: uint64(binary.BigEndian.Uint16(key)) << 48}
	case 16:
		return number{binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:])}
	}
	var b [16]byte
	copy(b[:], key)
	return number{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

func numberOfEntry(e *elem.Entry) number {
	var buf [elem.MaxKeyLen]byte
	return numberOf(buf[:copy(buf[:], e.Key())])
}

// position is a place in the sequence: an element, or the end of a leaf.
type position struct{ leaf, at int }

// last returns the position of the last element that is not above the key
// with number x; ok is false if there is none.
func (t *Table) last(x number, key []byte) (position, bool) {
	i := t.leafOf(x, key)
	if i < 0 {
		return position{}, false
	}
	return position{i, t.count(t.leaves[i], x, key) - 1}, true
}

// leafOf returns the last leaf whose first key is not above the key, or -1.
func (t *Table) leafOf(x number, key []byte) int {
	if t.klen <= 8 {
		return upper(t.firsts, x.high) - 1
	}
	if t.klen <= 16 {
		return notAbove(t.firsts, t.lows, x) - 1
	}
	from, to := equal(t.firsts, t.lows, x)
	return from + sort.Search(to-from, func(i int) bool {
		return t.leaves[from+i].ents[0].Key() > string(key)
	}) - 1
}

// count returns how many elements of a leaf are not above the key.
func (t *Table) count(l *leaf, x number, key []byte) int {
	if t.klen <= 8 {
		return upper(l.keys[:l.n], x.high)
	}
	if t.klen <= 16 {
		return notAbove(l.keys[:l.n], l.low[:l.n], x)
	}
	from, to := equal(l.keys[:l.n], l.low[:l.n], x)
	return from + sort.Search(to-from, func(i int) bool {
		return l.ents[from+i].Key() > string(key)
	})
}

// notAbove returns how many numbers of an ascending sequence are not above x.
func notAbove(high, low []uint64, x number) int {
	end := upper(high, x.high)
	if end == 0 || high[end-1] != x.high {
		return end
	}
	begin := 0
	if x.high > 0 {
		begin = upper(high[:end], x.high-1)
	}
	return begin + upper(low[begin:end], x.low)
}

// equal returns where the keys that begin with a number lie in an ascending
// sequence: those before to are not above it.
func equal(high, low []uint64, x number) (from, to int) {
	to = notAbove(high, low, x)
	switch {
	case x.low > 0:
		from = notAbove(high, low, number{x.high, x.low - 1})
	case x.high > 0:
		from = notAbove(high, low, number{x.high - 1, ^uint64(0)})
	}
	return from, to
}

// upper returns how many of the ascending keys are not above p. The search
// has no branches that depend on the keys, which no processor could predict.
func upper(keys []uint64, p uint64) int {
	base, n := 0, len(keys)
	for n > 1 {
		half := n / 2
		_, above := bits.Sub64(p, keys[base+half-1], 0) // 1 if the key is above p
		base += half & (int(above) - 1)
		n -= half
	}
	if n == 1 && keys[base] <= p {
		base++
	}
	return base
}

func (l *leaf) isStart(i int) bool { return l.start>>(i&63)&1 != 0 }

// Lookup implements elem.View.
//
// Ref: nft_set_rbtree.c, nft_rbtree_lookup
func (t *Table) Lookup(key []byte, now int64) *elem.Entry {
	if len(key) != t.klen {
		return nil
	}
	pos, ok := t.last(numberOf(key), key)
	if !ok {
		return nil
	}
	l := t.leaves[pos.leaf]
	if !l.isStart(pos.at) {
		return nil
	}
	e := l.ents[pos.at]
	if t.timed && e.Expired(now) {
		return nil
	}
	return e
}

// Walk implements elem.View: from the highest key down, which puts the end of
// a range before its start.
//
// Ref: nft_set_rbtree.c, nft_rbtree_walk
func (t *Table) Walk(visit func(*elem.Entry) bool) {
	for i := len(t.leaves) - 1; i >= 0; i-- {
		l := t.leaves[i]
		for j := l.n - 1; j >= 0; j-- {
			if !visit(l.ents[j]) {
				return
			}
		}
	}
}

// Len implements elem.View: starts and ends count each.
func (t *Table) Len() int { return t.n }

func (t *Table) bytes() int {
	each := int(unsafe.Sizeof(leaf{}))
	if t.klen > 8 {
		each += leafMax * 8
	}
	return len(t.leaves)*each + 8*(cap(t.firsts)+cap(t.lows)+cap(t.leaves))
}

// at returns the element at a position, nil beyond the ends of the sequence.
func (t *Table) at(p position) *elem.Entry {
	if p.leaf < 0 || p.leaf >= len(t.leaves) {
		return nil
	}
	if l := t.leaves[p.leaf]; p.at < l.n {
		return l.ents[p.at]
	}
	return nil
}

// after returns the position behind p.
func (t *Table) after(p position) position {
	if p.at+1 < t.leaves[p.leaf].n {
		return position{p.leaf, p.at + 1}
	}
	return position{p.leaf + 1, 0}
}

// before returns the position in front of p; its leaf is -1 if there is none.
func (t *Table) before(p position) position {
	if p.at > 0 {
		return position{p.leaf, p.at - 1}
	}
	if p.leaf == 0 {
		return position{-1, 0}
	}
	return position{p.leaf - 1, t.leaves[p.leaf-1].n - 1}
}

// isEnd tells whether there is an element at p that ends a range.
func (t *Table) isEnd(p position) bool {
	return t.holds(p) && !t.leaves[p.leaf].isStart(p.at)
}

// isStart tells whether there is an element at p that starts a range.
func (t *Table) isStart(p position) bool {
	return t.holds(p) && t.leaves[p.leaf].isStart(p.at)
}

func (t *Table) holds(p position) bool {
	return p.leaf >= 0 && p.leaf < len(t.leaves) && p.at < t.leaves[p.leaf].n
}

// hasKey tells whether the element at p has the key of e, whose number is x.
func (t *Table) hasKey(p position, e *elem.Entry, x number) bool {
	if !t.holds(p) {
		return false
	}
	l := t.leaves[p.leaf]
	if l.keys[p.at] != x.high || (l.low != nil && l.low[p.at] != x.low) {
		return false
	}
	return t.klen <= 16 || l.ents[p.at].Key() == e.Key()
}
