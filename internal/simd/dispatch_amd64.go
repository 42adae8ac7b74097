//go:build amd64 && !purego

package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _asm && go run . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd"

var supported = detect()

func detect() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI2 || !x.HasPOPCNT:
		return Generic
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

// And8 stores in dst, size words, the intersection of the buckets that the key
// bytes select in table, and with dst's former content if keep is set. table
// must have 256*len(key)*size words, dst at least size.
func And8(dst, table []uint64, size int, key []byte, keep bool) {
	if n := vectorWords(size); n > 0 && len(key) > 0 {
		_, _ = dst[size-1], table[256*len(key)*size-1]
		if level == AVX512 {
			and8AVX512(&dst[0], &table[0], size, n, &key[0], len(key), keep)
		} else {
			and8AVX2(&dst[0], &table[0], size, n, &key[0], len(key), keep)
		}
		and8Tail(dst, table, size, n, key, keep)
		return
	}
	and8Generic(dst, table, size, key, keep)
}

// And4 is And8 for groups of four bits: table has 32*len(key)*size words.
func And4(dst, table []uint64, size int, key []byte, keep bool) {
	if n := vectorWords(size); n > 0 && len(key) > 0 {
		_, _ = dst[size-1], table[32*len(key)*size-1]
		if level == AVX512 {
			and4AVX512(&dst[0], &table[0], size, n, &key[0], len(key), keep)
		} else {
			and4AVX2(&dst[0], &table[0], size, n, &key[0], len(key), keep)
		}
		and4Tail(dst, table, size, n, key, keep)
		return
	}
	and4Generic(dst, table, size, key, keep)
}

// vectorWords is how many words of a bucket the vector kernels take.
func vectorWords(size int) int {
	switch level {
	case AVX512:
		return size &^ 7
	case AVX2:
		return size &^ 3
	}
	return 0
}

// Match16 compares two numbers with sixteen pairs of ranges. box has four rows
// of sixteen: lower ends for x, widths for x, lower ends for y, widths for y.
// Bit i of the result tells that x and y are both in their range i.
func Match16(box *[64]uint32, x, y uint32) uint32 {
	switch level {
	case AVX512:
		return match16AVX512(box, x, y)
	case AVX2:
		return match16AVX2(box, x, y)
	}
	return match16Generic(box, x, y)
}

// CountNotAbove returns how many of the first n ascending keys are not above
// x. n is at most 64; keys from n on may have any value.
func CountNotAbove(keys *[64]uint32, n int, x uint32) int {
	switch level {
	case AVX512:
		return countAVX512(keys, n, x)
	case AVX2:
		return countAVX2(keys, n, x)
	}
	return countGeneric(keys, n, x)
}

// Find16 is CountNotAbove(keys, n, k), less one, and Match16 with the box of
// that number: boxes are stride bytes apart. The first key must not be above k.
// The two cache lines behind the box are asked for meanwhile.
func Find16(keys *[64]uint32, n int, k uint32, boxes *[64]uint32, stride uintptr, x, y uint32) (i int, hits uint32) {
	switch level {
	case AVX512:
		return findAVX512(keys, n, k, boxes, int(stride), x, y)
	case AVX2:
		return findAVX2(keys, n, k, boxes, int(stride), x, y)
	}
	return findGeneric(keys, n, k, boxes, stride, x, y)
}

// CountEach is CountNotAbove for several at once: counts[i] is that of the
// first n[i] keys of keys[i] and x[i]. All lists are as long as counts.
func CountEach(keys []*[64]uint32, n, x, counts []uint32) {
	all := len(counts)
	if all == 0 {
		return
	}
	_, _, _ = keys[all-1], n[all-1], x[all-1]
	switch level {
	case AVX512:
		countEachAVX512(&keys[0], &n[0], &x[0], &counts[0], all)
	case AVX2:
		countEachAVX2(&keys[0], &n[0], &x[0], &counts[0], all)
	default:
		countEachGeneric(keys, n, x, counts)
	}
}

// Match16Each is Match16 for several at once: hits[i] is that of boxes[i], x[i]
// and y[i]. All lists are as long as hits.
func Match16Each(boxes []*[64]uint32, x, y, hits []uint32) {
	all := len(hits)
	if all == 0 {
		return
	}
	_, _, _ = boxes[all-1], x[all-1], y[all-1]
	switch level {
	case AVX512:
		match16EachAVX512(&boxes[0], &x[0], &y[0], &hits[0], all)
	case AVX2:
		match16EachAVX2(&boxes[0], &x[0], &y[0], &hits[0], all)
	default:
		match16EachGeneric(boxes, x, y, hits)
	}
}

// Prefetch asks for lines cache lines from p on. It reads nothing, so that p
// may be any address.
func Prefetch(p unsafe.Pointer, lines int) { prefetch((*byte)(p), lines) }

// PrefetchEach is Prefetch for several addresses.
func PrefetchEach(ps []unsafe.Pointer, lines int) {
	if len(ps) > 0 {
		prefetchEach((**byte)(unsafe.Pointer(&ps[0])), len(ps), lines)
	}
}
