package pipapo

import (
	"slices"

	"verdict/set/elem"
)

// member is an element with its box, while a cell is divided.
type member struct {
	e         *elem.Entry
	low, high words
}

// cut is a way to divide a cell: before value x of a word.
type cut struct {
	word  int
	x     uint32
	lower int // elements below x
	upper int // elements not below x
}

// cost is the size of the larger part, and what is in both.
func (c cut) cost(n int) int { return max(c.lower, c.upper) + c.lower + c.upper - n }

// divideCell makes room for e in the full cell at p of an owned tree: it cuts
// the cell in two, in the tree's word or another one. If no cut helps, the cell
// gets another bucket.
func (w *writer) divideCell(root, t *tree, p place, e *elem.Entry) {
	n := t.node(p.node)
	b := &n.cells[p.cell]
	list := w.members(b, e)
	if _, one := t.single(); one && t == root {
		// Nothing is cut yet: the tree may still have any word.
		if c, ok := w.bestCut(list, -1, 0, ^uint32(0)); ok {
			t.word = uint8(c.word)
			w.cutCell(t, p, list, c)
			return
		}
	} else if c, ok := w.bestCut(list, int(t.word), n.keys[p.cell], t.last(p)); ok {
		if c.word == int(t.word) {
			w.cutCell(t, p, list, c)
			return
		}
		sub := newTree(uint8(c.word), bucket{}, w.owner)
		w.cutCell(sub, place{}, list, c)
		*b = bucket{sub: sub}
		t.note(b)
		return
	}
	b.more = w.append(b.more, e, &list[len(list)-1].low, &list[len(list)-1].high)
	t.note(b)
}

// members returns the elements of a chain of buckets, and e as the last one.
func (w *writer) members(b *bucket, e *elem.Entry) []member {
	list := make([]member, 0, 2*bucketSize)
	add := func(e *elem.Entry) {
		list = append(list, member{e: e})
		m := &list[len(list)-1]
		w.layout.box(e, &m.low, &m.high)
	}
	b.each(add)
	add(e)
	return list
}

// cutCell divides the cell at p of an owned tree.
func (w *writer) cutCell(t *tree, p place, list []member, c cut) {
	var lower, upper []member
	for _, m := range list {
		if m.low[c.word] < c.x {
			lower = append(lower, m)
		}
		if m.high[c.word] >= c.x {
			upper = append(upper, m)
			if m.low[c.word] < c.x {
				w.crowded = append(w.crowded, m.e)
			}
		}
	}
	below, above := w.chain(lower), w.chain(upper)
	t.note(&below)
	t.note(&above)
	t.node(p.node).cells[p.cell] = below
	t.divide(p, c.x, above)
}

// chain makes a bucket for elements, with others behind it if need be.
func (w *writer) chain(list []member) bucket {
	first := bucket{owner: w.owner}
	first.a, first.b = w.tellingWords(list)
	for i := range list[:min(len(list), bucketSize)] {
		first.put(list[i].e, &list[i].low, &list[i].high)
	}
	if len(list) > bucketSize {
		rest := w.chain(list[bucketSize:])
		first.more = &rest
	}
	return first
}

// tellingWords chooses the two words that tell the elements apart best.
func (w *writer) tellingWords(list []member) (a, b uint8) {
	if w.layout.n <= 2 || len(list) == 0 {
		return 0, 1
	}
	best := [2]int{-1, -1}
	for i := range w.layout.n {
		n := 0
		for j := range list {
			m := &list[j]
			if m.low[i] != list[0].low[i] {
				n += 2
			}
			if m.low[i] != 0 || m.high[i] != w.layout.mask[i] {
				n++
			}
		}
		switch {
		case n > best[0]:
			best[0], best[1] = n, best[0]
			a, b = uint8(i), a
		case n > best[1]:
			best[1], b = n, uint8(i)
		}
	}
	return a, b
}

// bestCut returns the best way to divide a cell, preferably in the tree's word,
// of which the cell has the values from first to last. It is false if every cut
// leaves more than three quarters of the elements in one part.
func (w *writer) bestCut(list []member, word int, first, last uint32) (cut, bool) {
	best, found := cut{}, false
	consider := func(i int, first, last uint32) {
		c, ok := cutIn(list, i, first, last)
		if ok && (!found || c.cost(len(list)) < best.cost(len(list))) {
			best, found = c, true
		}
	}
	if word >= 0 {
		consider(word, first, last)
		if found && best.cost(len(list)) <= len(list)*5/8 {
			return best, true
		}
	}
	for i := range w.layout.n {
		if i != word {
			consider(i, 0, ^uint32(0))
		}
	}
	return best, found
}

// cutIn returns the best cut of one word between the values first and last.
func cutIn(list []member, word int, first, last uint32) (cut, bool) {
	var lows, highs [4 * bucketSize]uint32
	n := min(len(list), len(lows))
	for i := range list[:n] {
		lows[i], highs[i] = list[i].low[word], list[i].high[word]
	}
	slices.Sort(lows[:n])
	slices.Sort(highs[:n])
	best, found := cut{}, false
	for i, j := 0, 0; i < n; i++ {
		x := lows[i]
		if x <= first || x > last || (i > 0 && x == lows[i-1]) {
			continue
		}
		for j < n && highs[j] < x {
			j++
		}
		c := cut{word: word, x: x, lower: i, upper: n - j}
		if max(c.lower, c.upper) <= n*3/4 && (!found || c.cost(n) < best.cost(n)) {
			best, found = c, true
		}
	}
	// A cut behind an upper end helps where the elements begin together.
	for i, j := 0, 0; j < n; j++ {
		x := highs[j] + 1
		if x <= first || x == 0 || x > last || (j+1 < n && highs[j+1] == highs[j]) {
			continue
		}
		for i < n && lows[i] < x {
			i++
		}
		c := cut{word: word, x: x, lower: i, upper: n - j - 1}
		if max(c.lower, c.upper) <= n*3/4 && (!found || c.cost(n) < best.cost(n)) {
			best, found = c, true
		}
	}
	return best, found
}
