package compile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// evaluate types an expression. Where a constant is written, want says what
// it stands for. The result is nil where an error was reported.
func (r *rule) evaluate(e syntax.Expr, want *vtype) operand {
	e = r.expand(e)
	switch e := e.(type) {
	case nil:
		return nil
	case *syntax.Literal, *syntax.Range, *syntax.Prefix, *syntax.List:
		return r.constantExpr(e, want)
	case *syntax.Concat:
		return r.concatenation(e, want)
	case *syntax.Binary:
		return r.binaryExpr(e, want)
	case *syntax.MapExpr:
		return r.mapExpr(e, want)
	case *syntax.VerdictExpr:
		return r.verdictOperand(e)
	case *syntax.SetLiteral:
		if len(e.Elements) == 1 {
			if el, ok := e.Elements[0].(*syntax.Element); ok && el.Data == nil {
				return r.evaluate(el.Key, want)
			}
		}
		r.errorf(e.Span, "compile/set-value", "you cannot use a set here, unknown value to use")
		return nil
	case *syntax.SetRef:
		r.errorf(e.Span, "compile/set-value", "you cannot use a set here, unknown value to use")
		return nil
	case *syntax.Wildcard:
		r.errorf(e.Span, "compile/wildcard", "the catch-all element is only valid in sets and maps")
		return nil
	}
	return r.selector(e)
}

// selector evaluates an expression that names something of the packet.
func (r *rule) selector(e syntax.Expr) operand {
	switch e := e.(type) {
	case *syntax.HeaderField:
		return r.headerField(e, nil)
	case *syntax.Inner:
		return r.innerField(e)
	case *syntax.RawPayload:
		return r.rawPayload(e)
	case *syntax.Meta:
		return r.metaKey(e)
	case *syntax.CT:
		return r.conntrackKey(e)
	case *syntax.RT:
		return r.routeKey(e)
	case *syntax.Socket:
		return r.socketKey(e)
	case *syntax.Fib:
		return r.fibLookup(e)
	case *syntax.OSF:
		return r.osfKey(e)
	case *syntax.Numgen:
		return r.numberGenerator(e)
	case *syntax.Hash:
		return r.hashOf(e)
	case *syntax.IPsec:
		return r.ipsecKey(e)
	case *syntax.TunnelMeta:
		return r.tunnelKey(e)
	case *syntax.ExthdrField:
		return r.extensionHeader(e)
	case *syntax.TCPOption:
		return r.tcpOption(e)
	case *syntax.IPOption:
		return r.ipOption(e)
	case *syntax.SCTPChunk:
		return r.sctpChunk(e)
	case *syntax.DCCPOption:
		return r.dccpOption(e)
	}
	r.errorf(e.Place(), "compile/expression", "expression is not valid here")
	return nil
}

// constantExpr evaluates a literal, range, prefix or list of flags.
func (r *rule) constantExpr(e syntax.Expr, want *vtype) operand {
	if want == nil {
		r.errorf(e.Place(), "compile/untyped", "cannot tell the type of this value").
			Hint = "a constant takes its type from what it is compared with"
		return nil
	}
	if want.isConcat() {
		r.errorf(e.Place(), "compile/type", "invalid data type, expected %s", want.describe())
		return nil
	}
	h := info{vtype: *want, at: e.Place()}
	if l, ok := e.(*syntax.List); ok {
		sum := num{}
		for _, it := range l.Items {
			n, ok := r.scalar(it, *want)
			if !ok {
				return nil
			}
			sum = sum.or(n)
		}
		if !want.typ.Bitmask {
			r.errorf(e.Place(), "compile/list", "a list of flags does not fit type %s", want.describe())
			return nil
		}
		return &constant{info: h, n: sum, list: true}
	}
	k, ok := r.key(e, *want)
	if !ok {
		return nil
	}
	switch {
	case k.partial:
		h.bits = k.bits
		return &constant{info: h, n: k.from.shr(want.bits - k.bits), partial: true}
	case k.isPrefix:
		return &prefix{info: h, n: k.from, length: k.length}
	case k.isRange:
		return &span{info: h, from: k.from, to: k.to}
	}
	return &constant{info: h, n: k.from}
}

// scalar evaluates a constant expression to a single number.
func (c *compiler) scalar(e syntax.Expr, t vtype) (num, bool) {
	k, ok := c.key(e, t)
	if ok && (k.isRange || k.isPrefix || k.partial) {
		c.diags.Errorf(e.Place(), "compile/scalar", "a single value is needed here")
		return num{}, false
	}
	return k.from, ok
}

// concatenation evaluates A . B . C.
func (r *rule) concatenation(e *syntax.Concat, want *vtype) operand {
	if want != nil && len(want.parts) != len(e.Parts) {
		r.errorf(e.Span, "compile/type", "datatype mismatch, expected %s, expression has %d parts", want.describe(), len(e.Parts))
		return nil
	}
	c := &concat{info: info{at: e.Span}}
	failed := false
	types := make([]vtype, 0, len(e.Parts))
	for i, p := range e.Parts {
		var w *vtype
		if want != nil {
			w = &want.parts[i]
		}
		o := r.evaluate(p, w)
		if o == nil || !r.declare && r.refuseAmbiguous(o) {
			failed = true
			continue
		}
		if !isConstant(o) {
			o = valueOf(o)
		}
		c.parts = append(c.parts, o)
		t := o.head().vtype
		if w != nil && isConstant(o) {
			t = *w
		}
		types = append(types, t)
	}
	if failed {
		return nil
	}
	c.vtype = concatType(types)
	if c.bits > 512 {
		r.errorf(e.Span, "compile/concat", "Concatenation of size %d exceeds maximum size of 512", c.bits)
		return nil
	}
	return c
}

// valueOf makes a bit field a value of its own, shifted down and in host
// order where it spans bytes.
func valueOf(o operand) operand {
	b, ok := o.(*bitfield)
	if !ok {
		return o
	}
	load := b.of.head()
	out := masked(b)
	if b.shift == 0 {
		out.typ = b.typ
		return out
	}
	var shifted operand = out
	order := load.order
	if _, fromPacket := b.of.(*payload); fromPacket && load.bytes() > 1 {
		s := &swap{info: out.info, of: out, toHost: true, size: load.bytes()}
		if s.size%2 != 0 {
			s.size++
		}
		order = catalog.OrderHost
		s.order = order
		shifted = s
	}
	t := b.vtype
	t.order = order
	t.bits = load.bits
	return &computed{
		info: info{vtype: t, at: b.at}, op: expr.BitwiseRshift, left: shifted,
		right: shiftBy(b.shift, b.at),
	}
}

// masked is the load of a bit field with the other bits cleared.
func masked(b *bitfield) *computed {
	load := b.of.head()
	t := load.vtype
	t.typ = b.typ
	return &computed{
		info: info{vtype: t, at: b.at}, op: expr.BitwiseAnd, left: b.of,
		right: &constant{info: info{vtype: load.vtype, at: b.at}, n: b.mask()},
	}
}
