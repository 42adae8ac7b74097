package pipapo

import (
	"math/bits"
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
	// lone: what buckets compare is the key, and no element expires.
	lone    bool
	trees   [burst]*tree
	nodes   [burst]*node
	buckets [burst]*bucket
	// What the kernels take and give, by lookup.
	x, y, n, found [burst]uint32
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
		w     = walk{lone: t.layout.whole && !t.timed}
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
			if w.down(tr, split[:n]) && w.lone {
				w.takeLone(found[:n])
			} else {
				w.take(t.layout, split[:n], now, found[:n])
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

// down leads all lookups from the root of a tree to their buckets, and compares
// these. It tells whether they are all of even trees, which have no more.
func (w *walk) down(root *tree, split []words) (even bool) {
	var active [burst]uint8
	left := active[:0]
	even = true
	for i := range split {
		w.trees[i] = root
		if len(root.nodes) <= nearNodes {
			x := split[i][root.word%maxWords]
			n := root.nodeAt(x)
			w.buckets[i] = &n.cells[n.at(x)]
			if !w.deeper(i) {
				continue
			}
		}
		left = append(left, uint8(i))
	}
	for len(left) > 0 {
		w.level(left, split)
		n := 0
		for _, i := range left {
			if w.deeper(int(i)) {
				left[n] = i
				n++
			}
		}
		left = left[:n]
	}
	for i := range split {
		even = even && !w.trees[i%burst].uneven
	}
	w.match(split)
	return even
}

// deeper leads a lookup on to the tree in its cell, if there is one.
func (w *walk) deeper(i int) bool {
	i %= burst
	if !w.trees[i].uneven || w.buckets[i].sub == nil {
		return false
	}
	w.trees[i] = w.buckets[i].sub
	return true
}

// ahead is how many lookups find their nodes before these are asked for.
const ahead = 8

// level leads lookups through the node of their tree to a bucket.
func (w *walk) level(left []uint8, split []words) {
	for from := 0; from < len(left); from += ahead {
		to := min(from+ahead, len(left))
		for j, i := range left[from:to] {
			t := w.trees[i%burst]
			x := split[i][t.word%maxWords]
			w.x[(from+j)%burst], w.nodes[(from+j)%burst] = x, t.nodeAt(x)
		}
		simd.PrefetchEach(pointers(&w.nodes)[from:to], nodeBytes/cacheLine)
	}
	for j := range left {
		w.n[j%burst] = uint32(len(w.nodes[j%burst].cells))
	}
	simd.CountEach((*[burst]*[64]uint32)(unsafe.Pointer(&w.nodes))[:len(left)], w.n[:], w.x[:], w.found[:len(left)])
	for j, i := range left {
		b := &w.nodes[j%burst].cells[w.found[j%burst]-1]
		w.buckets[i%burst] = b
		lines := int(bucketBytes) / cacheLine
		if w.lone && !w.trees[i%burst].uneven {
			lines = boxBytes / cacheLine
		}
		simd.Prefetch(unsafe.Pointer(b), lines)
	}
}

// pointers are pointers of any type as what they point to does not matter for.
func pointers[T any](list *[burst]*T) []unsafe.Pointer {
	return (*[burst]unsafe.Pointer)(unsafe.Pointer(list))[:]
}

// match compares all keys with the buckets they are in.
func (w *walk) match(split []words) {
	for i := range split {
		x, y := uint8(0), uint8(1) // of lone buckets, which need not be looked at
		if !w.lone {
			x, y = w.buckets[i%burst].a, w.buckets[i%burst].b
		}
		w.x[i%burst], w.y[i%burst] = split[i][x%maxWords], split[i][y%maxWords]
	}
	simd.Match16Each((*[burst]*[64]uint32)(unsafe.Pointer(&w.buckets))[:], w.x[:], w.y[:], w.found[:len(split)])
}

// takeLone takes what was found in buckets of even trees that the compared
// words decide: no more of a bucket is needed than the one element.
func (w *walk) takeLone(found []*elem.Entry) {
	for i := range found {
		if hits := w.found[i%burst]; hits != 0 {
			simd.Prefetch(unsafe.Pointer(&w.buckets[i%burst].ents[bits.TrailingZeros32(hits)%bucketSize]), 1)
		}
	}
	for i := range found {
		hits := w.found[i%burst]
		if hits == 0 {
			continue
		}
		// What lies behind the last element may have hit, too: nil.
		e := w.buckets[i%burst].ents[bits.TrailingZeros32(hits)%bucketSize]
		if e != nil && (found[i] == nil || e.Order < found[i].Order) {
			found[i] = e
		}
	}
}

// take takes what was found in any buckets.
func (w *walk) take(l *layout, split []words, now int64, found []*elem.Entry) {
	for i := range split {
		b := w.buckets[i%burst]
		w.found[i%burst] &= 1<<b.n - 1
		if hits := w.found[i%burst]; hits != 0 && !l.whole {
			prefetchEntry(b.ents[bits.TrailingZeros32(hits)&(bucketSize-1)])
		}
	}
	for i := range split {
		b := w.buckets[i%burst]
		if hits := w.found[i%burst]; hits != 0 {
			found[i] = b.pick(hits, l, &split[i], now, found[i])
		}
		if b.more != nil {
			found[i] = b.more.best(l, &split[i], now, false, found[i])
		}
	}
}
