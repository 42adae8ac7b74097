package pipapo

import (
	"verdict/set/elem"
)

// maxCells is how many cells of a tree an element may reach into. One that
// reaches into more goes to the next tree.
const maxCells = 12

// writer changes a table on behalf of a transaction.
type writer struct {
	*Table
	owner uint64
	// crowded are elements that a division put into more cells of a tree.
	crowded []*elem.Entry
}

// add puts an element into the first tree that takes it.
func (w *writer) add(e *elem.Entry) {
	w.n++
	if e.Timeout() != 0 && e.Expires() < w.soonest {
		w.soonest = e.Expires()
	}
	w.addFrom(0, e)
}

// addFrom puts an element into the first tree from g on that takes it.
func (w *writer) addFrom(g int, e *elem.Entry) {
	var low, high words
	w.layout.box(e, &low, &high)
	for ; g < groups; g++ {
		if w.trees[g] == nil {
			w.trees[g] = newTree(0, bucket{b: 1}, w.owner)
		}
		if w.trees[g].cells(&low, &high, maxCells+1) <= maxCells {
			w.trees[g] = w.trees[g].owned(w.owner)
			w.addTo(w.trees[g], w.trees[g], e, &low, &high)
			w.relieve(g)
			return
		}
	}
	w.rest = w.append(w.rest, e, &low, &high)
}

// relieve moves elements that reach into too many cells of tree g by now to
// the trees after it.
func (w *writer) relieve(g int) {
	crowded := w.crowded
	w.crowded = nil
	for i, e := range crowded {
		var low, high words
		w.layout.box(e, &low, &high)
		if contains(crowded[:i], e) || w.trees[g].cells(&low, &high, maxCells+1) <= maxCells {
			continue
		}
		w.removeFrom(w.trees[g], e, &low, &high)
		w.addFrom(g+1, e)
	}
}

func contains(list []*elem.Entry, e *elem.Entry) bool {
	for _, x := range list {
		if x == e {
			return true
		}
	}
	return false
}

// addTo puts an element into the cells of an owned tree that it reaches into.
// The tree is part of the tree root of its group.
func (w *writer) addTo(root, t *tree, e *elem.Entry, low, high *words) {
	for x := low[t.word]; ; {
		p := t.find(x)
		top := t.last(p)
		b := &t.node(p.node).cells[p.cell]
		switch {
		case b.sub != nil:
			b.sub = b.sub.owned(w.owner)
			w.addTo(root, b.sub, e, low, high)
		case b.n < bucketSize:
			b.put(e, low, high)
		case b.more == nil || b.count()%bucketSize == 0:
			w.divideCell(root, t, p, e)
		default:
			b.more = w.append(b.more, e, low, high)
			t.note(b)
		}
		if top >= high[t.word] {
			return
		}
		x = top + 1
	}
}

// append puts an element into the first bucket of a chain that has room, or
// into a new one.
func (w *writer) append(b *bucket, e *elem.Entry, low, high *words) *bucket {
	if b == nil {
		b = &bucket{owner: w.owner, b: 1}
	}
	b = b.owned(w.owner)
	if b.n < bucketSize {
		b.put(e, low, high)
	} else {
		b.more = w.append(b.more, e, low, high)
	}
	return b
}

// remove takes an element out of the table; false if it is not there.
func (w *writer) remove(e *elem.Entry) bool {
	var low, high words
	w.layout.box(e, &low, &high)
	for g, t := range w.trees {
		if t == nil || !t.has(e, &low) {
			continue
		}
		w.trees[g] = t.owned(w.owner)
		w.removeFrom(w.trees[g], e, &low, &high)
		w.n--
		return true
	}
	if !inChain(w.rest, e) {
		return false
	}
	w.rest = w.takeFrom(w.rest, e)
	w.n--
	return true
}

// has tells whether the element is in the tree.
func (t *tree) has(e *elem.Entry, low *words) bool {
	return inChain(t.bucketOf(low), e)
}

func inChain(b *bucket, e *elem.Entry) bool {
	for ; b != nil; b = b.more {
		if contains(b.ents[:b.n], e) {
			return true
		}
	}
	return false
}

// takeFrom removes an element from a chain and returns the chain.
func (w *writer) takeFrom(b *bucket, e *elem.Entry) *bucket {
	if b == nil {
		return nil
	}
	b = b.owned(w.owner)
	if !b.take(e) {
		b.more = w.takeFrom(b.more, e)
	}
	if b.n == 0 && b.more != nil {
		return b.more
	}
	return b
}

// removeFrom takes an element out of all cells of an owned tree that it
// reaches into. Cells that become empty are joined with a neighbour.
func (w *writer) removeFrom(t *tree, e *elem.Entry, low, high *words) {
	for x := low[t.word]; ; {
		p := t.find(x)
		top := t.last(p)
		w.removeAt(t, p, e, low, high)
		if top >= high[t.word] {
			return
		}
		x = top + 1
	}
}

func (w *writer) removeAt(t *tree, p place, e *elem.Entry, low, high *words) {
	if b := &t.nodes[p.node].cells[p.cell]; b.sub == nil && !inChain(b, e) {
		return
	}
	b := &t.node(p.node).cells[p.cell]
	if b.sub != nil {
		b.sub = b.sub.owned(w.owner)
		w.removeFrom(b.sub, e, low, high)
		if only, ok := b.sub.single(); ok {
			*b = *only
			t.note(b)
		}
	} else if !b.take(e) {
		b.more = w.takeFrom(b.more, e)
	}
	if b.n == 0 && b.more != nil {
		*b = *b.more
	}
	if b.n == 0 && b.sub == nil {
		t.join(p)
	}
}

// single returns the bucket of a tree that has one cell.
func (t *tree) single() (*bucket, bool) {
	if len(t.nodes) == 1 && len(t.nodes[0].cells) == 1 {
		return &t.nodes[0].cells[0], true
	}
	return nil, false
}
