package decompile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"verdict/nft/ruleset"
)

// ranked is an element with what decides its place in a listing.
type ranked struct {
	rank    uint64 // the value, or its leading 8 bytes
	place   int    // where it was before, for equal values
	element *ruleset.Element
}

// sort brings elements into the order of listings: by value, concatenations
// by their bytes, flags by their lowest bit.
func (w *elementWriter) sort(list []*ruleset.Element) {
	f := &w.keys[0]
	switch {
	case len(w.keys) == 1 && f.flags():
		lowest := func(key []byte) uint64 { return uint64(bits.TrailingZeros64(uint64Of(bigEndian(f, key)))) }
		sortRanked(list, lowest, nil)
	case len(w.keys) == 1 && f.host():
		sortRanked(list, littleEndian, nil)
	default:
		sortRanked(list, leadingBytes, func(a, b *ruleset.Element) int { return bytes.Compare(a.Key, b.Key) })
	}
}

// sortRanked sorts by the rank of keys, then by tie where there is one.
// Elements that are equal keep their order.
func sortRanked(list []*ruleset.Element, rank func(key []byte) uint64, tie func(a, b *ruleset.Element) int) {
	order := make([]ranked, len(list))
	sorted := true
	for i, e := range list {
		order[i] = ranked{rank: rank(e.Key), place: i, element: e}
		sorted = sorted && (i == 0 || order[i-1].rank < order[i].rank)
	}
	if sorted {
		return
	}
	slices.SortFunc(order, func(a, b ranked) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		if tie != nil {
			if c := tie(a.element, b.element); c != 0 {
				return c
			}
		}
		return a.place - b.place
	})
	for i := range order {
		list[i] = order[i].element
	}
}

// leadingBytes orders keys by their first 8 bytes.
func leadingBytes(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// littleEndian is the number in a key of host order.
func littleEndian(key []byte) uint64 {
	var b [8]byte
	copy(b[:], key)
	return binary.LittleEndian.Uint64(b[:])
}
