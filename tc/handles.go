package tc

import "sort"

// handleOrder keeps handles sorted; sorting waits until somebody asks.
type handleOrder struct {
	list  []uint32
	dirty bool
	gone  map[uint32]bool
}

func (h *handleOrder) add(n uint32) {
	if h.gone[n] {
		h.settle()
	}
	if len(h.list) > 0 && h.list[len(h.list)-1] > n {
		h.dirty = true
	}
	h.list = append(h.list, n)
}

// drop remembers a deletion; the list is cleaned when it is asked for.
func (h *handleOrder) drop(n uint32) {
	if h.gone == nil {
		h.gone = map[uint32]bool{}
	}
	h.gone[n] = true
	if len(h.gone) > len(h.list)/2+16 {
		h.settle()
	}
}

func (h *handleOrder) settle() {
	if len(h.gone) > 0 {
		kept := h.list[:0]
		for _, n := range h.list {
			if !h.gone[n] {
				kept = append(kept, n)
			}
		}
		h.list, h.gone = kept, nil
	}
	if h.dirty {
		sort.Slice(h.list, func(i, j int) bool { return h.list[i] < h.list[j] })
		h.dirty = false
	}
}

// sorted returns the handles in order; the slice is valid until the next
// change.
func (h *handleOrder) sorted() []uint32 {
	h.settle()
	return h.list
}
