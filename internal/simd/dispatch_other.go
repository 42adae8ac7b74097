//go:build !amd64 || purego

package simd

import "unsafe"

const supported = Generic

// And8 stores in dst, size words, the intersection of the buckets that the key
// bytes select in table, and with dst's former content if keep is set. table
// must have 256*len(key)*size words, dst at least size.
func And8(dst, table []uint64, size int, key []byte, keep bool) {
	and8Generic(dst, table, size, key, keep)
}

// And4 is And8 for groups of four bits: table has 32*len(key)*size words.
func And4(dst, table []uint64, size int, key []byte, keep bool) {
	and4Generic(dst, table, size, key, keep)
}

// Match16 compares two numbers with sixteen pairs of ranges. box has four rows
// of sixteen: lower ends for x, widths for x, lower ends for y, widths for y.
// Bit i of the result tells that x and y are both in their range i.
func Match16(box *[64]uint32, x, y uint32) uint32 { return match16Generic(box, x, y) }

// CountNotAbove returns how many of the first n ascending keys are not above
// x. n is at most 64; keys from n on may have any value.
func CountNotAbove(keys *[64]uint32, n int, x uint32) int { return countGeneric(keys, n, x) }

// Find16 is CountNotAbove(keys, n, k), less one, and Match16 with the box of
// that number: boxes are stride bytes apart. The first key must not be above k.
// The two cache lines behind the box are asked for meanwhile.
func Find16(keys *[64]uint32, n int, k uint32, boxes *[64]uint32, stride uintptr, x, y uint32) (i int, hits uint32) {
	return findGeneric(keys, n, k, boxes, stride, x, y)
}

// CountEach is CountNotAbove for several at once: counts[i] is that of the
// first n[i] keys of keys[i] and x[i]. All lists are as long as counts.
func CountEach(keys []*[64]uint32, n, x, counts []uint32) { countEachGeneric(keys, n, x, counts) }

// Match16Each is Match16 for several at once: hits[i] is that of boxes[i], x[i]
// and y[i]. All lists are as long as hits.
func Match16Each(boxes []*[64]uint32, x, y, hits []uint32) { match16EachGeneric(boxes, x, y, hits) }

// Prefetch asks for lines cache lines from p on. It reads nothing, so that p
// may be any address.
func Prefetch(unsafe.Pointer, int) {}

// PrefetchEach is Prefetch for several addresses.
func PrefetchEach([]unsafe.Pointer, int) {}
