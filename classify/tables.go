package classify

import (
	"math/bits"
	"slices"

	"verdict/internal/simd"
)

// tables are hash tables of rows, one per shape, probed sixteen at a time.
type tables struct {
	lines   int // of a row, and of a key
	dir     []uint32
	rows    []uint32
	groups  []simd.Group
	columns [][]simd.ProbeColumn // of the groups
	shapes  int
	longest int // rows in the longest bucket
}

// maxBucket is how many rows a bucket may hold; those of longer ones are kept
// elsewhere.
const maxBucket = 96

// maxRows is what a directory entry can number.
const maxRows = 1<<simd.EntryRowBits - 1

// newTables stores the rows that fit into hash tables and returns the others.
func newTables(r *rows, lanes []int, lines int) (t *tables, rest []int32) {
	shapes, of := plan(r)
	t = &tables{lines: lines, shapes: len(shapes), dir: make([]uint32, 2)}
	parts := make([][]int32, len(shapes))
	for i, id := range of {
		if id < 0 || i >= maxRows {
			rest = append(rest, int32(i))
		} else {
			parts[id] = append(parts[id], int32(i))
		}
	}
	order := make([]int, 0, len(shapes))
	for id := range shapes {
		if len(parts[id]) > 0 {
			order = append(order, id)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return int(parts[a][0]) - int(parts[b][0]) })
	t.rows = make([]uint32, lines*simd.RowWords, (r.count()+1)*lines*simd.RowWords)
	f := factors(len(r.columns))
	for first := 0; first < len(order); first += 16 {
		t.groups = append(t.groups, simd.Group{})
		g := &t.groups[len(t.groups)-1]
		t.columns = append(t.columns, columnsOf(shapes, order[first:min(first+16, len(order))], lanes, f))
		for lane := range 16 {
			g.Shift[lane], g.Least[lane] = 31, None
			if first+lane >= len(order) {
				continue
			}
			id := order[first+lane]
			g.Least[lane] = r.orders[parts[id][0]]
			rest = append(rest, t.fill(r, lanes, &g.Probe, lane, shapes[id], f, parts[id])...)
		}
	}
	slices.Sort(rest)
	for i := range t.groups {
		g := &t.groups[i]
		g.Columns, g.Count = &t.columns[i][0], len(t.columns[i])
		g.Dir, g.Rows, g.Stride = &t.dir[0], &t.rows[0], 4*lines*simd.RowWords
	}
	return t, rest
}

// columnsOf lists the columns that some shape of a group looks at.
func columnsOf(shapes []shape, group []int, lanes []int, factors []uint32) []simd.ProbeColumn {
	var list []simd.ProbeColumn
	for c := range lanes {
		column := simd.ProbeColumn{Factor: factors[c], Lane: uint32(lanes[c])}
		used := false
		for i, id := range group {
			column.Mask[i] = leadingMask(shapes[id][c])
			used = used || shapes[id][c] > 0
		}
		if used {
			list = append(list, column)
		}
	}
	return list
}

// fill makes one table: a directory of buckets, and the rows of each bucket
// one after the other. It returns rows of buckets that are too long.
func (t *tables) fill(r *rows, lanes []int, p *simd.Probe, lane int, s shape, factors []uint32, members []int32) (rest []int32) {
	hashes := make([]uint32, len(members))
	for i, m := range members {
		sum := uint32(0)
		for c, x := range r.row(int(m)) {
			sum += (x.Low & leadingMask(s[c])) * factors[c]
		}
		hashes[i] = simd.Hash(sum)
	}
	size := bits.Len(uint(max(2*len(members)-1, 1)))
	size = max(size, 1)
	p.Shift[lane], p.Base[lane] = uint32(32-size), uint32(len(t.dir))
	starts := make([]int32, 1<<size+1)
	for _, h := range hashes {
		starts[h>>p.Shift[lane]+1]++
	}
	for i := range 1 << size {
		starts[i+1] += starts[i]
	}
	sorted := make([]int32, len(members))
	at := slices.Clone(starts)
	for i, h := range hashes {
		b := h >> p.Shift[lane]
		sorted[at[b]] = int32(i)
		at[b]++
	}
	for b := range 1 << size {
		bucket := sorted[starts[b]:starts[b+1]]
		switch {
		case len(bucket) == 0:
			t.dir = append(t.dir, 0)
		case len(bucket) > maxBucket:
			t.dir = append(t.dir, 0)
			for _, i := range bucket {
				rest = append(rest, members[i])
			}
		default:
			t.longest = max(t.longest, len(bucket))
			t.dir = append(t.dir, t.entry(hashes, bucket))
			for j, i := range bucket {
				t.row(r, lanes, int(members[i]), j == len(bucket)-1)
			}
		}
	}
	return rest
}

// entry is the directory entry of a bucket that begins with the next row.
func (t *tables) entry(hashes []uint32, bucket []int32) uint32 {
	const tags = 1<<simd.EntryTagBits - 1
	e := uint32(len(t.rows) / (t.lines * simd.RowWords))
	tag := hashes[bucket[0]] & tags
	for _, i := range bucket {
		if hashes[i]&tags != tag {
			return e | simd.EntryAny
		}
	}
	return e | tag<<simd.EntryRowBits
}

// row appends a row.
func (t *tables) row(r *rows, lanes []int, i int, last bool) {
	start := len(t.rows)
	t.rows = t.rows[:start+t.lines*simd.RowWords]
	line := t.rows[start:]
	for l := range t.lines {
		for j := range 8 {
			line[l*simd.RowWords+8+j] = ^uint32(0)
		}
	}
	for c, x := range r.row(i) {
		at := lanes[c]/8*simd.RowWords + lanes[c]%8
		line[at], line[at+8] = x.Low, x.Width
	}
	line[simd.RowOrder] = r.orders[i]
	if last {
		line[simd.RowOrder] |= simd.RowLast
	}
}

// next returns the lowest order from one on that matches and is below best, or
// best.
func (t *tables) next(key []uint32, from, best uint32) uint32 {
	if t.shapes == 1 && t.lacks(key) {
		return best
	}
	return simd.LookupTables(t.groups, key, t.dir, t.rows, t.lines, from, best)
}

// lacks looks only at the directory of the first table, for the case that
// there is no other: most keys that match nothing end here.
func (t *tables) lacks(key []uint32) bool {
	g := &t.groups[0]
	sum := uint32(0)
	for i := range t.columns[0] {
		c := &t.columns[0][i]
		sum += (key[c.Lane] & c.Mask[0]) * c.Factor
	}
	h := simd.Hash(sum)
	e := t.dir[g.Base[0]+h>>g.Shift[0]]
	return e == 0 || (e&simd.EntryAny == 0 && (e>>simd.EntryRowBits^h)&(1<<simd.EntryTagBits-1) != 0)
}

func (t *tables) bytes() int {
	return 4*(len(t.dir)+len(t.rows)) + len(t.groups)*1024
}
