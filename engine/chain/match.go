package chain

import (
	"bytes"

	"verdict/classify"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// atom asks something of a source: that its bytes under the mask lie between
// two values, or do not.
type atom struct {
	source         source
	mask, from, to []byte
	inverted       bool
}

// conjunction is what must hold together.
type conjunction []atom

// match is what one expression of a rule asks for: any of the conjunctions. An
// empty one can never hold.
type match struct {
	any     []conjunction
	uses    []int // loads behind it
	dropped bool  // no table has it
}

// maxElements is how many elements of a set become alternatives.
const maxElements = 32

// matchOf recognises a comparison.
func matchOf(e expr.Expr, r registers, t *ruleset.Table) (m match, ok bool) {
	switch x := e.(type) {
	case *expr.Cmp:
		return compareMatch(x, r)
	case *expr.Range:
		v := r.find(x.Src.Offset())
		if v == nil || len(x.From.Bytes) > v.length() || !isZero(v.xor[:len(x.From.Bytes)]) {
			return m, false
		}
		return single(v, x.From.Bytes, x.To.Bytes, x.Neq), true
	case *expr.Lookup:
		return lookupMatch(x, r, t)
	}
	return m, false
}

// single is one atom over the first bytes of a value.
func single(v *value, from, to []byte, inverted bool) match {
	return match{any: []conjunction{{v.atom(from, to, inverted)}}, uses: []int{v.load}}
}

// atom builds an atom over the first bytes of a value, as many as from has.
func (v *value) atom(from, to []byte, inverted bool) atom {
	n := len(from)
	a := atom{source: v.source, inverted: inverted, mask: make([]byte, v.source.length), from: make([]byte, v.source.length), to: make([]byte, v.source.length)}
	copy(a.mask, v.mask[:n])
	for i := range n {
		a.from[i], a.to[i] = from[i]^v.xor[i], to[i]^v.xor[i]
	}
	return a
}

func compareMatch(x *expr.Cmp, r registers) (m match, ok bool) {
	v := r.find(x.Src.Offset())
	b := x.Value.Bytes
	if v == nil || len(b) > v.length() {
		return m, false
	}
	switch x.Op {
	case expr.CmpEq:
		return single(v, b, b, false), true
	case expr.CmpNeq:
		return single(v, b, b, true), true
	}
	if !isZero(v.xor[:len(b)]) {
		return m, false
	}
	least, most := make([]byte, len(b)), bytes.Repeat([]byte{0xff}, len(b))
	switch x.Op {
	case expr.CmpLte:
		return single(v, least, b, false), true
	case expr.CmpGte:
		return single(v, b, most, false), true
	case expr.CmpLt: // not at least b
		return single(v, b, most, true), true
	case expr.CmpGt:
		return single(v, least, b, true), true
	}
	return m, false
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// lookupMatch turns the elements of a small set into alternatives.
func lookupMatch(x *expr.Lookup, r registers, t *ruleset.Table) (m match, ok bool) {
	s := t.Set(x.Set)
	if s == nil {
		return m, false
	}
	key, ok := keyValues(s, x.Src.Offset(), r)
	if !ok {
		return m, false
	}
	for _, v := range key {
		m.uses = append(m.uses, v.load)
	}
	ranges, ok := s.Ranges(maxElements)
	if !ok || (x.Invert && len(key) > 1) {
		return m, false
	}
	if x.Invert {
		all := conjunction{}
		for _, b := range ranges {
			all = append(all, key[0].atom(b.From, b.To, true))
		}
		m.any = []conjunction{all}
		return m, true
	}
	for _, b := range ranges {
		var c conjunction
		at := 0
		for _, v := range key {
			n := v.length()
			c = append(c, v.atom(b.From[at:at+n], b.To[at:at+n], false))
			at += (n + 3) &^ 3
		}
		m.any = append(m.any, c)
	}
	return m, true
}

// keyValues finds the values that make up a key: one, or one per field of a
// concatenation, each at a word of its own.
func keyValues(s *ruleset.Set, at int, r registers) (key []*value, ok bool) {
	left := int(s.KeyLen)
	for left > 0 {
		v := r.find(at)
		if v == nil || !isZero(v.xor) {
			return nil, false
		}
		size := (v.length() + 3) &^ 3
		if v.length() != left && size > left {
			return nil, false
		}
		key = append(key, v)
		at += size
		left -= min(size, left)
	}
	return key, len(key) > 0
}

// constraint is an atom over a field that begins at the atom's source or
// before it.
func (a *atom) constraint(field int, within source) classify.Constraint {
	if within == a.source {
		return classify.Constraint{Field: field, Mask: fullMask(a.mask), From: a.from, To: a.to, Inverted: a.inverted}
	}
	at := a.source.offset - within.offset
	wide := func(b []byte) []byte {
		w := make([]byte, within.length)
		copy(w[at:], b)
		return w
	}
	return classify.Constraint{Field: field, Mask: wide(a.mask), From: wide(a.from), To: wide(a.to), Inverted: a.inverted}
}

// fullMask is nil for a mask of all bits.
func fullMask(m []byte) []byte {
	for _, b := range m {
		if b != 0xff {
			return m
		}
	}
	return nil
}
