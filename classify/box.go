package classify

import "math/bits"

// Range is a set of 32-bit numbers, from Low on, Width+1 of them, modulo 2^32.
// It may go around, so that the complement of a range is a range.
type Range struct{ Low, Width uint32 }

// everything is the range of all numbers.
var everything = Range{0, ^uint32(0)}

// span is the range from low to high.
func span(low, high uint32) Range { return Range{low, high - low} }

// Contains reports whether x is in the range.
func (r Range) Contains(x uint32) bool { return x-r.Low <= r.Width }

// all reports whether the range has all numbers.
func (r Range) all() bool { return r.Width == ^uint32(0) }

// high is the last number of the range.
func (r Range) high() uint32 { return r.Low + r.Width }

// wraps reports whether the range goes around.
func (r Range) wraps() bool { return r.high() < r.Low }

// not is the complement; ok is false where that is empty.
func (r Range) not() (complement Range, ok bool) {
	if r.all() {
		return Range{}, false
	}
	return Range{r.high() + 1, ^uint32(0) - r.Width - 1}, true
}

// and intersects two ranges; ok is false where the intersection is empty or
// is not one range.
func (r Range) and(o Range) (both Range, one, empty bool) {
	switch {
	case r.all():
		return o, true, false
	case o.all():
		return r, true, false
	case r.wraps() || o.wraps():
		return Range{}, false, false
	}
	low, high := max(r.Low, o.Low), min(r.high(), o.high())
	if low > high {
		return Range{}, true, true
	}
	return span(low, high), true, false
}

// prefix is the number of leading bits that all numbers of the range share.
func (r Range) prefix() int {
	if r.wraps() {
		return 0
	}
	return bits.LeadingZeros32(r.Low ^ r.high())
}

// place is a column: a word of the key, under a mask where that is not whole.
type place struct {
	word int
	mask uint32
}

// bound is a range for a column.
type bound struct {
	place
	Range
}

// box is a conjunction of bounds.
type box []bound

// disjunction is a list of boxes, of which any one matches. An empty one never
// matches; one with an empty box always does.
type disjunction []box

// product is the conjunction of two disjunctions.
func (d disjunction) product(o disjunction) disjunction {
	out := make(disjunction, 0, len(d)*len(o))
	for _, a := range d {
		for _, b := range o {
			if both, possible := a.and(b); possible {
				out = append(out, both)
			}
		}
	}
	return out
}

// and joins two boxes. Two bounds of one column become one where their
// intersection is a range; else the second takes the word under a mask of its
// own kind, see duplicate.
func (a box) and(b box) (joined box, possible bool) {
	joined = append(make(box, 0, len(a)+len(b)), a...)
next:
	for _, n := range b {
		for i := range joined {
			if joined[i].place != n.place {
				continue
			}
			both, one, empty := joined[i].Range.and(n.Range)
			if empty {
				return nil, false
			}
			if one {
				joined[i].Range = both
				continue next
			}
		}
		joined = append(joined, n)
	}
	return joined, true
}
