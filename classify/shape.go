package classify

import (
	"math"
	"slices"
)

// A shape says how many leading bits of each column a hash table's key takes.
type shape []uint8

// meet is the greatest shape that covers both.
func (s shape) meet(o shape) shape {
	m := make(shape, len(s))
	for c := range s {
		m[c] = min(s[c], o[c])
	}
	return m
}

// hashes reports whether the shape tells keys apart at all.
func (s shape) hashes() bool {
	for _, n := range s {
		if n > 0 {
			return true
		}
	}
	return false
}

// tiny is the number of idle bits from which on a column counts only where no
// other one does: a protocol tells few rules apart.
const tiny = 24

// shapeOf is a row's own shape: the prefixes that its ranges share, rounded
// down so that there are few shapes. idle is the number of leading bits per
// column that no value uses.
func shapeOf(row []Range, idle []int, to shape) {
	hashes := false
	for c, r := range row {
		n := r.prefix()
		switch {
		case idle[c] >= tiny:
			n = 0
		case n == 32:
		case idle[c] >= 16, n <= idle[c]: // a narrow column counts whole or not at all
			n = 0
		default:
			n &^= 3
		}
		to[c] = uint8(n)
		hashes = hashes || n > 0
	}
	if hashes {
		return
	}
	for c, r := range row {
		if idle[c] >= tiny && idle[c] < 32 && r.prefix() == 32 {
			to[c] = 32
		}
	}
}

// coarser rounds a shape down further, so that fewer are left.
func (s shape) coarser() shape {
	out := make(shape, len(s))
	for c, n := range s {
		out[c] = n &^ 7
	}
	return out
}

// idleBits finds the leading bits that are zero in all bounds of each column:
// 32 where no row bounds the column.
func idleBits(r *rows) []int {
	union := make([]uint32, len(r.columns))
	bounded := make([]bool, len(r.columns))
	for i := range r.count() {
		for c, x := range r.row(i) {
			if x.all() {
				continue
			}
			bounded[c] = true
			if x.wraps() {
				union[c] |= x.Low - 1 | x.high() + 1
			} else {
				union[c] |= x.Low | x.high()
			}
		}
	}
	idle := make([]int, len(r.columns))
	for c := range idle {
		idle[c] = place{mask: union[c]}.leading()
		if !bounded[c] {
			idle[c] = 32
		} else if idle[c] == 32 {
			idle[c] = 31 // only zero is asked for
		}
	}
	return idle
}

func (p place) leading() int {
	n := 0
	for m := p.mask; n < 32 && m&(1<<31) == 0; m <<= 1 {
		n++
	}
	return n
}

// Costs, in rows compared per lookup.
const (
	tableCost  = 0.2 // of one more table in a group
	groupCost  = 4.0 // of one more group of sixteen tables
	tableLimit = 48
	sampleSize = 512
	shapeLimit = 64
)

// plan chooses the shapes of hash tables for the rows: at most tableLimit, so
// that a lookup compares few rows. It returns the shapes and for each row which
// one it belongs to, -1 for rows that no table can hold.
//
// It begins with a table per shape that occurs and joins two of them, those
// that cost least, as long as that pays. What a table costs is estimated with
// a sample of the rows, each taken for a packet that looks for it.
func plan(r *rows) (shapes []shape, of []int32) {
	n, k := r.count(), len(r.columns)
	own := make([]uint8, n*k)
	idle := idleBits(r)
	kinds := map[string]int32{}
	of = make([]int32, n)
	var counts []int
	for i := range n {
		s := shape(own[i*k : i*k+k])
		shapeOf(r.row(i), idle, s)
		id, ok := kinds[string(s)]
		if !ok {
			id = int32(len(shapes))
			kinds[string(s)] = id
			shapes = append(shapes, s)
			counts = append(counts, 0)
		}
		of[i] = id
		counts[id]++
	}
	shapes, counts, of = coarsen(shapes, counts, of)
	target := fold(shapes, counts)
	join(r, shapes, of, target)
	return renumber(shapes, of, target)
}

// coarsen rounds rare shapes down.
func coarsen(shapes []shape, counts []int, of []int32) ([]shape, []int, []int32) {
	if len(shapes) <= shapeLimit/2 {
		return shapes, counts, of
	}
	kinds := map[string]int32{}
	number := make([]int32, len(shapes))
	var out []shape
	var sums []int
	for i, s := range shapes {
		if counts[i] < len(of)/100 {
			s = s.coarser()
		}
		id, ok := kinds[string(s)]
		if !ok {
			id = int32(len(out))
			kinds[string(s)] = id
			out, sums = append(out, s), append(sums, 0)
		}
		number[i] = id
		sums[id] += counts[i]
	}
	for i := range of {
		of[i] = number[of[i]]
	}
	return out, sums, of
}

// fold sends the rarest shapes to others that cover them, widening those if
// need be, until few are left. target[i] is the shape that shape i went to,
// -1 if none fits.
func fold(shapes []shape, counts []int) []int32 {
	target := make([]int32, len(shapes))
	order := make([]int, len(shapes))
	for i := range target {
		target[i], order[i] = int32(i), i
	}
	slices.SortFunc(order, func(a, b int) int { return counts[b] - counts[a] })
	kept := order[:min(shapeLimit, len(order))]
	for _, i := range order[len(kept):] {
		target[i] = -1
		least := math.MaxInt
		for _, j := range kept {
			m := shapes[j].meet(shapes[i])
			// Bits that the wider shape's own rules lose weigh with their number.
			lost := (shapes[j].bits()-m.bits())*counts[j] + (shapes[i].bits()-m.bits())*counts[i]
			if m.hashes() && lost < least {
				least, target[i] = lost, int32(j)
			}
		}
		if j := target[i]; j >= 0 {
			shapes[j] = shapes[j].meet(shapes[i])
			counts[j] += counts[i]
		}
	}
	return target
}

func (s shape) bits() int {
	sum := 0
	for _, n := range s {
		sum += int(n)
	}
	return sum
}

// sample is a part of the rows, with the lower corner of each as a key.
type sample struct {
	keys    []uint32 // k words each
	k       int
	scale   float64
	table   []int32 // which shape each belongs to
	slots   []slot
	mask    uint32
	factors []uint32
	stamp   uint32
	marked  []bool // scratch: by table, whether it is a member
}

type slot struct {
	hash, stamp uint32
	count       int32
}

func newSample(r *rows, of []int32, target []int32) *sample {
	n := r.count()
	size := min(n, sampleSize)
	s := &sample{k: len(r.columns), scale: float64(n) / float64(max(size, 1)), slots: make([]slot, 4*sampleSize), mask: 4*sampleSize - 1}
	for j := range size {
		i := int(uint64(j) * uint64(n) / uint64(size))
		for c, x := range r.row(i) {
			for try := 1; x.all() && try < 4; try++ { // any packet's value will do
				x = r.row((i + try*(7919+31*c)) % n)[c]
			}
			low := x.Low
			if x.wraps() {
				low = uint32(i) * 0x9e3779b1
			}
			s.keys = append(s.keys, low)
		}
		s.table = append(s.table, max(target[of[i]], 0))
	}
	s.factors = factors(s.k)
	s.marked = make([]bool, len(target))
	return s
}

// hash is a hash of a sample key under a shape.
func (s *sample) hash(i int, masks []uint32) uint32 {
	h := uint32(0)
	for c, x := range s.keys[i*s.k : i*s.k+s.k] {
		h += (x & masks[c]) * s.factors[c]
	}
	h ^= h >> 15
	h *= 0x85ebca6b
	return h ^ h>>13
}

func (s *sample) find(hash uint32) *slot {
	for i := hash & s.mask; ; i = (i + 1) & s.mask {
		p := &s.slots[i]
		if p.stamp != s.stamp {
			*p = slot{hash: hash, stamp: s.stamp}
			return p
		}
		if p.hash == hash {
			return p
		}
	}
}

// cost is how many rows of a table with this shape and these members a packet
// compares, summed up over the sample's packets.
func (s *sample) cost(sh shape, members ...int32) float64 {
	var buffer [32]uint32
	masks := buffer[:s.k]
	for c, n := range sh {
		masks[c] = leadingMask(n)
	}
	s.stamp++
	for _, t := range members {
		s.marked[t] = true
	}
	for i, t := range s.table {
		if s.marked[t] {
			s.find(s.hash(i, masks)).count++
		}
	}
	sum := 0.0
	for i, t := range s.table {
		n := float64(s.find(s.hash(i, masks)).count)
		if s.marked[t] {
			sum += 1 + (n-1)*s.scale
		} else {
			sum += n * s.scale
		}
	}
	for _, t := range members {
		s.marked[t] = false
	}
	return sum
}

func leadingMask(n uint8) uint32 { return ^uint32(0) << (32 - uint(n)) }

// join merges tables as long as that pays, and more where there are too many.
func join(r *rows, shapes []shape, of, target []int32) {
	s := newSample(r, of, target)
	packets := float64(len(s.table))
	var live []int32
	for i := range shapes {
		if target[i] == int32(i) && shapes[i].hashes() {
			live = append(live, int32(i))
		}
	}
	members := map[int32][]int32{}
	costs := map[int32]float64{}
	for _, i := range live {
		members[i] = []int32{i}
		costs[i] = s.cost(shapes[i], i)
	}
	type pair struct{ a, b int32 }
	deltas := map[pair]float64{}
	delta := func(a, b int32) float64 {
		p := pair{min(a, b), max(a, b)}
		d, ok := deltas[p]
		if !ok {
			m := shapes[a].meet(shapes[b])
			d = math.Inf(1)
			if m.hashes() {
				d = s.cost(m, slices.Concat(members[a], members[b])...) - costs[a] - costs[b]
			}
			deltas[p] = d
		}
		return d
	}
	for len(live) > 1 {
		best, at := math.Inf(1), pair{}
		for x, a := range live {
			for _, b := range live[:x] {
				if d := delta(a, b); d < best {
					best, at = d, pair{b, a}
				}
			}
		}
		gain := tableCost
		if n := len(live); n > 16 {
			gain = groupCost / float64(min(n-16, 16))
		}
		if len(live) > tableLimit {
			gain = math.Inf(1)
		}
		if math.IsInf(best, 1) || best > gain*packets {
			break
		}
		a, b := at.a, at.b
		costs[a] += costs[b] + best
		shapes[a] = shapes[a].meet(shapes[b])
		members[a] = append(members[a], members[b]...)
		target[b] = a
		live = slices.DeleteFunc(live, func(x int32) bool { return x == b })
		for p := range deltas {
			if p.a == a || p.b == a || p.a == b || p.b == b {
				delete(deltas, p)
			}
		}
	}
}

// renumber follows the targets and drops shapes without rows.
func renumber(shapes []shape, of, target []int32) ([]shape, []int32) {
	number := make([]int32, len(shapes))
	var used []shape
	for i := range number {
		number[i] = -1
	}
	for i, id := range of {
		for id >= 0 && target[id] != id {
			id = target[id]
		}
		if id < 0 || !shapes[id].hashes() {
			of[i] = -1
			continue
		}
		if number[id] < 0 {
			number[id] = int32(len(used))
			used = append(used, shapes[id])
		}
		of[i] = number[id]
	}
	return used, of
}

// factors are the odd factors of hashes.
func factors(n int) []uint32 {
	f := make([]uint32, n)
	x := uint64(0x243f6a8885a308d3)
	for i := range f {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		f[i] = uint32(x>>32) | 1
	}
	return f
}
