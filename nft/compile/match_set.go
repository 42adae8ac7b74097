package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// sameType reports whether values of two types can meet.
func sameType(a, b vtype) bool {
	if a.isConcat() != b.isConcat() {
		return false
	}
	if a.isConcat() {
		if len(a.parts) != len(b.parts) {
			return false
		}
		for i := range a.parts {
			if !sameType(a.parts[i], b.parts[i]) {
				return false
			}
		}
		return true
	}
	if a.typ == b.typ {
		return true
	}
	if a.typ == nil || b.typ == nil {
		return false
	}
	return a.typ.ID == b.typ.ID && a.typ.Name == b.typ.Name ||
		a.isString() && b.isString() && (a.typ == catalog.String || b.typ == catalog.String)
}

// checkKey reports an operand whose type does not fit a set's keys.
func (r *rule) checkKey(o operand, s *setInfo, mapping bool, at diag.Span) bool {
	if sameType(o.head().vtype, s.key) {
		return true
	}
	if mapping {
		r.errorf(at, "compile/type", "datatype mismatch, map expects %s, mapping expression has type %s", s.key.describe(), o.head().describe()).
			Related = []diag.Span{o.head().at}
		return false
	}
	r.errorf(at, "compile/type", "datatype mismatch, expected %s, expression has type %s", o.head().describe(), s.key.describe()).
		Related = []diag.Span{o.head().at}
	return false
}

// forSet makes an operand the key of a lookup in a named set.
func forSet(o operand, s *setInfo) operand {
	o = valueOf(o)
	if s.interval() {
		return toOrder(o, catalog.OrderNetwork)
	}
	return o
}

// refuseAmbiguous reports ct addresses without a family as the keys of sets,
// which need a fixed size.
func (r *rule) refuseAmbiguous(o operand) bool {
	ct, ok := o.(*conntrack)
	if !ok || ct.key.Family != catalog.FamilyUnspec || ct.key.Name != "saddr" && ct.key.Name != "daddr" {
		return false
	}
	r.errorf(ct.at, "compile/ct-family", "specify either ip or ip6 for address matching")
	return true
}

func (r *rule) matchNamedSet(m *match, x *syntax.SetRef) {
	s := r.findSet(x)
	if s == nil {
		return
	}
	if m.op != cmpEq && m.op != cmpNeq {
		r.errorf(m.at, "compile/operator", "sets can only be compared with == and !=")
		return
	}
	if r.refuseAmbiguous(m.left) || !r.checkKey(m.left, s, false, x.Span) {
		return
	}
	if m.op == cmpEq {
		r.learnUnknown(m.left)
	}
	m.left = forSet(m.left, s)
	m.right = &setRef{info: info{vtype: s.key, at: x.Span}, set: s}
	r.insert(m)
}

func (r *rule) matchAnonymousSet(m *match, x *syntax.SetLiteral) {
	if m.op != cmpEq && m.op != cmpNeq {
		r.errorf(m.at, "compile/operator", "sets can only be compared with == and !=")
		return
	}
	if len(x.Elements) == 0 {
		r.errorf(x.Span, "compile/empty-set", "set is empty")
		return
	}
	if r.refuseAmbiguous(m.left) {
		return
	}
	left := r.presenceIn(m.left, x)
	set := r.literalSet(&left, x.Span)
	if !set.literal(x) || !r.declareSet(set) {
		return
	}
	if m.op == cmpEq && set.shift == 0 && !left.head().isConcat() {
		for i, k := range set.keys {
			if k.from == k.to {
				r.learn(m.left, &constant{info: info{vtype: set.field, at: x.Span}, n: k.from}, i > 0)
			}
		}
	}
	if set.info.interval() {
		left = toOrder(left, catalog.OrderNetwork)
	}
	m.left = left
	m.right = &setRef{info: info{vtype: set.info.key, at: x.Span}, set: set.info}
	r.insert(m)
}

// presenceIn is fibPresence for a set of exists and missing.
func (r *rule) presenceIn(left operand, x *syntax.SetLiteral) operand {
	for e := range x.All() {
		if el, ok := e.(*syntax.Element); ok {
			return fibPresence(left, r.peek(el.Key))
		}
	}
	return left
}

// literalSet starts an anonymous set for the values of an operand. Bit fields
// stay where they are in their bytes: the set's values are shifted instead.
func (r *rule) literalSet(left *operand, at diag.Span) *setBuild {
	b, ok := (*left).(*bitfield)
	if !ok {
		*left = valueOf(*left)
		set := r.anonymousSet((*left).head().vtype, at)
		if x, ok := (*left).(*computed); ok && x.op == expr.BitwiseXor {
			if c, ok := x.right.(*constant); ok {
				set.flip = c.n
				*left = x.left
			}
		}
		return set
	}
	t := b.of.head().vtype
	t.typ = b.typ
	*left = masked(b)
	set := r.anonymousSet(t, at)
	set.field, set.shift = b.vtype, b.shift
	return set
}

// mapExpr evaluates KEY map …; want is the type of the data where the map is
// written out.
func (r *rule) mapExpr(e *syntax.MapExpr, want *vtype) operand {
	if e.Verdict {
		want = &vtype{typ: catalog.Verdict}
	}
	if r.constantSyntax(e.Key) {
		r.errorf(e.Key.Place(), "compile/map", "Map expression can not be constant")
		return nil
	}
	saved := r.assigning
	r.assigning = 0
	key := r.evaluate(e.Key, r.keyOf(e.Key, e.Map))
	r.assigning = saved
	if key == nil || r.refuseAmbiguous(key) {
		return nil
	}
	switch x := r.expand(e.Map).(type) {
	case nil:
		return nil
	case *syntax.SetRef:
		s := r.findSet(x)
		if s == nil || !r.checkKey(key, s, true, x.Span) {
			return nil
		}
		if !s.isMap() {
			r.errorf(x.Span, "compile/map", "'%s' is not a map", x.Name)
			return nil
		}
		if e.Verdict != s.verdicts() {
			r.errorf(x.Span, "compile/map", "datatype mismatch: map holds %s", s.data.describe())
			return nil
		}
		return &lookup{info: info{vtype: s.dataType(), at: e.Span}, key: forSet(key, s), set: s}
	case *syntax.SetLiteral:
		if want == nil {
			r.errorf(e.Span, "compile/map", "mapping outside of map context")
			return nil
		}
		return r.literalMap(e, key, x, *want)
	default:
		r.errorf(e.Map.Place(), "compile/map", "Expression is not a map")
		return nil
	}
}

// dataType is the type of what a lookup delivers.
func (s *setInfo) dataType() vtype {
	t := s.data
	if s.dataInterval {
		t.merged = true
		t.bits = 2 * 32 * words(t.bits)
	}
	return t
}

func (r *rule) literalMap(e *syntax.MapExpr, key operand, x *syntax.SetLiteral, data vtype) operand {
	key = r.presenceIn(key, x)
	set := r.literalSet(&key, x.Span)
	set.info.name = "__map%d"
	set.info.flags |= ruleset.SetMap
	set.info.data = data
	if len(x.Elements) == 0 {
		r.errorf(x.Span, "compile/empty-set", "map is empty")
		return nil
	}
	if !set.literal(x) || !r.declareSet(set) {
		return nil
	}
	if set.info.interval() {
		key = toOrder(key, catalog.OrderNetwork)
	}
	return &lookup{info: info{vtype: set.info.dataType(), at: e.Span}, key: key, set: set.info}
}
