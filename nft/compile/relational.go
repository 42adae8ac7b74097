package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

var cmpOps = map[syntax.Operator]cmpOp{
	syntax.OpImplicit: cmpEq, syntax.OpEq: cmpEq, syntax.OpNeq: cmpNeq,
	syntax.OpLt: cmpLt, syntax.OpLte: cmpLte, syntax.OpGt: cmpGt, syntax.OpGte: cmpGte, syntax.OpNot: cmpNone,
}

// matchStatement evaluates a comparison.
func (r *rule) matchStatement(s *syntax.Match) {
	op, ok := cmpOps[s.Op]
	if !ok {
		r.errorf(s.Span, "compile/operator", "operator is not a comparison")
		return
	}
	if r.constantSyntax(s.Left) {
		r.errorf(s.Left.Place(), "compile/constant", "Relational expression (%s) has constant value", opSigns[s.Op])
		return
	}
	left := r.evaluate(s.Left, r.keyOf(s.Left, s.Right))
	if left == nil {
		return
	}
	m := &match{left: left, op: op, at: s.Span}
	r.compare(m, s.Right, s.Op)
}

// keyOf is the key type of a named set on the right, which types the constants
// in a concatenation on the left.
func (r *rule) keyOf(left, right syntax.Expr) *vtype {
	ref, ok := r.peek(right).(*syntax.SetRef)
	if _, isConcat := left.(*syntax.Concat); !ok || !isConcat {
		return nil
	}
	s := r.setFor(r.table, ref.Name)
	if s == nil || !s.key.isConcat() || len(s.key.parts) != len(left.(*syntax.Concat).Parts) {
		return nil
	}
	return &s.key
}

// compare evaluates the right side of a match and adds the match.
func (r *rule) compare(m *match, right syntax.Expr, written syntax.Operator) {
	right = r.expand(right)
	switch x := right.(type) {
	case nil:
		return
	case *syntax.SetRef:
		r.matchNamedSet(m, x)
		return
	case *syntax.SetLiteral:
		if key := r.singleton(x); key != nil {
			if written == syntax.OpImplicit && m.left.head().typ != catalog.CTState {
				written = syntax.OpEq
			}
			r.compare(m, key, written)
			return
		}
		r.matchAnonymousSet(m, x)
		return
	case *syntax.FlagMatch:
		r.matchFlags(m, x)
		return
	}
	m.left = fibPresence(m.left, right)
	want := m.left.head().vtype
	o := r.evaluate(right, &want)
	if o == nil {
		return
	}
	if !isConstant(o) {
		r.errorf(right.Place(), "compile/constant", "Right hand side of relational expression (%s) must be constant", opSigns[written])
		return
	}
	r.matchConstant(m, o, right, written)
}

// singleton gives the key of a set literal written with one plain element.
func (r *rule) singleton(s *syntax.SetLiteral) syntax.Expr {
	if s.Len() != 1 {
		return nil
	}
	el, ok := s.Elements[0].(*syntax.Element)
	if !ok {
		return s.Elements[0]
	}
	if _, wild := el.Key.(*syntax.Wildcard); wild || el.Data != nil || len(el.Statements) > 0 ||
		el.Timeout != nil || el.Expires != nil || el.Never || el.Comment.Given() {
		return nil
	}
	switch r.peek(el.Key).(type) {
	case *syntax.List, *syntax.Concat:
		return nil
	}
	return el.Key
}

// fibPresence turns a lookup of the output interface into one of its
// existence, where it is compared with exists or missing.
func fibPresence(left operand, right syntax.Expr) operand {
	f, ok := left.(*fib)
	if !ok || f.flags&expr.FibPresent != 0 || f.result == expr.FibResultType {
		return left
	}
	l, ok := right.(*syntax.Literal)
	if !ok || l.Text != "exists" && l.Text != "missing" {
		return left
	}
	p := *f
	p.vtype = presence
	p.result = expr.FibResultOif
	p.flags |= expr.FibPresent
	return &p
}

// matchFlags evaluates FLAGS op VALUE / MASK.
func (r *rule) matchFlags(m *match, x *syntax.FlagMatch) {
	left := valueOf(m.left)
	t := left.head().vtype
	if t.typ == nil || !t.typ.Bitmask {
		r.errorf(x.Span, "compile/flags", "a mask behind / needs a field of flags, not %s", t.describe())
		return
	}
	value, ok := r.scalar(x.Value, t)
	mask, ok2 := r.scalar(x.Mask, t)
	if !ok || !ok2 {
		return
	}
	h := info{vtype: t, at: x.Span}
	m.left = &computed{info: h, op: expr.BitwiseAnd, left: left, right: &constant{info: h, n: mask}}
	m.right = &constant{info: h, n: value}
	r.insert(m)
}

// matchConstant completes a match against a constant.
func (r *rule) matchConstant(m *match, o operand, right syntax.Expr, written syntax.Operator) {
	m.right = o
	left := m.left.head()
	switch m.op {
	case cmpLt, cmpLte, cmpGt, cmpGte:
		c, ok := o.(*constant)
		if !ok || c.partial || left.isConcat() || left.isString() || c.list {
			r.errorf(m.at, "compile/operator", "Relational expression (%s) is undefined for %s expressions", opSigns[written], kindName(o))
			return
		}
		r.lower(m)
		m.left, m.right = toOrder(m.left, catalog.OrderNetwork), toOrder(m.right, catalog.OrderNetwork)
		r.insert(m)
		return
	case cmpNone:
		c, ok := o.(*constant)
		if !ok || left.typ == nil || !left.typ.Bitmask {
			r.errorf(right.Place(), "compile/operator",
				`negation can only be used with singleton bitmask values.  Did you mean "!="?`)
			return
		}
		if _, ok := m.left.(*computed); ok {
			r.errorf(left.at, "compile/operator", "cannot combine negation with binary expression").Related = []diag.Span{right.Place()}
			return
		}
		c.list = true
	}
	if m.op == cmpEq {
		r.learn(m.left, o, false)
	}
	switch o := o.(type) {
	case *constant:
		if r.anyBit(m, o, written) {
			m.op = cmpAny
		}
		r.lower(m)
		if !r.transfer(m) {
			return
		}
	case *span:
		if o.from.cmp(o.to) > 0 {
			s := *o
			s.from, s.to = o.to, o.from
			m.right = &s
			if m.op == cmpEq {
				m.op = cmpNeq
			} else {
				m.op = cmpEq
			}
		}
		r.lower(m)
		m.left, m.right = toOrder(m.left, catalog.OrderNetwork), toOrder(m.right, catalog.OrderNetwork)
	case *prefix:
		r.lower(m)
	case *concat:
		r.errorf(left.at, "compile/concat", "Use concatenations with sets and maps, not singleton values").
			Hint = "put the values in braces: { A . B }"
		return
	case *verdict:
		r.errorf(right.Place(), "compile/operator", "a verdict cannot be compared")
		return
	}
	r.insert(m)
}

func kindName(o operand) string {
	switch o.(type) {
	case *span:
		return "range"
	case *prefix:
		return "prefix"
	case *concat:
		return "concat"
	}
	return o.head().describe()
}

// anyBit reports whether a comparison means "any of these bits is set".
func (r *rule) anyBit(m *match, c *constant, written syntax.Operator) bool {
	if written != syntax.OpImplicit || c.typ == nil || c.typ.Base != catalog.Bitmask {
		return false
	}
	_, computed := m.left.(*computed)
	return !computed
}

// lower replaces a bit field by its masked bytes and shifts the constant to
// where the field lies.
func (r *rule) lower(m *match) {
	b, ok := m.left.(*bitfield)
	if !ok {
		return
	}
	load := b.of.head().vtype
	load.typ = b.typ
	m.left = masked(b)
	switch o := m.right.(type) {
	case *constant:
		c := *o
		c.vtype, c.n = load, o.n.shl(b.shift)
		m.right = &c
	case *span:
		s := *o
		s.vtype, s.from, s.to = load, o.from.shl(b.shift), o.to.shl(b.shift)
		m.right = &s
	case *prefix:
		mask := prefixMask(o.length, b.fieldBits).shl(b.shift)
		m.left.(*computed).right = &constant{info: info{vtype: load, at: b.at}, n: mask}
		m.right = &constant{info: info{vtype: load, at: o.at}, n: o.n.shl(b.shift)}
	}
}

// transfer moves shifts and exclusive ors with constants from the left to the
// right side.
func (r *rule) transfer(m *match) bool {
	c, ok := m.right.(*constant)
	if !ok || m.op != cmpEq && m.op != cmpNeq {
		return true
	}
	for {
		b, ok := m.left.(*computed)
		if !ok {
			return true
		}
		k, ok := b.right.(*constant)
		if !ok {
			return true
		}
		v := *c
		switch b.op {
		case expr.BitwiseXor:
			v.n = c.n.xor(k.n)
		case expr.BitwiseLshift:
			if c.n.lowZeros() < int(k.n.lo) {
				r.errorf(m.at, "compile/always-false", "Comparison is always false")
				return false
			}
			v.n = c.n.shr(int(k.n.lo))
		case expr.BitwiseRshift:
			if c.n.width()+int(k.n.lo) > b.left.head().bits {
				r.errorf(m.at, "compile/always-false", "Comparison is always false")
				return false
			}
			v.n = c.n.shl(int(k.n.lo))
		default:
			return true
		}
		m.left = b.left
		v.vtype = m.left.head().vtype
		c = &v
		m.right = c
	}
}

// learn updates the protocol context from left == o.
func (r *rule) learn(left, o operand, alternative bool) {
	c, ok := o.(*constant)
	if !ok || c.list || c.partial {
		return
	}
	ctx := r.ctx
	switch l := left.(type) {
	case *meta:
		ctx = r.context(l.tunnel)
	case *payload:
		ctx = r.context(l.tunnel)
	}
	ctx.learn(left, c.n, left.head().at.To(c.at), alternative)
	if p, ok := left.(*payload); ok && p.proto != nil && p.proto.Base == catalog.BaseLink {
		ctx.layers[catalog.BaseNetwork].stated = true
	}
}

// learnUnknown notes that a protocol selector was compared with a named set:
// the protocol is one of the set's.
func (r *rule) learnUnknown(left operand) {
	switch l := left.(type) {
	case *meta:
		if l.key.Name == "l4proto" {
			r.context(l.tunnel).update(catalog.BaseTransport, protoUnknown, l.at)
		}
	case *payload:
		if l.selects() && l.proto.Base == catalog.BaseNetwork {
			r.context(l.tunnel).update(catalog.BaseTransport, protoUnknown, l.at)
		}
	}
}
