package pipapo

import (
	"unsafe"

	"verdict/internal/simd"
	"verdict/set/elem"
)

const (
	// burst is how many lookups are under way at a time.
	burst = 32
	// cacheLine is the unit of prefetching.
	cacheLine = 64
	// nearNodes is the number of nodes up to which the cells of a root are
	// taken to be in the nearest cache.
	nearNodes = 2
	// prefetchFrom is the number of elements from which a table is too large
	// for the nearest caches.
	prefetchFrom = 4096
)

// walk is the lookups of a burst in one tree, each at some node or bucket.
type walk struct {
	trees   [burst]*tree
	nodes   [burst]*node
	buckets [burst]*bucket
}

// LookupBatch implements elem.View. The lookups of a burst go down the trees
// side by side, and each asks for the memory that it will need next while the
// others go on.
func (t *Table) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	size := t.layout.keyLen
	if stride < size || len(found) > 0 && len(keys) < (len(found)-1)*stride+size {
		clear(found)
		return
	}
	if t.n < prefetchFrom {
		for i := range found {
			found[i] = t.Lookup(keys[i*stride:i*stride+size], now)
		}
		return
	}
	var (
		split [burst]words
		w     walk
	)
	for len(found) > 0 {
		n := min(burst, len(found))
		for i := range n {
			t.layout.split(keys[i*stride:i*stride+size], &split[i])
			found[i] = nil
		}
		for _, tr := range &t.trees {
			if tr == nil {
				break
			}
			w.down(tr, split[:n])
			if !t.layout.whole {
				for i := range n {
					if e := w.buckets[i].first(&split[i]); e != nil {
						prefetchEntry(e)
					}
				}
			}
			for i := range n {
				found[i] = w.buckets[i].best(t.layout, &split[i], now, false, found[i])
			}
		}
		if t.rest != nil {
			for i := range n {
				found[i] = t.rest.best(t.layout, &split[i], now, false, found[i])
			}
		}
		if found = found[n:]; len(found) > 0 {
			keys = keys[n*stride:]
		}
	}
}

// down leads all lookups from the root of a tree to their buckets.
func (w *walk) down(root *tree, split []words) {
	var active [burst]uint8
	left := active[:0]
	for i := range split {
		w.trees[i] = root
		if len(root.nodes) <= nearNodes {
			n := root.nodes[root.nodeOf(split[i][root.word%maxWords])]
			w.buckets[i] = &n.cells[n.at(split[i][root.word%maxWords])]
			if w.trees[i] = w.buckets[i].sub; w.trees[i] == nil {
				continue
			}
		}
		left = append(left, uint8(i))
	}
	for len(left) > 0 {
		w.level(left, split)
		n := 0
		for _, i := range left {
			if sub := w.buckets[i%burst].sub; sub != nil {
				w.trees[i%burst] = sub
				left[n] = i
				n++
			}
		}
		left = left[:n]
	}
}

// level leads lookups through the node of their tree to a bucket.
func (w *walk) level(left []uint8, split []words) {
	for _, i := range left {
		t := w.trees[i%burst]
		n := t.nodes[t.nodeOf(split[i][t.word%maxWords])]
		w.nodes[i%burst] = n
		simd.Prefetch(unsafe.Pointer(n), int(unsafe.Sizeof(*n))/cacheLine)
	}
	for _, i := range left {
		n := w.nodes[i%burst]
		b := &n.cells[n.at(split[i][w.trees[i%burst].word%maxWords])]
		w.buckets[i%burst] = b
		simd.Prefetch(unsafe.Pointer(b), int(unsafe.Sizeof(*b))/cacheLine)
	}
}
