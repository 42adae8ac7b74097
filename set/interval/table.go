package interval

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"verdict/set/elem"
)

// leafMax is the highest number of elements in a leaf.
const leafMax = 64

// leaf holds n consecutive elements. Only the transaction that made it may
// change it.
type leaf struct {
	keys  [leafMax]uint64 // first eight bytes of each key, as a number
	ents  [leafMax]*elem.Entry
	start uint64 // bit set: the element starts a range
	owner uint64
	n     int
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
	long := t.klen > 8
	for i := upper(t.firsts, p) - 1; i >= 0; i-- {
		l := t.leaves[i]
		j := upper(l.keys[:l.n], p)
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
	return len(t.leaves)*int(unsafe.Sizeof(leaf{})) + 8*cap(t.firsts) + 8*cap(t.leaves)
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
		c := *l
		c.owner = owner
		l = &c
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
		t.leaves = append(t.leaves, &leaf{owner: owner})
		t.firsts = append(t.firsts, 0)
	}
	i, at := p.leaf, p.at+1
	if i < 0 {
		i, at = 0, 0
	}
	if t.leaves[i].n == leafMax {
		i, at = t.split(i, at, owner)
	}
	t.own(i, owner).insert(at, prefixOf(e), e)
	t.firsts[i] = t.leaves[i].keys[0]
}

func (l *leaf) insert(at int, key uint64, e *elem.Entry) {
	copy(l.keys[at+1:l.n+1], l.keys[at:l.n])
	copy(l.ents[at+1:l.n+1], l.ents[at:l.n])
	l.keys[at], l.ents[at] = key, e
	below := uint64(1)<<at - 1
	l.start = l.start&below | l.start&^below<<1
	if !e.IsEnd() {
		l.start |= 1 << at
	}
	l.n++
}

func (l *leaf) delete(at int) {
	copy(l.keys[at:l.n], l.keys[at+1:l.n])
	copy(l.ents[at:l.n], l.ents[at+1:l.n])
	below := uint64(1)<<at - 1
	l.start = l.start&below | l.start>>1&^below
	l.n--
	l.ents[l.n] = nil
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
	r := &leaf{owner: owner, n: leafMax - cut, start: l.start >> cut}
	copy(r.keys[:], l.keys[cut:])
	copy(r.ents[:], l.ents[cut:])
	clear(l.ents[cut:])
	l.n = cut
	l.start &= 1<<cut - 1
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
	l.delete(p.at)
	if l.n == 0 {
		t.leaves = slices.Delete(t.leaves, p.leaf, p.leaf+1)
		t.firsts = slices.Delete(t.firsts, p.leaf, p.leaf+1)
		return
	}
	t.firsts[p.leaf] = l.keys[0]
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

// hasKey tells whether the element at p has the key of e, whose number is key.
func (t *Table) hasKey(p position, e *elem.Entry, key uint64) bool {
	if !t.holds(p) || t.leaves[p.leaf].keys[p.at] != key {
		return false
	}
	return t.klen <= 8 || t.at(p).Key() == e.Key()
}
