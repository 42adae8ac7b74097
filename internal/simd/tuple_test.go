package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// tupleCase is random tables with rows, and keys that hit some of them.
type tupleCase struct {
	groups  []Group
	columns [][]ProbeColumn
	dir     []uint32
	rows    []uint32
	lines   int
	keys    []uint32
	n       int
}

func newTupleCase(r *rand.Rand, lines int) *tupleCase {
	c := &tupleCase{lines: lines, dir: make([]uint32, 2), rows: make([]uint32, lines*RowWords), n: 40}
	words := 8 * lines
	for range c.n * words {
		c.keys = append(c.keys, r.Uint32N(4))
	}
	order := uint32(1)
	for range 1 + r.IntN(2) {
		g := Group{}
		columns := make([]ProbeColumn, 1+r.IntN(4))
		for i := range columns {
			columns[i] = ProbeColumn{Factor: r.Uint32() | 1, Lane: uint32(r.IntN(7))}
			for t := range columns[i].Mask {
				columns[i].Mask[t] = []uint32{0, ^uint32(0), ^uint32(1)}[r.IntN(3)]
			}
		}
		live := 1 + r.IntN(16)
		for t := range 16 {
			g.Shift[t], g.Least[t] = 31, 1<<31-1
			if t >= live {
				continue
			}
			g.Shift[t], g.Base[t], g.Least[t] = 32-4, uint32(len(c.dir)), order
			for range 16 {
				c.dir = append(c.dir, c.bucket(r, &order))
			}
		}
		c.groups, c.columns = append(c.groups, g), append(c.columns, columns)
	}
	for i := range c.groups {
		g := &c.groups[i]
		g.Columns, g.Count = &c.columns[i][0], len(c.columns[i])
		g.Dir, g.Rows, g.Stride = &c.dir[0], &c.rows[0], 4*lines*RowWords
	}
	return c
}

// bucket appends up to three rows and returns the directory's entry.
func (c *tupleCase) bucket(r *rand.Rand, order *uint32) uint32 {
	n := r.IntN(4)
	if n == 0 {
		return 0
	}
	entry := uint32(len(c.rows)/(c.lines*RowWords)) | r.Uint32N(1<<EntryTagBits)<<EntryRowBits
	if r.IntN(2) == 0 {
		entry |= EntryAny
	}
	for i := range n {
		row := make([]uint32, c.lines*RowWords)
		for l := range c.lines {
			for j := range 8 {
				row[l*RowWords+j], row[l*RowWords+8+j] = r.Uint32N(4), []uint32{^uint32(0), ^uint32(0), 1, ^uint32(0) - 1}[r.IntN(4)]
			}
		}
		row[RowOrder] = *order
		*order++
		if i == n-1 {
			row[RowOrder] |= RowLast
		}
		c.rows = append(c.rows, row...)
	}
	return entry
}

// batch looks all keys up as a caller does.
func (c *tupleCase) batch() []uint32 {
	best := make([]uint32, c.n)
	for i := range best {
		best[i] = 1<<31 - 1
	}
	rows, owners := make([]uint32, 16*(c.n+1)), make([]uint32, 16*(c.n+1))
	stride := 8 * c.lines
	for i := range c.groups {
		g := &c.groups[i]
		n := ProbeBatch(&g.Probe, c.keys, stride, c.dir, best, &g.Least, rows, owners)
		for n > 0 {
			n = MatchBatch(rows, owners, n, c.rows, c.lines, c.keys, stride, best)
		}
	}
	return best
}

// The vector forms of table lookups give what the generic ones give, single
// and in batches.
func TestTables(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range 300 {
		c := newTupleCase(r, 1+r.IntN(3))
		stride := 8 * c.lines
		restore := Set(Generic)
		want := c.batch()
		for i := range c.n {
			key := c.keys[i*stride:][:stride]
			if got := LookupTables(c.groups, key, c.dir, c.rows, c.lines, 0, 1<<31-1); got != want[i] {
				t.Fatalf("generic: %d, in a batch %d", got, want[i])
			}
		}
		restore()
		for l := Generic; l <= Supported(); l++ {
			restore := Set(l)
			if got := c.batch(); !slices.Equal(got, want) {
				t.Fatalf("%v: %v, want %v", l, got, want)
			}
			for i := range c.n {
				key := c.keys[i*stride:][:stride]
				if got := LookupTables(c.groups, key, c.dir, c.rows, c.lines, 0, 1<<31-1); got != want[i] {
					t.Fatalf("%v: %d, want %d", l, got, want[i])
				}
				from := want[i] + 1
				got := LookupTables(c.groups, key, c.dir, c.rows, c.lines, from, 1<<31-1)
				if after := lookupGeneric(c.groups, key, c.dir, c.rows, c.lines, from, 1<<31-1); got != after {
					t.Fatalf("%v: behind %d: %d, want %d", l, want[i], got, after)
				}
			}
			restore()
		}
		for _, w := range want {
			if w != 1<<31-1 {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d keys were found", found)
	}
}

// The vector form of the scan gives what the generic one gives.
func TestMatchColumns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		for range 500 {
			lanes := make([]uint32, 1+r.IntN(5))
			for i := range lanes {
				lanes[i] = r.Uint32N(8)
			}
			key := make([]uint32, 8)
			for i := range key {
				key[i] = r.Uint32N(3)
			}
			got, want := make([]uint16, 1+r.IntN(6)), make([]uint16, 6)
			block := make([]uint32, len(got)*len(lanes)*32)
			for i := range block {
				block[i] = []uint32{0, 1, 2, ^uint32(0)}[r.IntN(4)]
			}
			want = want[:len(got)]
			matchColumnsGeneric(block, lanes, key, want)
			MatchColumns(block, lanes, key, got)
			if !slices.Equal(got, want) {
				t.Fatalf("%x, want %x", got, want)
			}
		}
	})
}
