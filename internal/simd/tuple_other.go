//go:build !amd64 || purego

package simd

// MatchColumns compares a key with len(found) blocks of sixteen rules, stored
// column by column: for each of the lanes sixteen lower ends, then sixteen
// widths. Bit i of found[b] tells whether rule i of block b matches.
func MatchColumns(block []uint32, lanes, key []uint32, found []uint16) {
	matchColumnsGeneric(block, lanes, key, found)
}

// ProbeBatch looks up len(best) keys, stride words apart, in sixteen tables. It
// stores the rows that it finds, and in owners the number of the key, and
// returns how many there are. rows and owners have room for sixteen per key.
// Tables whose lowest order, in least, is not below the key's best are left
// out.
func ProbeBatch(p *Probe, keys []uint32, stride int, dir, best []uint32, least *[16]uint32, rows, owners []uint32) int {
	return probeBatchGeneric(p, keys, stride, dir, best, least, rows, owners)
}

// MatchBatch compares the first n rows of a list with the keys that own them
// and lowers best where they match. It keeps in the list the next row of those
// buckets that go on, and returns how many there are.
func MatchBatch(rows, owners []uint32, n int, table []uint32, lines int, keys []uint32, stride int, best []uint32) int {
	return matchBatchGeneric(rows, owners, n, table, lines, keys, stride, best)
}

// LookupTables looks a key up in all tables of the groups and returns the
// order of the first row that matches and whose order is from at least and
// below best, or best. All groups share dir and rows.
func LookupTables(groups []Group, key, dir, rows []uint32, lines int, from, best uint32) uint32 {
	return lookupGeneric(groups, key, dir, rows, lines, from, best)
}
