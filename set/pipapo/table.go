package pipapo

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"verdict/internal/simd"
	"verdict/set/elem"
	"verdict/set/internal/radix"
)

// groups is the number of trees of a table.
const groups = 4

// Table is one state of a Set, for any number of readers.
//
// The elements are in up to four trees: an element that reaches into too many
// cells of the first is in the second, which may cut another word of the key,
// and so on; the few that fit nowhere are in a list.
type Table struct {
	layout *layout
	timed  bool
	trees  [groups]*tree
	rest   *bucket
	n      int
	// soonest is a time before which no element expires.
	soonest int64
}

const never = 1<<63 - 1

// Lookup implements elem.View: of the elements that hold the key, the one that
// was inserted first and is not expired.
func (t *Table) Lookup(key []byte, now int64) *elem.Entry {
	if len(key) != t.layout.keyLen {
		return nil
	}
	var w words
	t.layout.split(key, &w)
	return t.best(&w, now)
}

func (t *Table) best(w *words, now int64) *elem.Entry {
	var found *elem.Entry
	far := t.n >= prefetchFrom && !t.layout.whole
	for _, tr := range &t.trees {
		if tr == nil {
			break
		}
		if t.layout.n <= 2 {
			b, hits := tr.hitsOf(w)
			found = b.pick(hits, t.layout, w, now, found)
			if b.more != nil {
				found = b.more.best(t.layout, w, now, far, found)
			}
			continue
		}
		b := tr.bucketOf(w)
		if t.n >= prefetchFrom {
			simd.Prefetch(unsafe.Pointer(&b.ents), 2)
		}
		found = b.best(t.layout, w, now, far, found)
	}
	if t.rest != nil {
		found = t.rest.best(t.layout, w, now, far, found)
	}
	return found
}

// lookupString is Lookup for one end of an element.
func (t *Table) lookupString(key string, now int64) *elem.Entry {
	var buf [elem.MaxKeyLen]byte
	return t.Lookup(buf[:copy(buf[:], key)], now)
}

// Len implements elem.View.
func (t *Table) Len() int { return t.n }

// elements returns all elements in the order of insertion.
func (t *Table) elements() []*elem.Entry {
	all := make([]*elem.Entry, 0, t.n+t.n/4)
	gather := func(e *elem.Entry) { all = append(all, e) }
	for _, tr := range &t.trees {
		if tr != nil {
			tr.each(gather)
		}
	}
	t.rest.each(gather)
	return slices.Compact(byOrder(all))
}

// byOrder sorts elements by their order.
func byOrder(all []*elem.Entry) []*elem.Entry {
	if len(all) == 0 {
		return all
	}
	numbers := make([]uint64, len(all))
	least, most := all[0].Order, all[0].Order
	for i, e := range all {
		numbers[i] = e.Order
		least, most = min(least, e.Order), max(most, e.Order)
	}
	if most-least > 1<<32-1 || uint64(len(all)) > 1<<32-1 {
		slices.SortFunc(all, func(a, b *elem.Entry) int { return cmp.Compare(a.Order, b.Order) })
		return all
	}
	for i, order := range numbers {
		numbers[i] = (order-least)<<32 | uint64(i)
	}
	sorted := make([]*elem.Entry, len(all))
	for i, n := range radix.Sort(numbers, make([]uint64, len(numbers))) {
		sorted[i] = all[uint32(n)]
	}
	return sorted
}

// Walk implements elem.View: in the order of insertion.
func (t *Table) Walk(visit func(*elem.Entry) bool) {
	for _, e := range t.elements() {
		if !visit(e) {
			return
		}
	}
}

// structure names what serves the lookups.
func (t *Table) structure() string {
	trees := 0
	for _, tr := range &t.trees {
		if tr != nil {
			trees++
		}
	}
	switch listed := t.rest.count(); {
	case listed > 0:
		return fmt.Sprintf("cells in %d trees, and a list of %d", trees, listed)
	case trees > 1:
		return fmt.Sprintf("cells in %d trees", trees)
	}
	return "cells"
}

func (t *Table) bytes() int {
	n := 0
	for _, tr := range &t.trees {
		if tr != nil {
			n += tr.bytes()
		}
	}
	return n
}
