package pipapo

import (
	"math"

	"verdict/internal/huge"
	"verdict/set/elem"
	"verdict/set/internal/radix"
)

// A bulk build makes the trees of a table from all elements at once: it sorts
// them by a word and cuts the cells where they come out full.
const (
	// cellFill is how many elements a cell gets if every element is in one.
	cellFill = 14
	// nodeFill is how many cells a node gets.
	nodeFill = fan - 2
	// meanCells is the highest mean of cells per element of a good cut.
	meanCells = 1.5
	// wideShare is the highest share of elements that a good cut leaves to
	// the next tree.
	wideShare = 0.25
	// largestShare is the highest share of elements that a good cut leaves in
	// one cell.
	largestShare = 0.875
	// copies is how often an element may be in cells on average where the
	// ranges overlap so much that no cut is good.
	copies = 8
)

// column is one word of the boxes of all elements.
type column struct{ low, high []uint32 }

// builder builds the trees of a table. Elements are known by their place in
// ents, which is in the order of insertion.
type builder struct {
	w       *writer
	ents    []*elem.Entry
	columns []column
	buckets []bucket
	nodes   []node
	pairs   [2][]uint64 // for sorting
}

// rebuild replaces the trees of the table by those of the elements, which are
// in the order of insertion.
func (w *writer) rebuild(ents []*elem.Entry) {
	w.trees, w.rest, w.n, w.soonest = [groups]*tree{}, nil, len(ents), never
	b := &builder{w: w, ents: ents}
	b.load()
	ids := make([]uint32, len(ents))
	for i := range ids {
		ids[i] = uint32(i)
	}
	for g := 0; g < groups && len(ids) > 0; g++ {
		w.trees[g], ids = b.tree(ids, -1, copies)
		if w.trees[g] == nil {
			w.trees[g] = newTree(0, bucket{b: 1}, w.owner)
			break
		}
	}
	if len(ids) > 0 {
		w.rest = &bucket{}
		b.chain(w.rest, ids)
	}
}

// load fills the columns.
func (b *builder) load() {
	l := b.w.layout
	all := make([]uint32, 2*l.n*len(b.ents))
	for range l.n {
		n := len(b.ents)
		b.columns = append(b.columns, column{all[:n:n], all[n : 2*n : 2*n]})
		all = all[2*n:]
	}
	var low, high words
	for i, e := range b.ents {
		l.box(e, &low, &high)
		for c := range b.columns {
			b.columns[c].low[i], b.columns[c].high[i] = low[c], high[c]
		}
		if e.Timeout() != 0 && e.Expires() < b.w.soonest {
			b.w.soonest = e.Expires()
		}
	}
}

// newCells returns n buckets that lie together.
func (b *builder) newCells(n int) []bucket {
	if len(b.buckets) < n {
		b.buckets = huge.Slice[bucket](min(max(len(b.ents)/cellFill+1, n), 1<<14))
	}
	cells := b.buckets[:n:n]
	b.buckets = b.buckets[n:]
	return cells
}

func (b *builder) newNode(cells int) *node {
	if len(b.nodes) == 0 {
		b.nodes = huge.Slice[node](min(max(len(b.ents)/cellFill/nodeFill+1, 1), 1<<14))
	}
	n := &b.nodes[0]
	b.nodes = b.nodes[1:]
	n.owner, n.cells = b.w.owner, b.newCells(cells)
	return n
}

// plan is a way to cut elements into cells: the word, and the first value of
// each cell.
type plan struct {
	word   int
	firsts []uint32
	mean   float64 // cells of an element
	cost   float64 // elements in a cell
}

// tree makes a tree of elements, and returns those that it does not take:
// none, if the tree is part of another one, which does not take them either.
// word is that of the tree it is part of, or -1. There is no tree if no cut is
// good. room is how often elements may be copied on average.
func (b *builder) tree(ids []uint32, outer int, room float64) (*tree, []uint32) {
	if len(ids) <= bucketSize {
		t := newTree(0, bucket{}, b.w.owner)
		b.chain(&t.nodes[0].cells[0], ids)
		return t, nil
	}
	p, ok := b.plan(ids, outer, room)
	if !ok {
		return nil, ids
	}
	begin, lists, wide := b.distribute(ids, &p, outer < 0)
	t := &tree{word: uint8(p.word), owner: b.w.owner}
	for c := 0; c < len(p.firsts); c += nodeFill {
		firsts := p.firsts[c:min(c+nodeFill, len(p.firsts))]
		n := b.newNode(len(firsts))
		t.nodes, t.firsts = append(t.nodes, n), append(t.firsts, firsts[0])
		for i, first := range firsts {
			n.keys[i] = first
			b.cell(&n.cells[i], lists[begin[c+i]:begin[c+i+1]], p.word, room/p.mean)
			t.note(&n.cells[i])
		}
	}
	t.recut()
	return t, wide
}

// cell fills the bucket of a cell in a tree that cuts the given word.
func (b *builder) cell(k *bucket, ids []uint32, word int, room float64) {
	if len(ids) > bucketSize {
		k.sub, _ = b.tree(ids, word, room)
	}
	if k.sub == nil {
		b.chain(k, ids)
	}
}

// chain fills a bucket, and others behind it if need be.
func (b *builder) chain(k *bucket, ids []uint32) {
	k.owner = b.w.owner
	k.a, k.b = b.tellingWords(ids)
	x, y := b.columns[k.a], b.columns[k.b]
	n := min(len(ids), bucketSize)
	for i, id := range ids[:n] {
		k.ents[i] = b.ents[id]
		k.box[i], k.box[bucketSize+i] = x.low[id], x.high[id]-x.low[id]
		k.box[2*bucketSize+i], k.box[3*bucketSize+i] = y.low[id], y.high[id]-y.low[id]
		if b.ents[id].Timeout() != 0 {
			k.timed |= 1 << i
		}
	}
	k.n = uint8(n)
	if len(ids) > n {
		k.more = &b.newCells(1)[0]
		b.chain(k.more, ids[n:])
	}
}

// tellingWords chooses the two words that tell the elements apart best.
func (b *builder) tellingWords(ids []uint32) (x, y uint8) {
	if len(b.columns) <= 2 || len(ids) == 0 {
		return 0, 1
	}
	most, second := -1, -1
	for i, c := range b.columns {
		n := 0
		for _, id := range ids {
			if c.low[id] != c.low[ids[0]] {
				n += 2
			}
			if c.low[id] != 0 || c.high[id] != b.w.layout.mask[i] {
				n++
			}
		}
		switch {
		case n > most:
			most, second = n, most
			x, y = uint8(i), x
		case n > second:
			second, y = n, uint8(i)
		}
	}
	return x, y
}

// plan chooses the word and the cells to cut the elements into, among the cuts
// that put few elements into more than one cell. The best one leaves nothing to
// cut in the cells. Otherwise it is the one with the fewest cells, as long as
// they divide the elements well: a lookup then finds the upper tree in the
// nearest cache, and only one line of the lower ones is not.
func (b *builder) plan(ids []uint32, outer int, room float64) (plan, bool) {
	best, found := plan{}, false
	for word := range b.columns {
		if word == outer {
			continue
		}
		p, ok := b.planFor(word, ids)
		if !ok {
			continue
		}
		if p.cost < 1.2*cellFill {
			return p, true
		}
		if !found || p.better(best, len(ids)) {
			best, found = p, true
		}
	}
	if !found {
		return b.crowdedPlan(ids, outer, room)
	}
	return best, true
}

// crowdedPlan chooses a cut where all of them put many elements into several
// cells: the one whose cells are smallest for what it copies.
func (b *builder) crowdedPlan(ids []uint32, outer int, room float64) (plan, bool) {
	best, bestWorth := plan{}, 0.0
	for word := range b.columns {
		if word == outer {
			continue
		}
		sorted := b.sortBy(word, ids)
		for parts := 2; parts <= 8; parts *= 2 {
			firsts := firstsOf(sorted, (len(ids)+parts-1)/parts)
			mean, wide, largest := b.sample(ids, word, firsts)
			if len(firsts) < 2 || wide > 0 || mean > room || largest > largestShare {
				continue
			}
			if worth := -math.Log(largest) / math.Log(mean+0.01); worth > bestWorth {
				best, bestWorth = plan{word, firsts, mean, float64(len(ids)) * largest}, worth
			}
		}
	}
	return best, bestWorth > 0
}

// planFor returns the cut of one word with the smallest good cells.
func (b *builder) planFor(word int, ids []uint32) (plan, bool) {
	sorted := b.sortBy(word, ids)
	for stride := cellFill; stride < len(ids); stride *= 4 {
		firsts := firstsOf(sorted, stride)
		if len(firsts) < 2 {
			break
		}
		mean, wide, largest := b.sample(ids, word, firsts)
		if mean <= meanCells && wide <= wideShare && largest <= largestShare {
			return plan{word, firsts, mean, float64(len(ids)) * mean / float64(len(firsts))}, true
		}
	}
	return plan{}, false
}

// better tells whether a cut that leaves cells to be cut once more is better
// than another such one of n elements.
func (p plan) better(old plan, n int) bool {
	const well = 8
	a, b := p.cost*well <= float64(n), old.cost*well <= float64(n)
	if a && b {
		return len(p.firsts) < len(old.firsts)
	}
	return p.cost < old.cost
}

// firstsOf returns the first values of cells with stride elements each.
func firstsOf(sorted []uint64, stride int) []uint32 {
	firsts := make([]uint32, 1, len(sorted)/stride+2)
	for i := stride; i < len(sorted); i += stride {
		x := uint32(sorted[i] >> 32)
		if x != firsts[len(firsts)-1] {
			firsts = append(firsts, x)
		}
	}
	return firsts
}

// sample estimates the mean number of cells of an element, leaving out those
// in too many; the share of these; and the share of all elements that are in
// the cell with most of them. Up to a thousand elements are looked at.
func (b *builder) sample(ids []uint32, word int, firsts []uint32) (mean, wide, largest float64) {
	c := b.columns[word]
	step := max(len(ids)/1024, 1)
	n, cells, tooMany, most := 0, 0, 0, uint16(0)
	in := make([]uint16, len(firsts))
	for i := 0; i < len(ids); i += step {
		id := ids[i]
		from, to := upper32(firsts, c.low[id])-1, upper32(firsts, c.high[id])-1
		n++
		if to-from >= maxCells {
			tooMany++
			continue
		}
		cells += to - from + 1
		for k := from; k <= to; k++ {
			in[k]++
			most = max(most, in[k])
		}
	}
	if n == tooMany {
		return maxCells, 1, 1
	}
	return float64(cells) / float64(n-tooMany), float64(tooMany) / float64(n), float64(most) / float64(n)
}

// distribute returns for each cell the elements in it, in the order of
// insertion: those of cell c are lists[begin[c]:begin[c+1]]. Elements in too
// many cells are returned apart if leave is set.
func (b *builder) distribute(ids []uint32, p *plan, leave bool) (begin, lists, wide []uint32) {
	c := b.columns[p.word]
	begin = make([]uint32, len(p.firsts)+2)
	from, to := make([]uint32, len(ids)), make([]uint32, len(ids))
	for i, id := range ids {
		f := upper32(p.firsts, c.low[id]) - 1
		t := f
		if t+1 < len(p.firsts) && p.firsts[t+1] <= c.high[id] {
			t = upper32(p.firsts, c.high[id]) - 1
		}
		if leave && t-f >= maxCells {
			wide = append(wide, id)
			from[i], to[i] = 1, 0
			continue
		}
		from[i], to[i] = uint32(f), uint32(t)
		for k := f; k <= t; k++ {
			begin[k+2]++
		}
	}
	for k := 2; k < len(begin); k++ {
		begin[k] += begin[k-1]
	}
	lists = make([]uint32, begin[len(begin)-1])
	for i, id := range ids {
		for k := from[i]; k <= to[i]; k++ {
			lists[begin[k+1]] = id
			begin[k+1]++
		}
	}
	return begin[:len(begin)-1], lists, wide
}

// sortBy returns the elements' lower ends in a word with their numbers,
// ascending.
func (b *builder) sortBy(word int, ids []uint32) []uint64 {
	if b.pairs[0] == nil {
		b.pairs[0] = make([]uint64, len(b.ents))
		b.pairs[1] = make([]uint64, len(b.ents))
	}
	low := b.columns[word].low
	from, to := b.pairs[0][:len(ids)], b.pairs[1][:len(ids)]
	for i, id := range ids {
		from[i] = uint64(low[id])<<32 | uint64(id)
	}
	return radix.Sort(from, to)
}
