package classify

import (
	"fmt"
	"slices"
	"strings"
)

// Options say how rules are stored. The zero Options suit most uses.
type Options struct {
	// VectorMemory bounds the memory of bit vectors in bytes; with less of it
	// lookups take more steps. 0 means 64 MB.
	VectorMemory int

	scanOnly bool
}

const defaultVectorMemory = 64 << 20

// Up to so many rows are scanned rather than hashed, and of those that no hash
// table takes, rather than kept as bit vectors.
const (
	scanLimit = 64
	restLimit = 48
)

// Table is a set of rules that never changes. It is safe for concurrent use.
type Table struct {
	layout  *Layout
	sources []source // of columns that are not words of the key
	lines   int
	stride  int // words of the caller's key
	scan    *scan
	tables  *tables
	vectors []*vectors
	stats   Stats
}

// source is a column computed from a word of the key.
type source struct {
	from, to int // lanes
	mask     uint32
}

// Stats say how rules are stored and what that costs.
type Stats struct {
	Rules   int // given
	Rows    int // conjunctions of ranges they were turned into
	Columns int // words, or words under a mask, that the ranges are over
	Scanned int // rows compared one by one, sixteen in a step
	Hashed  int // rows in hash tables
	Tables  int // number of hash tables
	Longest int // rows in the longest bucket of a hash table
	Vectors int // rows in bit vectors
	Blocks  int // of bit vectors
	Bytes   int // memory
}

// String names the structure in a few words.
func (s Stats) String() string {
	var parts []string
	if s.Hashed > 0 {
		parts = append(parts, fmt.Sprintf("%d rows in %d hash tables (longest bucket %d)", s.Hashed, s.Tables, s.Longest))
	}
	if s.Vectors > 0 {
		parts = append(parts, fmt.Sprintf("%d rows in bit vectors", s.Vectors))
	}
	if s.Scanned > 0 {
		parts = append(parts, fmt.Sprintf("%d rows in a vector scan", s.Scanned))
	}
	if parts == nil {
		return "no rows"
	}
	return strings.Join(parts, ", ")
}

// New stores rules. They may come in any order; several rules of the same
// order are alternatives of one. The error is a *ConstraintError or a
// *LayoutError.
func New(l *Layout, rules []Rule, options Options) (*Table, error) {
	r, err := l.rowsOf(rules)
	if err != nil {
		return nil, err
	}
	t := &Table{layout: l, stride: l.Stride()}
	lanes, err := t.place(r)
	if err != nil {
		return nil, err
	}
	t.build(r, lanes, options)
	t.stats.Rules = len(rules)
	return t, nil
}

// place decides where columns are in a working key.
func (t *Table) place(r *rows) (lanes []int, err error) {
	words := t.layout.words
	for _, c := range r.columns {
		if c.word < duplicate && c.mask == ^uint32(0) {
			lanes = append(lanes, lane(c.word))
			continue
		}
		to := lane(words)
		t.sources = append(t.sources, source{from: lane(c.word & wordMask), to: to, mask: c.mask})
		lanes = append(lanes, to)
		words++
	}
	if words > maxWords(maxLines) {
		return nil, &LayoutError{fmt.Sprintf("the rules look at %d words and masked words, more than %d", words, maxWords(maxLines))}
	}
	t.lines = linesFor(words)
	return lanes, nil
}

// build chooses the structures by the rows' number and shape.
func (t *Table) build(r *rows, lanes []int, options Options) {
	s := &t.stats
	s.Rows, s.Columns = r.count(), len(r.columns)
	rest := r
	if r.count() > scanLimit && len(r.columns) > 0 && !options.scanOnly {
		tables, left := newTables(r, lanes, t.lines)
		if s.Hashed = r.count() - len(left); s.Hashed > 0 {
			t.tables, rest = tables, r.some(left)
			s.Tables, s.Longest = tables.shapes, tables.longest
			s.Bytes += tables.bytes()
		}
	}
	limit := scanLimit
	if t.tables != nil {
		limit = restLimit
	}
	if rest.count() > limit && len(r.columns) > 0 && !options.scanOnly {
		rest = t.keepVectors(rest, lanes, options)
	}
	if rest.count() > 0 {
		t.scan = newScan(rest, lanes)
		s.Scanned = rest.count()
		s.Bytes += t.scan.bytes()
	}
}

// keepVectors stores rows as bit vectors, those that bound the same columns
// together: where it is a single column no vectors need be intersected. It
// returns the rows of a remainder that is small enough for a scan.
func (t *Table) keepVectors(r *rows, lanes []int, options Options) *rows {
	budget := options.VectorMemory
	if budget == 0 {
		budget = defaultVectorMemory
	}
	var left []int32
	parts := r.byColumns()
	for _, part := range parts {
		if len(part) < restLimit && len(parts) > 1 {
			left = append(left, part...)
			continue
		}
		t.addVectors(r.some(part), lanes, budget)
	}
	slices.Sort(left)
	rest := r.some(left)
	if rest.count() <= restLimit {
		return rest
	}
	t.addVectors(rest, lanes, budget)
	return &rows{columns: r.columns}
}

func (t *Table) addVectors(r *rows, lanes []int, budget int) {
	blocks := newVectorBlocks(r, lanes, budget)
	for _, v := range blocks {
		t.stats.Bytes += v.bytes()
	}
	t.vectors = append(t.vectors, blocks...)
	t.stats.Vectors += r.count()
	t.stats.Blocks += len(blocks)
}

// byColumns divides rows by the columns that they bound.
func (r *rows) byColumns() [][]int32 {
	index := map[uint64]int{}
	var parts [][]int32
	for i := range r.count() {
		bounded := uint64(0)
		for c, x := range r.row(i) {
			if !x.all() {
				bounded |= 1 << c
			}
		}
		at, ok := index[bounded]
		if !ok {
			at = len(parts)
			index[bounded] = at
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], int32(i))
	}
	return parts
}

// Lookup returns the order of the first rule that matches, or None.
func (t *Table) Lookup(k Key) (order uint32, found bool) {
	order = t.Next(k, 0)
	return order, order != None
}

// Next returns the order of the first rule from an order on that matches, or
// None. All rules that match are found by asking on from one behind the last.
// It does not allocate.
func (t *Table) Next(k Key, from uint32) uint32 {
	if t.sources == nil {
		return t.next(k, from)
	}
	var scratch [8 * maxLines]uint32
	t.expand(scratch[:], k)
	return t.next(scratch[:8*t.lines], from)
}

// expand computes the columns that are not words of the key.
func (t *Table) expand(scratch []uint32, k Key) {
	copy(scratch, k)
	for _, s := range t.sources {
		scratch[s.to] = k[s.from] & s.mask
	}
}

func (t *Table) next(key []uint32, from uint32) uint32 {
	best := uint32(None)
	if t.tables != nil {
		best = t.tables.next(key, from, best)
	}
	if t.scan != nil {
		best = t.scan.next(key, from, best)
	}
	for _, v := range t.vectors {
		best = v.next(key, from, best)
	}
	return best
}

// Stats says how the rules are stored.
func (t *Table) Stats() Stats { return t.stats }

// Layout is the layout of the keys.
func (t *Table) Layout() *Layout { return t.layout }
