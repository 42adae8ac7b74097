package pipapo

import (
	"slices"

	"verdict/internal/simd"
	"verdict/set/elem"
)

// fan is how many cells a node of a tree has at most.
const fan = 64

// tree cuts the values of one word of the key into cells. An element is in the
// bucket of every cell that its range of that word reaches into. Nodes and
// buckets belong to the transaction that made them; another one copies them.
type tree struct {
	word   uint8
	owner  uint32
	firsts []uint32 // the first value of each node
	nodes  []*node
}

// node is consecutive cells: cell i has the values from keys[i] on.
type node struct {
	keys  [fan]uint32
	cells [fan]*bucket
	n     int
	owner uint32
	_     [52]byte // to a multiple of a cache line
}

// place is the position of a cell.
type place struct{ node, cell int }

// find returns the place of the cell with value x.
func (t *tree) find(x uint32) place {
	i := upper32(t.firsts, x) - 1
	n := t.nodes[i]
	return place{i, simd.CountNotAbove(&n.keys, n.n, x) - 1}
}

// upper32 returns how many of the ascending keys are not above x. The search
// has no branches that depend on the keys, which no processor could predict.
func upper32(keys []uint32, x uint32) int {
	base, n := 0, len(keys)
	for n > 1 {
		half := n / 2
		above := int((uint64(x) - uint64(keys[base+half-1])) >> 63) // 1 if the key is above x
		base += half & (above - 1)
		n -= half
	}
	if n == 1 && keys[base] <= x {
		base++
	}
	return base
}

// bucketOf returns the bucket of the smallest cell that the words are in.
func (t *tree) bucketOf(w *words) *bucket {
	for {
		x := w[t.word&(maxWords-1)]
		i := upper32(t.firsts, x) - 1
		n := t.nodes[i]
		b := n.cells[(simd.CountNotAbove(&n.keys, n.n, x)-1)&(fan-1)]
		if b.sub == nil {
			return b
		}
		t = b.sub
	}
}

// last returns the last value of the cell at p.
func (t *tree) last(p place) uint32 {
	if n := t.nodes[p.node]; p.cell+1 < n.n {
		return n.keys[p.cell+1] - 1
	}
	if p.node+1 < len(t.firsts) {
		return t.firsts[p.node+1] - 1
	}
	return ^uint32(0)
}

func (t *tree) next(p place) (place, bool) {
	if p.cell+1 < t.nodes[p.node].n {
		return place{p.node, p.cell + 1}, true
	}
	if p.node+1 < len(t.nodes) {
		return place{p.node + 1, 0}, true
	}
	return p, false
}

// cells counts the smallest cells that a box reaches into, up to limit.
func (t *tree) cells(low, high *words, limit int) int {
	n := 0
	p, ok := t.find(low[t.word]), true
	for ok && n < limit {
		nd := t.nodes[p.node]
		if nd.keys[p.cell] > high[t.word] {
			break
		}
		if b := nd.cells[p.cell]; b.sub != nil {
			n += b.sub.cells(low, high, limit-n)
		} else {
			n++
		}
		p, ok = t.next(p)
	}
	return n
}

// newTree returns a tree of one cell.
func newTree(word uint8, b *bucket, owner uint32) *tree {
	n := &node{n: 1, owner: owner}
	n.cells[0] = b
	return &tree{word: word, owner: owner, firsts: []uint32{0}, nodes: []*node{n}}
}

func (t *tree) owned(owner uint32) *tree {
	if t.owner == owner {
		return t
	}
	return &tree{
		word: t.word, owner: owner,
		firsts: append(make([]uint32, 0, len(t.firsts)+4), t.firsts...),
		nodes:  append(make([]*node, 0, len(t.nodes)+4), t.nodes...),
	}
}

// node returns node i of an owned tree for changing.
func (t *tree) node(i int) *node {
	n := t.nodes[i]
	if n.owner != t.owner {
		c := *n
		c.owner = t.owner
		n = &c
		t.nodes[i] = n
	}
	return n
}

// divide cuts the cell at p of an owned tree before value x. b becomes the
// bucket of the upper part.
func (t *tree) divide(p place, x uint32, b *bucket) {
	n := t.node(p.node)
	if n.n == fan {
		half := fan / 2
		if p.node == len(t.nodes)-1 && p.cell == fan-1 {
			half = fan - 1
		}
		upper := &node{n: fan - half, owner: t.owner}
		copy(upper.keys[:], n.keys[half:])
		copy(upper.cells[:], n.cells[half:])
		clear(n.cells[half:])
		n.n = half
		t.nodes = slices.Insert(t.nodes, p.node+1, upper)
		t.firsts = slices.Insert(t.firsts, p.node+1, upper.keys[0])
		if p.cell >= half {
			p = place{p.node + 1, p.cell - half}
			n = upper
		}
	}
	at := p.cell + 1
	copy(n.keys[at+1:n.n+1], n.keys[at:n.n])
	copy(n.cells[at+1:n.n+1], n.cells[at:n.n])
	n.keys[at], n.cells[at] = x, b
	n.n++
}

// join removes the empty cell at p of an owned tree: a neighbour takes its
// values. The tree keeps one cell at least.
func (t *tree) join(p place) {
	n := t.node(p.node)
	if n.n == 1 {
		if len(t.nodes) == 1 {
			return
		}
		t.nodes = slices.Delete(t.nodes, p.node, p.node+1)
		t.firsts = slices.Delete(t.firsts, p.node, p.node+1)
		if p.node == 0 {
			t.node(0).keys[0], t.firsts[0] = 0, 0
		}
		return
	}
	first := n.keys[p.cell]
	copy(n.keys[p.cell:], n.keys[p.cell+1:n.n])
	copy(n.cells[p.cell:], n.cells[p.cell+1:n.n])
	n.n--
	n.cells[n.n] = nil
	if p.cell == 0 {
		n.keys[0] = first
	}
}

// each visits the elements in all cells; one that reaches into several cells
// more than once.
func (t *tree) each(visit func(*elem.Entry)) {
	for _, n := range t.nodes {
		for _, b := range n.cells[:n.n] {
			if b.sub != nil {
				b.sub.each(visit)
			} else {
				b.each(visit)
			}
		}
	}
}

// bytes is the memory of the tree.
func (t *tree) bytes() int {
	const nodeBytes, bucketBytes = 896, 448
	n := 48 + cap(t.firsts)*4 + cap(t.nodes)*8
	for _, nd := range t.nodes {
		n += nodeBytes
		for _, b := range nd.cells[:nd.n] {
			for c := b; c != nil; c = c.more {
				n += bucketBytes
			}
			if b.sub != nil {
				n += b.sub.bytes()
			}
		}
	}
	return n
}
