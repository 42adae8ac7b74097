package simd

import (
	"math/bits"
	"unsafe"
)

// A row is what one rule asks of a key, in lines of sixteen words: eight lower
// ends, then eight widths. A lane matches if key - low <= width, modulo 2^32,
// so that a range may go around. In the first line, lane 7 is no range: its
// lower end is the row's order, with RowLast set in the last row of a bucket.
const (
	// RowWords is the size of a line.
	RowWords = 16
	// RowOrder is the word of the first line that holds the order.
	RowOrder = 7
	// RowLast marks the last row of a bucket.
	RowLast = 1 << 31
)

// Directory entries: 0 is empty, else bits 0-21 are the row's number, 22-30 the
// tag, which is the low bits of the hash, and EntryAny says that keys of any
// tag may be in the bucket. Row 0 is never used.
const (
	EntryRowBits = 22
	EntryTagBits = 9
	EntryAny     = 1 << 31
	hashFactor   = 0x9e3779b1
)

// Probe describes sixteen hash tables whose keys are the same words under
// different masks. Lanes without table have a base that leads to two empty
// entries and a shift of 31.
type Probe struct {
	Shift, Base [16]uint32
	Columns     *ProbeColumn
	Count       int
	Dir         *uint32
	Rows        *uint32
	Stride      int // bytes from row to row
}

// ProbeColumn is one word of the keys: its masks in the tables, an odd factor,
// and which word of the key it is.
type ProbeColumn struct {
	Mask   [16]uint32
	Factor uint32
	Lane   uint32
}

// Group is sixteen tables with the lowest order in each, ascending.
type Group struct {
	Probe
	Least [16]uint32
}

// Hash is the hash of a masked key in a table: the products of words and
// factors are added up, and Hash finishes the sum. The bucket is its high, the
// tag its low bits.
func Hash(sum uint32) uint32 {
	sum ^= sum >> 16
	return sum * hashFactor
}

func matchBucketGeneric(row, key []uint32, lines int, from, best uint32) uint32 {
	for {
		order := row[RowOrder] &^ RowLast
		if order >= best {
			return best
		}
		if order >= from && matchesRow(row, key, lines) {
			return order
		}
		if row[RowOrder]&RowLast != 0 {
			return best
		}
		row = row[lines*RowWords:]
	}
}

func matchesRow(row, key []uint32, lines int) bool {
	for l := range lines {
		line, words := row[l*RowWords:][:RowWords], key[l*8:][:8]
		for i, w := range words {
			if w-line[i] > line[8+i] && (l > 0 || i != RowOrder) {
				return false
			}
		}
	}
	return true
}

// MatchColumns compares a key with blocks of sixteen rules, stored column by
// column: for each of the lanes sixteen lower ends, then sixteen widths. Bit i
// of found[b] tells whether rule i of block b matches.
func matchColumnsGeneric(block []uint32, lanes, key []uint32, found []uint16) {
	for b := range found {
		mask := uint16(0xffff)
		for _, lane := range lanes {
			column := block[:32]
			block = block[32:]
			x := key[lane]
			for i := range 16 {
				if x-column[i] > column[16+i] {
					mask &^= 1 << i
				}
			}
		}
		found[b] = mask
	}
}

func probeGeneric(p *Probe, key, dir []uint32, hits *[16]uint32) uint32 {
	var sums [16]uint32
	for _, c := range unsafe.Slice(p.Columns, p.Count) {
		x := key[c.Lane]
		for t := range sums {
			sums[t] += (x & c.Mask[t]) * c.Factor
		}
	}
	mask := uint32(0)
	for t, sum := range sums {
		h := Hash(sum)
		e := dir[p.Base[t]+h>>p.Shift[t]]
		hits[t] = e & (1<<EntryRowBits - 1)
		tag := e >> EntryRowBits & (1<<EntryTagBits - 1)
		if e != 0 && (e&EntryAny != 0 || tag == h&(1<<EntryTagBits-1)) {
			mask |= 1 << t
		}
	}
	return mask
}

func probeBatchGeneric(p *Probe, keys []uint32, stride int, dir, best []uint32, least *[16]uint32, rows, owners []uint32) int {
	var hits [16]uint32
	n := 0
	for i, b := range best {
		if b <= least[0] {
			continue
		}
		for m := probeGeneric(p, keys[i*stride:], dir, &hits); m != 0; m &= m - 1 {
			if t := bits.TrailingZeros32(m) & 15; least[t] < b {
				rows[n], owners[n] = hits[t], uint32(i)
				n++
			}
		}
	}
	return n
}

func matchBatchGeneric(rows, owners []uint32, n int, table []uint32, lines int, keys []uint32, stride int, best []uint32) int {
	kept := 0
	for j := range n {
		number, owner := rows[j], owners[j]
		row := table[int(number)*lines*RowWords:]
		order := row[RowOrder] &^ RowLast
		if order >= best[owner] {
			continue
		}
		if matchesRow(row, keys[int(owner)*stride:], lines) {
			best[owner] = order
		} else if row[RowOrder]&RowLast == 0 {
			rows[kept], owners[kept] = number+1, owner
			kept++
		}
	}
	return kept
}

func lookupGeneric(groups []Group, key, dir, rows []uint32, lines int, from, best uint32) uint32 {
	var hits [16]uint32
	for i := range groups {
		g := &groups[i]
		if g.Least[0] >= best {
			break
		}
		for m := probeGeneric(&g.Probe, key, dir, &hits); m != 0; m &= m - 1 {
			t := bits.TrailingZeros32(m) & 15
			if g.Least[t] >= best {
				break
			}
			best = matchBucketGeneric(rows[int(hits[t])*lines*RowWords:], key, lines, from, best)
		}
	}
	return best
}
