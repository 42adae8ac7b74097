//go:build amd64 && !purego

package simd

import "unsafe"

//go:generate sh -c "cd _asm && go run ./tuple -out ../tuple_kernels_amd64.s -stubs ../tuple_kernels_amd64.go -pkg simd"

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

// ProbeBatch looks up len(best) keys, stride words apart, in sixteen tables. It
// stores the rows that it finds, and in owners the number of the key, and
// returns how many there are. rows and owners have room for sixteen per key.
// Tables whose lowest order, in least, is not below the key's best are left
// out.
func ProbeBatch(p *Probe, keys []uint32, stride int, dir, best []uint32, least *[16]uint32, rows, owners []uint32) int {
	if level == AVX512 && len(best) > 0 {
		_, _, _ = rows[16*len(best)-1], owners[16*len(best)-1], keys[(len(best)-1)*stride]
		return probeBatchAVX512((*byte)(unsafe.Pointer(p)), &keys[0], 4*stride, len(best), &best[0], &least[0], &rows[0], &owners[0])
	}
	return probeBatchGeneric(p, keys, stride, dir, best, least, rows, owners)
}

// MatchBatch compares the first n rows of a list with the keys that own them
// and lowers best where they match. It keeps in the list the next row of those
// buckets that go on, and returns how many there are.
func MatchBatch(rows, owners []uint32, n int, table []uint32, lines int, keys []uint32, stride int, best []uint32) int {
	if level == AVX512 && n > 0 {
		return matchBatchAVX512(&rows[0], &owners[0], n, &table[0], lines, &keys[0], 4*stride, &best[0])
	}
	return matchBatchGeneric(rows, owners, n, table, lines, keys, stride, best)
}

// LookupTables looks a key up in all tables of the groups and returns the
// order of the first row that matches and whose order is from at least and
// below best, or best. All groups share dir and rows.
func LookupTables(groups []Group, key, dir, rows []uint32, lines int, from, best uint32) uint32 {
	if level == AVX512 && len(groups) > 0 {
		return lookupAVX512((*byte)(unsafe.Pointer(&groups[0])), len(groups), &key[0], lines, from, best)
	}
	return lookupGeneric(groups, key, dir, rows, lines, from, best)
}
