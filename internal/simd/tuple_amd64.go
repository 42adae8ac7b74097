//go:build amd64 && !purego

package simd

import "unsafe"

//go:generate sh -c "cd _asm && go run ./tuple -out ../tuple_kernels_amd64.s -stubs ../tuple_kernels_amd64.go -pkg simd"

// ProbeTables looks a key up in sixteen hash tables. Bit t of the result tells
// that table t may have rows for it, the first of which is hits[t]. The rows
// are prefetched.
func ProbeTables(p *Probe, key []uint32, dir []uint32, hits *[16]uint32) uint32 {
	if level == AVX512 {
		return probeAVX512((*byte)(unsafe.Pointer(p)), &key[0], hits)
	}
	return probeGeneric(p, key, dir, hits)
}

// MatchBucket returns the order of the first row of a bucket that matches key
// and whose order is from at least and below best, or best. row begins with
// the bucket; key has eight words per line. Rows are in ascending order.
func MatchBucket(row, key []uint32, lines int, from, best uint32) uint32 {
	if level == AVX512 {
		return bucketAVX512(&row[0], &key[0], lines, from, best)
	}
	return matchBucketGeneric(row, key, lines, from, best)
}

// MatchColumns compares a key with len(found) blocks of sixteen rules, stored
// column by column: for each of the lanes sixteen lower ends, then sixteen
// widths. Bit i of found[b] tells whether rule i of block b matches.
func MatchColumns(block []uint32, lanes, key []uint32, found []uint16) {
	if level == AVX512 && len(lanes) > 0 && len(found) > 0 {
		_ = block[len(found)*len(lanes)*32-1]
		columnsAVX512(&block[0], len(found), &lanes[0], len(lanes), &key[0], &found[0])
		return
	}
	matchColumnsGeneric(block, lanes, key, found)
}
