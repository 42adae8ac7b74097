package pipapo

import (
	"fmt"

	"verdict/set/elem"
)

// Constants of the tables.
//
// Ref: nft_set_pipapo.h
const (
	wordBits = 64
	// bucketWords is the unit in which buckets grow: 32 bytes, 256 rules.
	bucketWords = 4
	// tableHigh is the size in bytes above which groups have four bits.
	tableHigh = 1 << 21
	// tableLow is a size in bytes below which they may have eight again.
	tableLow = tableHigh - 1<<16
	// tableHeadroom is what alignment adds to a table of eight-bit groups in
	// the test whether it would be small enough.
	tableHeadroom = 24
	// maxRules is the number of rules that a field cannot reach.
	maxRules = 1<<31 - 1<<8
	// tableMax is the largest lookup table in bytes.
	tableMax = 1<<31 - 1
	// mappingBytes is the size of an entry of a mapping table.
	mappingBytes = 8
)

// mapping says which rules of the next field belong to a rule.
type mapping struct{ to, n uint32 }

// field is the tables of one field in the kernel's form.
//
// Rules are numbered in the order of insertion. The lookup table has a bit map
// of rules for every value of every group of bits; a rule is in those whose
// values its prefix allows. The mapping table leads from a rule to the rules
// of the same element in the next field, or in the last field to the element.
type field struct {
	size   int // bytes of the field
	offset int // of the field in the key
	bits   int // width of a group, 8 or 4
	words  int // of a bucket
	rules  int
	table  []uint64
	maps   slack[mapping]
	ents   slack[*elem.Entry] // of the last field, instead of maps
	last   bool
	moved  int // bytes copied by re-allocations of the lookup table
}

func (f *field) groups() int { return f.size * 8 / f.bits }

func (f *field) bucket(group, value int) []uint64 {
	at := (group<<f.bits | value) * f.words
	return f.table[at : at+f.words]
}

// wordsFor is the length of a bucket for a number of rules.
func wordsFor(rules int) int {
	w := (rules + wordBits - 1) / wordBits
	return (w + bucketWords - 1) / bucketWords * bucketWords
}

func (f *field) tableBytes() int { return f.groups() << f.bits * f.words * 8 }

// resize gives the tables room for a number of rules; smaller ones are cut.
//
// Ref: nft_set_pipapo.c, pipapo_resize
func (f *field) resize(rules, limit int, s slackRule) error {
	if rules >= limit {
		return fmt.Errorf("%w: %d", elem.ErrNoSpace, limit)
	}
	if words := wordsFor(rules); words != f.words {
		if f.groups()<<f.bits*words > tableMax/8 {
			return fmt.Errorf("%w: lookup table above %d bytes", elem.ErrNoMemory, tableMax)
		}
		grown := make([]uint64, f.groups()<<f.bits*words)
		n := min(words, f.words)
		for b := range f.groups() << f.bits {
			copy(grown[b*words:b*words+n], f.table[b*f.words:])
		}
		f.moved += n * 8 * f.groups() << f.bits
		f.table, f.words = grown, words
	}
	if f.last {
		return f.ents.resize(rules, s)
	}
	return f.maps.resize(rules, s)
}

// add appends the rule of a prefix.
//
// Ref: nft_set_pipapo.c, pipapo_insert
func (f *field) add(p prefix, limit int, s slackRule) error {
	r := f.rules
	if err := f.resize(r+1, limit, s); err != nil {
		return err
	}
	f.rules++
	for g := range f.groups() {
		v := f.groupValue(p.base[:], g)
		keep := min(max(p.len-g*f.bits, 0), f.bits)
		first := v >> (f.bits - keep) << (f.bits - keep)
		for b := first; b < first+1<<(f.bits-keep); b++ {
			f.bucket(g, b)[r/wordBits] |= 1 << (r % wordBits)
		}
	}
	f.adjustBits()
	return nil
}

func (f *field) groupValue(key []byte, g int) int {
	switch {
	case f.bits == 8:
		return int(key[g])
	case g%2 == 0:
		return int(key[g/2] >> 4)
	}
	return int(key[g/2] & 15)
}

// adjustBits switches between groups of eight and of four bits.
//
// Ref: nft_set_pipapo.c, pipapo_lt_bits_adjust
func (f *field) adjustBits() {
	bytes := f.tableBytes()
	switch {
	case f.bits == 8 && bytes > tableHigh:
		f.narrow()
	case f.bits == 4 && bytes < tableLow && bytes*8+tableHeadroom <= tableHigh:
		f.widen()
	}
}

// narrow converts to groups of four bits: a half's bucket is the union of the
// buckets of all values with that half.
func (f *field) narrow() {
	old := *f
	f.bits = 4
	f.table = make([]uint64, f.groups()<<4*f.words)
	for g := range old.groups() {
		for v := range 256 {
			row := old.bucket(g, v)
			high, low := f.bucket(2*g, v>>4), f.bucket(2*g+1, v&15)
			for i, w := range row {
				high[i] |= w
				low[i] |= w
			}
		}
	}
	f.moved += 8 * len(f.table)
}

// widen converts to groups of eight bits: a value's bucket is the
// intersection of those of its halves.
func (f *field) widen() {
	old := *f
	f.bits = 8
	f.table = make([]uint64, f.groups()<<8*f.words)
	for g := range f.groups() {
		for v := range 256 {
			row := f.bucket(g, v)
			high, low := old.bucket(2*g, v>>4), old.bucket(2*g+1, v&15)
			for i := range row {
				row[i] = high[i] & low[i]
			}
		}
	}
	f.moved += 8 * len(f.table)
}

// cut removes n rules from rule first on; later rules move down.
//
// Ref: nft_set_pipapo.c, pipapo_drop
func (f *field) cut(first, n, limit int, s slackRule) {
	for b := range f.groups() << f.bits {
		cutBits(f.table[b*f.words:(b+1)*f.words], first, n)
	}
	if f.last {
		f.ents.cut(first, n)
	} else {
		f.maps.cut(first, n)
	}
	f.rules -= n
	_ = f.resize(f.rules, limit, s) // a failed shrink leaves tables that are too large, but right
	f.adjustBits()
}

// cutBits removes n bits at first from a bit map and moves the later ones down.
func cutBits(m []uint64, first, n int) {
	w, bit := first/wordBits, first%wordBits
	shift, skip := n%wordBits, n/wordBits
	at := func(i int) uint64 { // word i of the map shifted down by n
		i += skip
		v := uint64(0)
		if i < len(m) {
			v = m[i] >> shift
		}
		if shift > 0 && i+1 < len(m) {
			v |= m[i+1] << (wordBits - shift)
		}
		return v
	}
	below := uint64(1)<<bit - 1
	m[w] = m[w]&below | at(w)&^below
	for i := w + 1; i < len(m); i++ {
		m[i] = at(i)
	}
}

// bounds reconstructs from the lookup table the first key of rule first and
// the last key of rule last.
//
// Ref: nft_set_pipapo.c, pipapo_get_boundaries
func (f *field) bounds(first, last int) (low, high [16]byte) {
	for g := range f.groups() {
		l, h := -1, 0
		for v := range 1 << f.bits {
			row := f.bucket(g, v)
			if l < 0 && row[first/wordBits]>>(first%wordBits)&1 != 0 {
				l = v
			}
			if row[last/wordBits]>>(last%wordBits)&1 != 0 {
				h = v
			}
		}
		shift := 0
		if f.bits == 4 && g%2 == 0 {
			shift = 4
		}
		low[g*f.bits/8] |= byte(max(l, 0) << shift)
		high[g*f.bits/8] |= byte(h << shift)
	}
	return low, high
}

func (f *field) clone() field {
	c := *f
	c.table = append([]uint64(nil), f.table...)
	c.maps, c.ents = f.maps.clone(), f.ents.clone()
	return c
}
