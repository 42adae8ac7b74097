package classify

import (
	"math/bits"
	"slices"
)

// vectors keeps rows as bit vectors: each value of a column belongs to a class,
// and each class has a vector of the rows that it satisfies. A key matches the
// rows that the vectors of all its classes have in common.
type vectors struct {
	orders  []uint32
	words   int // of a vector
	summary int // of its summary: bit w tells whether word w is not zero
	columns []vectorColumn
	size    int
	// head scans the first rows: where a better rule is known already, often
	// only few of the rows come before it.
	head *scan
}

// headRows is how many rows can be scanned in less time than it takes to find
// the classes of a key.
const headRows = 64

// vectorColumn finds the class of a value.
type vectorColumn struct {
	lead   []uint32 // by class: the lowest order in its vector
	lane   int
	starts []uint32 // where intervals begin, ascending; the first is 0
	class  []uint32 // by interval: where its vector begins in bits
	bits   []uint64 // vectors, each behind its summary
	top    []uint32 // by leading bits: the first interval, to narrow the search
	shift  uint8
}

// newVectors stores rows, or as many of them as memory allows, and returns how
// many it took.
func newVectors(r *rows, lanes []int, budget int) *vectors {
	n := r.count()
	v := &vectors{orders: r.orders, words: (n + 63) / 64}
	v.summary = (v.words + 63) / 64
	v.head = newScan(r.slice(0, min(n, headRows)), lanes)
	for c := range r.columns {
		bounded := false
		for i := 0; i < n && !bounded; i++ {
			bounded = !r.row(i)[c].all()
		}
		if !bounded {
			continue
		}
		column, ok := v.column(r, c, budget-v.size)
		if !ok {
			return nil
		}
		column.lane = lanes[c]
		v.columns = append(v.columns, column)
		v.size += column.bytes()
	}
	return v
}

// edge is where a row's range begins or ends.
type edge struct {
	at  uint32
	row int32
}

// column makes the classes of a column; ok is false where they would take more
// than the budget.
func (v *vectors) column(r *rows, c, budget int) (column vectorColumn, ok bool) {
	var edges []edge
	current := make([]uint64, v.summary+v.words)
	body := current[v.summary:]
	for i := range r.count() {
		x := r.row(i)[c]
		if x.Contains(0) {
			body[i>>6] |= 1 << (i & 63)
		}
		if x.all() {
			continue
		}
		if x.Low != 0 {
			edges = append(edges, edge{x.Low, int32(i)})
		}
		if end := x.high() + 1; end != 0 {
			edges = append(edges, edge{end, int32(i)})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for w, x := range body {
		if x != 0 {
			current[w>>6] |= 1 << (w & 63)
		}
	}
	classes := newInterner(current)
	column.add(0, classes, current)
	for i := 0; i < len(edges); {
		at := edges[i].at
		for ; i < len(edges) && edges[i].at == at; i++ {
			row := edges[i].row
			w := int(row >> 6)
			body[w] ^= 1 << (row & 63)
			if body[w] != 0 {
				current[w>>6] |= 1 << (w & 63)
			} else {
				current[w>>6] &^= 1 << (w & 63)
			}
		}
		column.add(at, classes, current)
		if 8*len(classes.bits) > budget {
			return column, false
		}
	}
	column.bits = classes.bits
	column.index()
	size := v.summary + v.words
	for at := 0; at+size <= len(column.bits) && size > 0; at += size {
		column.lead = append(column.lead, v.leadOf(column.bits[at+v.summary:at+size]))
	}
	return column, true
}

// leadOf is the lowest order in a vector.
func (v *vectors) leadOf(body []uint64) uint32 {
	for w, x := range body {
		if x != 0 {
			return v.orders[w<<6+bits.TrailingZeros64(x)]
		}
	}
	return None
}

func (c *vectorColumn) add(at uint32, classes *interner, vector []uint64) {
	c.starts = append(c.starts, at)
	c.class = append(c.class, classes.place(vector))
}

// interner stores equal vectors once.
type interner struct {
	bits  []uint64
	size  int
	known map[uint64][]uint32
}

func newInterner(like []uint64) *interner {
	return &interner{size: len(like), known: map[uint64][]uint32{}}
}

func (n *interner) place(vector []uint64) uint32 {
	h := uint64(0)
	for i, w := range vector {
		h = (h ^ w) * 0x9e3779b97f4a7c15
		h ^= h>>29 + uint64(i)
	}
	for _, at := range n.known[h] {
		if slices.Equal(n.bits[int(at)*n.size:][:n.size], vector) {
			return at
		}
	}
	at := uint32(0)
	if n.size > 0 {
		at = uint32(len(n.bits) / n.size)
	}
	n.bits = append(n.bits, vector...)
	n.known[h] = append(n.known[h], at)
	return at
}

// index makes the table that narrows the search for an interval. A column of
// few bits gets an entry per value.
func (c *vectorColumn) index() {
	size := min(max(bits.Len(uint(len(c.starts)))+1, 8), 16)
	c.shift = uint8(32 - size)
	if last := c.starts[len(c.starts)-1]; last < 1<<16 {
		c.shift = 0
		size = bits.Len32(last)
	}
	c.top = make([]uint32, 1<<size+1)
	j := 0
	for b := range c.top {
		for j+1 < len(c.starts) && uint64(c.starts[j+1]) <= uint64(b)<<c.shift {
			j++
		}
		c.top[b] = uint32(j)
	}
}

// find returns the interval of a value.
func (c *vectorColumn) find(x uint32) uint32 {
	b := x >> c.shift
	if b >= uint32(len(c.top)-1) {
		return uint32(len(c.starts) - 1)
	}
	// The last start that is not above x lies between the two.
	low, n := c.top[b], c.top[b+1]-c.top[b]
	for n > 0 {
		half := (n + 1) / 2
		if c.starts[low+half] <= x {
			low += half
			n -= half
		} else {
			n = half - 1
		}
	}
	return low
}

// next returns the lowest order from one on that matches and is below best, or
// best.
func (v *vectors) next(key []uint32, from, best uint32) uint32 {
	if v.orders[0] >= best {
		return best
	}
	if len(v.orders) <= headRows || v.orders[headRows] >= best {
		return v.head.next(key, from, best)
	}
	first := 0
	if from > v.orders[0] {
		first, _ = slices.BinarySearch(v.orders, from)
	}
	if first == len(v.orders) || v.orders[first] >= best {
		return best
	}
	if len(v.columns) == 1 && first == 0 {
		c := &v.columns[0]
		return min(c.lead[c.class[c.find(key[c.lane])]], best)
	}
	return v.intersect(key, first, best)
}

// intersect looks for the first row, from one on, that all vectors have.
func (v *vectors) intersect(key []uint32, first int, best uint32) uint32 {
	var vs [maxLines * 8][]uint64
	size := v.summary + v.words
	for i := range v.columns {
		c := &v.columns[i]
		at := int(c.class[c.find(key[c.lane])]) * size
		vs[i] = c.bits[at : at+size]
	}
	used := vs[:len(v.columns)]
	word, skip := first>>6, ^uint64(0)<<(first&63)
	for s := word >> 6; s < v.summary; s++ {
		some := ^uint64(0)
		for _, x := range used {
			some &= x[s]
		}
		if s == word>>6 {
			some &= ^uint64(0) << (word & 63)
		}
		for ; some != 0; some &= some - 1 {
			w := s<<6 + bits.TrailingZeros64(some)
			if w >= v.words {
				return best
			}
			both := ^uint64(0)
			for _, x := range used {
				both &= x[v.summary+w]
			}
			if w == word {
				both &= skip
			}
			if both == 0 {
				continue
			}
			i := w<<6 + bits.TrailingZeros64(both)
			if i >= len(v.orders) {
				return best
			}
			return min(v.orders[i], best)
		}
	}
	return best
}

func (c *vectorColumn) bytes() int {
	return 4*(len(c.starts)+len(c.class)+len(c.top)+len(c.lead)) + 8*len(c.bits)
}

func (v *vectors) bytes() int { return v.size + 4*len(v.orders) + v.head.bytes() }

// newVectorBlocks divides rows into blocks whose vectors fit into the budget.
func newVectorBlocks(r *rows, lanes []int, budget int) []*vectors {
	if v := newVectors(r, lanes, budget); v != nil || r.count() <= 64 {
		if v == nil {
			v = newVectors(r, lanes, 1<<62)
		}
		return []*vectors{v}
	}
	half := r.count() / 2
	return append(newVectorBlocks(r.slice(0, half), lanes, budget/2), newVectorBlocks(r.slice(half, r.count()), lanes, budget/2)...)
}

// slice is the rows from one on up to another.
func (r *rows) slice(from, to int) *rows {
	k := len(r.columns)
	return &rows{columns: r.columns, ranges: r.ranges[from*k : to*k], orders: r.orders[from:to]}
}
