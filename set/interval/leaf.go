package interval

import (
	"slices"

	"verdict/set/elem"
)

// clone copies the directory, so that leaves can be replaced.
func (t *Table) clone() *Table {
	c := *t
	c.firsts = append(make([]uint64, 0, len(t.firsts)+8), t.firsts...)
	c.lows = append(make([]uint64, 0, len(t.lows)+8), t.lows...)
	c.leaves = append(make([]*leaf, 0, len(t.leaves)+8), t.leaves...)
	return &c
}

// own returns leaf i for changing by the transaction owner.
func (t *Table) own(i int, owner uint64) *leaf {
	l := t.leaves[i]
	if l.owner != owner {
		c := *l
		c.owner = owner
		if l.low != nil {
			low := *l.low
			c.low = &low
		}
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
		t.insertLeaf(0, &leaf{owner: owner, low: t.newLow()})
	}
	i, at := p.leaf, p.at+1
	if i < 0 {
		i, at = 0, 0
	}
	if t.leaves[i].n == leafMax {
		i, at = t.split(i, at, owner)
	}
	t.own(i, owner).insert(at, numberOfEntry(e), e)
	t.noteFirst(i)
}

// newLow returns room for the second part of a leaf's keys, if they have one.
func (t *Table) newLow() *[leafMax]uint64 {
	if t.klen <= 8 {
		return nil
	}
	return new([leafMax]uint64)
}

// insertLeaf puts a leaf in front of leaf i.
func (t *Table) insertLeaf(i int, l *leaf) {
	t.leaves = slices.Insert(t.leaves, i, l)
	t.firsts = slices.Insert(t.firsts, i, 0)
	if t.klen > 8 {
		t.lows = slices.Insert(t.lows, i, 0)
	}
	t.noteFirst(i)
}

// noteFirst copies the first key of leaf i to the directory.
func (t *Table) noteFirst(i int) {
	t.firsts[i] = t.leaves[i].keys[0]
	if t.klen > 8 {
		t.lows[i] = t.leaves[i].low[0]
	}
}

func (l *leaf) insert(at int, x number, e *elem.Entry) {
	copy(l.keys[at+1:l.n+1], l.keys[at:l.n])
	copy(l.ents[at+1:l.n+1], l.ents[at:l.n])
	l.keys[at], l.ents[at] = x.high, e
	if l.low != nil {
		copy(l.low[at+1:l.n+1], l.low[at:l.n])
		l.low[at] = x.low
	}
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
	if l.low != nil {
		copy(l.low[at:l.n], l.low[at+1:l.n])
	}
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
	r := &leaf{owner: owner, n: leafMax - cut, start: l.start >> cut, low: t.newLow()}
	if r.low != nil {
		copy(r.low[:], l.low[cut:])
	}
	copy(r.keys[:], l.keys[cut:])
	copy(r.ents[:], l.ents[cut:])
	clear(l.ents[cut:])
	l.n = cut
	l.start &= 1<<cut - 1
	t.insertLeaf(i+1, r)
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
		if t.klen > 8 {
			t.lows = slices.Delete(t.lows, p.leaf, p.leaf+1)
		}
		return
	}
	t.noteFirst(p.leaf)
}
