package classify

import (
	"bytes"
	"fmt"
	"math/bits"
)

// Constraint is what a rule asks of one field: that its value, under the mask,
// lies between From and To, or does not. Values are big endian and as long as
// the field, in whole bytes. The constructors make the usual forms.
type Constraint struct {
	Field    int
	Mask     []byte // nil: all bits
	From, To []byte
	Inverted bool
}

// Exact asks for a value.
func Exact(field int, value []byte) Constraint {
	return Constraint{Field: field, From: value, To: value}
}

// Between asks for a value from one to another, both included.
func Between(field int, from, to []byte) Constraint {
	return Constraint{Field: field, From: from, To: to}
}

// Prefix asks for values whose first bits are those of value. It counts bits
// from the first byte on, so that for fields which are no whole bytes the
// unused leading bits count too.
func Prefix(field int, value []byte, length int) Constraint {
	mask, masked := make([]byte, len(value)), make([]byte, len(value))
	for i := range mask {
		n := min(max(length-8*i, 0), 8)
		mask[i] = byte(uint16(0xff00) >> n)
		masked[i] = value[i] & mask[i]
	}
	return Constraint{Field: field, Mask: mask, From: masked, To: masked}
}

// Masked asks for a value under a mask. Bits of value outside the mask can
// never match.
func Masked(field int, value, mask []byte) Constraint {
	return Constraint{Field: field, Mask: mask, From: value, To: value}
}

// Not is the opposite of a constraint.
func Not(c Constraint) Constraint {
	c.Inverted = !c.Inverted
	return c
}

// ConstraintError says what is wrong with a constraint.
type ConstraintError struct {
	Order  uint32 // of the rule
	Field  int
	Reason string
}

func (e *ConstraintError) Error() string {
	return fmt.Sprintf("rule %d: field %d: %s", e.Order, e.Field, e.Reason)
}

// Matches tells whether a value, as long as the field, satisfies the
// constraint. It is the definition that tables are tested against.
func (c *Constraint) Matches(value []byte) bool {
	masked := value
	if c.Mask != nil {
		masked = make([]byte, len(value))
		for i := range value {
			masked[i] = value[i] & c.Mask[i]
		}
	}
	inside := bytes.Compare(masked, c.From) >= 0 && bytes.Compare(masked, c.To) <= 0
	return inside != c.Inverted
}

// boxes turns a constraint into alternatives over words.
func (c *Constraint) boxes(f *fieldPlace) (disjunction, error) {
	size := f.bytes
	if len(c.From) != size || len(c.To) != size || (c.Mask != nil && len(c.Mask) != size) {
		return nil, fmt.Errorf("the field has %d bytes", size)
	}
	from, to := words(c.From, f.count), words(c.To, f.count)
	mask := make([]uint32, f.count)
	for i := range mask {
		mask[i] = ^uint32(0)
	}
	if c.Mask != nil {
		mask = words(c.Mask, f.count)
	}
	mask[0] |= ^f.limit(0) // bits that no value has
	places := make([]place, f.count)
	for i := range places {
		places[i] = place{f.first + i, mask[i]}
	}
	found := between(places, from, to)
	if c.Inverted {
		found = outside(places, from, to, found)
	}
	return f.confine(found), nil
}

// words splits big-endian bytes into count words; the first may be short.
func words(b []byte, count int) []uint32 {
	w := make([]uint32, count)
	for i, x := range b {
		at := (len(b) - 1 - i) / 4
		w[count-1-at] = w[count-1-at]<<8 | uint32(x)
	}
	return w
}

// between lists the boxes of the numbers from one to another that are made of
// several words. Ref: the usual cut of a range into those that share leading
// words with one of its ends, and the rest between.
func between(p []place, from, to []uint32) disjunction {
	for i := range from {
		if from[i] != to[i] {
			if from[i] > to[i] {
				return nil
			}
			break
		}
	}
	switch {
	case len(p) == 0:
		return disjunction{{}}
	case len(p) == 1 || from[0] == to[0]:
		head, possible := within(p[0], from[0], to[0])
		if !possible {
			return nil
		}
		if len(p) == 1 {
			return disjunction{head}
		}
		return disjunction{head}.product(between(p[1:], from[1:], to[1:]))
	}
	low, high := from[0], to[0]
	var out disjunction
	if !isAll(from[1:], 0, nil) {
		if head, possible := within(p[0], low, low); possible {
			out = append(out, disjunction{head}.product(between(p[1:], from[1:], most(p[1:])))...)
		}
		low++
	}
	if !isAll(to[1:], ^uint32(0), p[1:]) {
		if head, possible := within(p[0], high, high); possible {
			out = append(out, disjunction{head}.product(between(p[1:], make([]uint32, len(p)-1), to[1:]))...)
		}
		high--
	}
	if low <= high {
		if head, possible := within(p[0], low, high); possible {
			out = append(out, head)
		}
	}
	return out
}

// most is the greatest value under the masks.
func most(p []place) []uint32 {
	w := make([]uint32, len(p))
	for i := range p {
		w[i] = p[i].mask
	}
	return w
}

// isAll reports whether all words are value under their masks.
func isAll(w []uint32, value uint32, p []place) bool {
	for i, x := range w {
		v := value
		if p != nil {
			v &= p[i].mask
		}
		if x != v {
			return false
		}
	}
	return true
}

// within is the box of a masked word that lies between two numbers. A mask
// that only clears low bits needs no column of its own.
func within(p place, low, high uint32) (box, bool) {
	if low > high || low > p.mask {
		return nil, false
	}
	if p.mask == 0 {
		return box{}, true
	}
	free := ^p.mask
	if free&(free+1) != 0 {
		return box{{p, span(low, high)}}, true
	}
	first, last := low, high|free
	if low&free != 0 {
		first = (low | free) + 1
	}
	if first > last || first < low {
		return nil, false
	}
	return box{{place{p.word, ^uint32(0)}, span(first, last)}}, true
}

// outside lists the boxes of what is not between two numbers.
func outside(p []place, from, to []uint32, inside disjunction) disjunction {
	switch {
	case len(inside) == 0:
		return disjunction{{}}
	case len(inside) == 1: // the complement of a conjunction: any of its bounds fails
		var out disjunction
		for _, b := range inside[0] {
			if r, possible := b.not(); possible {
				out = append(out, box{{b.place, r}})
			}
		}
		return out
	}
	var out disjunction
	zero := make([]uint32, len(from))
	if below, borrow := minusOne(from); !borrow {
		out = append(out, between(p, zero, below)...)
	}
	if above, carry := plusOne(to); !carry {
		all := make([]uint32, len(to))
		for i := range all {
			all[i] = ^uint32(0)
		}
		out = append(out, between(p, above, all)...)
	}
	return out
}

func minusOne(w []uint32) (less []uint32, borrow bool) {
	less = append([]uint32(nil), w...)
	for i := len(less) - 1; i >= 0; i-- {
		less[i]--
		if less[i] != ^uint32(0) {
			return less, false
		}
	}
	return less, true
}

func plusOne(w []uint32) (more []uint32, carry bool) {
	more = append([]uint32(nil), w...)
	for i := len(more) - 1; i >= 0; i-- {
		var c uint32
		more[i], c = bits.Add32(more[i], 1, 0)
		if c == 0 {
			return more, false
		}
	}
	return more, true
}
