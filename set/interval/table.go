package interval

import (
	"encoding/binary"
	"slices"

	"verdict/set/elem"
)

// leafMax is the highest number of elements in a leaf.
const leafMax = 256

// leaf holds consecutive elements. Only the transaction that made it may
// change it.
type leaf struct {
	owner uint64
	keys  []uint64 // first eight bytes of each key, as a number
	ents  []*elem.Entry
	start [leafMax / 64]uint64 // bit set: the element starts a range
}

// Table is one state of a set. No leaf is empty.
type Table struct {
	klen   int
	timed  bool
	firsts []uint64 // the first key number of each leaf
	leaves []*leaf
	n      int // elements
	// soonest is a time before which no element expires.
	soonest int64
}

const never = 1<<63 - 1

// prefix is the number that orders keys: their first eight bytes. Equal
// numbers of longer keys are told apart by the keys themselves.
func prefix(key []byte) uint64 {
	switch len(key) {
	case 4:
		return uint64(binary.BigEndian.Uint32(key)) << 32
	case 2:
		return uint64(binary.BigEndian.Uint16(key)) << 48
	}
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	w := uint64(0)
	for i, b := range key {
		w |= uint64(b) << (56 - 8*i)
	}
	return w
}

func prefixOf(e *elem.Entry) uint64 {
	var buf [elem.MaxKeyLen]byte
	return prefix(buf[:copy(buf[:], e.Key())])
}

// position is a place in the sequence: an element, or the end of a leaf.
type position struct{ leaf, at int }

// last returns the position of the last element that is not above the key
// with number p and rest of bytes; ok is false if there is none.
func (t *Table) last(p uint64, key []byte) (position, bool) {
	firsts := t.firsts
	lo, hi := 0, len(firsts) // the answer's leaf is before hi
	for lo < hi {
		m := int(uint(lo+hi) / 2)
		if firsts[m] <= p {
			lo = m + 1
		} else {
			hi = m
		}
	}
	long := t.klen > 8
	for i := lo - 1; i >= 0; i-- {
		l := t.leaves[i]
		j := upper(l.keys, p)
		if long {
			for j > 0 && l.keys[j-1] == p && l.ents[j-1].Key() > string(key) {
				j--
			}
		}
		if j > 0 {
			return position{i, j - 1}, true
		}
	}
	return position{}, false
}

// upper returns how many of the ascending keys are not above p.
func upper(keys []uint64, p uint64) int {
	base, n := 0, len(keys)
	for n > 1 {
		half := n / 2
		if keys[base+half-1] <= p {
			base += half
		}
		n -= half
	}
	if n == 1 && keys[base] <= p {
		base++
	}
	return base
}

func (l *leaf) isStart(i int) bool { return l.start[i/64]>>(i%64)&1 != 0 }

// Lookup implements elem.View.
//
// Ref: nft_set_rbtree.c, nft_rbtree_lookup
func (t *Table) Lookup(key []byte, now int64) *elem.Entry {
	if len(key) != t.klen {
		return nil
	}
	pos, ok := t.last(prefix(key), key)
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

// Walk implements elem.View: from the highest key down, which puts the end of
// a range before its start.
//
// Ref: nft_set_rbtree.c, nft_rbtree_walk
func (t *Table) Walk(visit func(*elem.Entry) bool) {
	for i := len(t.leaves) - 1; i >= 0; i-- {
		l := t.leaves[i]
		for j := len(l.ents) - 1; j >= 0; j-- {
			if !visit(l.ents[j]) {
				return
			}
		}
	}
}

// Len implements elem.View: starts and ends count each.
func (t *Table) Len() int { return t.n }

func (t *Table) bytes() int {
	n := 16 * len(t.leaves)
	for _, l := range t.leaves {
		n += cap(l.keys)*8 + cap(l.ents)*8 + 8 + 48 + 32
	}
	return n
}

// at returns the element at a position, nil beyond the ends of the sequence.
func (t *Table) at(p position) *elem.Entry {
	if p.leaf < 0 || p.leaf >= len(t.leaves) {
		return nil
	}
	if l := t.leaves[p.leaf]; p.at < len(l.ents) {
		return l.ents[p.at]
	}
	return nil
}

// after returns the position behind p.
func (t *Table) after(p position) position {
	if p.at+1 < len(t.leaves[p.leaf].ents) {
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
	return position{p.leaf - 1, len(t.leaves[p.leaf-1].ents) - 1}
}

func (t *Table) clone() *Table {
	c := *t
	c.firsts = append(make([]uint64, 0, len(t.firsts)+8), t.firsts...)
	c.leaves = append(make([]*leaf, 0, len(t.leaves)+8), t.leaves...)
	return &c
}

// own returns leaf i for changing by the transaction owner.
func (t *Table) own(i int, owner uint64) *leaf {
	l := t.leaves[i]
	if l.owner != owner {
		l = &leaf{
			owner: owner, start: l.start,
			keys: append(make([]uint64, 0, leafMax), l.keys...),
			ents: append(make([]*elem.Entry, 0, leafMax), l.ents...),
		}
		t.leaves[i] = l
	}
	return l
}

// insertAfter puts e behind position p, or first if p.leaf is -1.
func (t *Table) insertAfter(p position, e *elem.Entry, owner uint64) {
	t.n++
	if e.Timeout() != 0 && e.Expires() < t.soonest {
		t.soonest = e.Expires()
	}
	if len(t.leaves) == 0 {
		t.leaves = append(t.leaves, &leaf{
			owner: owner,
			keys:  make([]uint64, 0, leafMax), ents: make([]*elem.Entry, 0, leafMax),
		})
		t.firsts = append(t.firsts, 0)
	}
	i, at := p.leaf, p.at+1
	if i < 0 {
		i, at = 0, 0
	}
	if len(t.leaves[i].ents) == leafMax {
		i, at = t.split(i, at, owner)
	}
	t.own(i, owner).insert(at, prefixOf(e), e)
	t.firsts[i] = t.leaves[i].keys[0]
}

func (l *leaf) insert(at int, key uint64, e *elem.Entry) {
	l.keys = slices.Insert(l.keys, at, key)
	l.ents = slices.Insert(l.ents, at, e)
	l.mark(at)
}

// mark sets the start bits again from element i on.
func (l *leaf) mark(i int) {
	w := i / 64
	for ; w < len(l.start); w++ {
		bits := uint64(0)
		for j := w * 64; j < min(w*64+64, len(l.ents)); j++ {
			if !l.ents[j].IsEnd() {
				bits |= 1 << (j % 64)
			}
		}
		l.start[w] = bits
	}
}

// split makes room in the full leaf i and returns the place where position at
// of it went. A leaf that is filled from behind keeps its elements, so that an
// ascending load leaves full leaves.
func (t *Table) split(i, at int, owner uint64) (int, int) {
	cut := leafMax / 2
	if at == leafMax && i == len(t.leaves)-1 {
		cut = leafMax - 1
	}
	l := t.own(i, owner)
	r := &leaf{
		owner: owner,
		keys:  append(make([]uint64, 0, leafMax), l.keys[cut:]...),
		ents:  append(make([]*elem.Entry, 0, leafMax), l.ents[cut:]...),
	}
	clear(l.ents[cut:])
	l.keys, l.ents = l.keys[:cut], l.ents[:cut]
	l.mark(0)
	r.mark(0)
	t.leaves = slices.Insert(t.leaves, i+1, r)
	t.firsts = slices.Insert(t.firsts, i+1, r.keys[0])
	if at >= cut {
		return i + 1, at - cut
	}
	return i, at
}

// remove takes out the element at p.
func (t *Table) remove(p position, owner uint64) {
	t.n--
	l := t.own(p.leaf, owner)
	l.keys = slices.Delete(l.keys, p.at, p.at+1)
	l.ents = slices.Delete(l.ents, p.at, p.at+1)
	if len(l.ents) == 0 {
		t.leaves = slices.Delete(t.leaves, p.leaf, p.leaf+1)
		t.firsts = slices.Delete(t.firsts, p.leaf, p.leaf+1)
		return
	}
	l.mark(p.at)
	t.firsts[p.leaf] = l.keys[0]
}
