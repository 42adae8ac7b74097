package pipapo

import (
	"slices"
	"unsafe"

	"verdict/internal/simd"
	"verdict/set/elem"
)

// fan is how many cells a node of a tree has at most.
const fan = 56

// tree cuts the values of one word of the key into cells. An element is in the
// bucket of every cell that its range of that word reaches into. Nodes and
// their buckets belong to the transaction that made them; another one copies
// them.
type tree struct {
	word   uint8
	owner  uint64
	firsts []uint32 // the first value of each node
	nodes  []*node
	jump   *jump // to find a node by its first value; nil if they are few
	// uneven: some cell is, or was, divided once more or has buckets behind its
	// own.
	uneven bool
}

// node is consecutive cells: cell i has the values from keys[i] on. It is four
// cache lines, and the address of a cell's bucket follows from its number, so
// that a lookup has no other memory to wait for on its way.
type node struct {
	keys  [fan]uint32
	_     [nodeBytes - fan*4 - 8 - 3*unsafe.Sizeof(uintptr(0))]byte
	cells []bucket
	owner uint64
}

// nodeBytes is the size of a node: that of 64 keys.
const nodeBytes = 64 * 4

// at returns the number of the cell with value x.
func (n *node) at(x uint32) int {
	// A node is as large as 64 keys; those that are none do not count.
	return simd.CountNotAbove((*[64]uint32)(unsafe.Pointer(n)), len(n.cells), x) - 1
}

// place is the position of a cell.
type place struct{ node, cell int }

// find returns the place of the cell with value x.
func (t *tree) find(x uint32) place {
	i := t.nodeOf(x)
	return place{i, t.nodes[i].at(x)}
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

// note must be told of every bucket of an owned tree that gets another tree or
// a bucket behind it.
func (t *tree) note(b *bucket) { t.uneven = t.uneven || b.sub != nil || b.more != nil }

// nodeAt returns the node with value x.
func (t *tree) nodeAt(x uint32) *node {
	if len(t.nodes) == 1 {
		return t.nodes[0]
	}
	return t.nodes[t.nodeOf(x)]
}

// bucketOf returns the bucket of the smallest cell that the words are in.
func (t *tree) bucketOf(w *words) *bucket {
	for {
		x := w[t.word&(maxWords-1)]
		n := t.nodeAt(x)
		b := &n.cells[0]
		if len(n.cells) > 1 {
			b = &n.cells[n.at(x)]
		}
		if b.sub == nil {
			return b
		}
		t = b.sub
	}
}

// hitsOf is bucketOf with the bucket's hits, for keys of up to two words: all
// buckets compare these two.
func (t *tree) hitsOf(w *words) (*bucket, uint32) {
	for {
		x := w[t.word&1]
		n := t.nodeAt(x)
		if t.uneven {
			b := &n.cells[n.at(x)]
			if b.sub == nil {
				return b, b.hits(w)
			}
			t = b.sub
			continue
		}
		i, hits := simd.Find16((*[64]uint32)(unsafe.Pointer(n)), len(n.cells), x, &n.cells[0].box, bucketBytes, w[0], w[1])
		b := &n.cells[i]
		return b, hits & (1<<b.n - 1)
	}
}

// last returns the last value of the cell at p.
func (t *tree) last(p place) uint32 {
	if n := t.nodes[p.node]; p.cell+1 < len(n.cells) {
		return n.keys[p.cell+1] - 1
	}
	if p.node+1 < len(t.firsts) {
		return t.firsts[p.node+1] - 1
	}
	return ^uint32(0)
}

func (t *tree) next(p place) (place, bool) {
	if p.cell+1 < len(t.nodes[p.node].cells) {
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
		if b := &nd.cells[p.cell]; b.sub != nil {
			n += b.sub.cells(low, high, limit-n)
		} else {
			n++
		}
		p, ok = t.next(p)
	}
	return n
}

// newTree returns a tree of one cell.
func newTree(word uint8, b bucket, owner uint64) *tree {
	n := &node{cells: []bucket{b}, owner: owner}
	return &tree{word: word, owner: owner, firsts: []uint32{0}, nodes: []*node{n}}
}

func (t *tree) owned(owner uint64) *tree {
	if t.owner == owner {
		return t
	}
	return &tree{
		word: t.word, owner: owner, jump: t.jump, uneven: t.uneven,
		firsts: append(make([]uint32, 0, len(t.firsts)+4), t.firsts...),
		nodes:  append(make([]*node, 0, len(t.nodes)+4), t.nodes...),
	}
}

// node returns node i of an owned tree for changing, its buckets included.
func (t *tree) node(i int) *node {
	n := t.nodes[i]
	if n.owner != t.owner {
		c := *n
		c.owner = t.owner
		c.cells = append(make([]bucket, 0, min(len(n.cells)+4, fan)), n.cells...)
		n = &c
		t.nodes[i] = n
	}
	return n
}

// divide cuts the cell at p of an owned tree before value x. b becomes the
// bucket of the upper part.
func (t *tree) divide(p place, x uint32, b bucket) {
	n := t.node(p.node)
	if len(n.cells) == fan {
		half := fan / 2
		if p.node == len(t.nodes)-1 && p.cell == fan-1 {
			half = fan - 1
		}
		upper := &node{owner: t.owner}
		copy(upper.keys[:], n.keys[half:])
		upper.cells = append(make([]bucket, 0, fan), n.cells[half:]...)
		clear(n.cells[half:])
		n.cells = n.cells[:half]
		t.nodes = slices.Insert(t.nodes, p.node+1, upper)
		t.firsts = slices.Insert(t.firsts, p.node+1, upper.keys[0])
		t.recut()
		if p.cell >= half {
			p = place{p.node + 1, p.cell - half}
			n = upper
		}
	}
	at := p.cell + 1
	copy(n.keys[at+1:len(n.cells)+1], n.keys[at:len(n.cells)])
	n.keys[at] = x
	n.cells = slices.Insert(n.cells, at, b)
}

// join removes the empty cell at p of an owned tree: a neighbour takes its
// values. The tree keeps one cell at least.
func (t *tree) join(p place) {
	n := t.node(p.node)
	if len(n.cells) == 1 {
		if len(t.nodes) == 1 {
			return
		}
		t.nodes = slices.Delete(t.nodes, p.node, p.node+1)
		t.firsts = slices.Delete(t.firsts, p.node, p.node+1)
		if p.node == 0 {
			t.node(0).keys[0], t.firsts[0] = 0, 0
		}
		t.recut()
		return
	}
	first := n.keys[p.cell]
	copy(n.keys[p.cell:], n.keys[p.cell+1:len(n.cells)])
	n.cells = slices.Delete(n.cells, p.cell, p.cell+1)
	if p.cell == 0 {
		n.keys[0] = first
	}
}

// each visits the elements in all cells; one that reaches into several cells
// more than once.
func (t *tree) each(visit func(*elem.Entry)) {
	for _, n := range t.nodes {
		for i := range n.cells {
			if b := &n.cells[i]; b.sub != nil {
				b.sub.each(visit)
			} else {
				b.each(visit)
			}
		}
	}
}

// bytes is the memory of the tree.
func (t *tree) bytes() int {
	n := int(unsafe.Sizeof(tree{})) + cap(t.firsts)*4 + cap(t.nodes)*8
	for _, nd := range t.nodes {
		n += nodeBytes + cap(nd.cells)*int(bucketBytes)
		for i := range nd.cells {
			for c := nd.cells[i].more; c != nil; c = c.more {
				n += int(bucketBytes)
			}
			if sub := nd.cells[i].sub; sub != nil {
				n += sub.bytes()
			}
		}
	}
	return n
}
