package compile

import (
	"verdict/catalog"
	"verdict/nft/syntax"
)

// keyValue is a constant of one field: a value (from = to), a range, a prefix,
// or the start of a string.
type keyValue struct {
	from, to num
	isRange  bool
	isPrefix bool
	length   int  // of the prefix
	interval bool // written as a range, prefix or wildcard
	partial  bool // a string prefix of bits bits
	bits     int
}

// whole reports whether the value is one single value.
func (k keyValue) whole() bool { return !k.isRange && !k.isPrefix && !k.partial }

// key evaluates a constant expression of one field. ok is false where an
// error was reported. It allocates nothing for literals, ranges and prefixes.
func (c *compiler) key(e syntax.Expr, t vtype) (k keyValue, ok bool) {
	switch e := e.(type) {
	case nil:
		return k, false
	case *syntax.Literal:
		if n, ok := plainLiteral(e, &t); ok {
			return keyValue{from: n, to: n, bits: t.bits}, true
		}
		w, ok := c.literal(e, t)
		k.from, k.to, k.bits = w.n, w.n, w.bits
		if w.partial {
			k.partial, k.interval = true, true
			k.to = w.n.or(ones(t.bits - w.bits))
		}
		return k, ok
	case *syntax.Range:
		return c.rangeKey(e, t)
	case *syntax.Prefix:
		return c.prefixKey(e, t)
	case *syntax.Binary:
		return c.foldKey(e, t)
	case *syntax.Variable:
		x := c.expand(e)
		if x == nil {
			return k, false
		}
		return c.key(x, t)
	case *syntax.List:
		sum := num{}
		for _, it := range e.Items {
			n, ok := c.scalar(it, t)
			if !ok {
				return k, false
			}
			sum = sum.or(n)
		}
		k.from, k.to, k.bits = sum, sum, t.bits
		if len(e.Items) > 1 && (t.typ == nil || !t.typ.Bitmask) {
			c.diags.Errorf(e.Span, "compile/list", "a list of flags does not fit type %s", t.describe())
			return k, false
		}
		return k, true
	case *syntax.SetLiteral:
		if len(e.Elements) == 1 {
			if el, isElement := e.Elements[0].(*syntax.Element); isElement && el.Data == nil {
				return c.key(el.Key, t)
			}
		}
		c.diags.Errorf(e.Span, "compile/set-value", "you cannot use a set here, unknown value to use")
		return k, false
	case *syntax.Concat:
		c.diags.Errorf(e.Span, "compile/type", "datatype mismatch, expected %s, expression is a concatenation", t.describe())
		return k, false
	}
	c.diags.Errorf(e.Place(), "compile/constant", "expression is not constant")
	return k, false
}

func (c *compiler) rangeKey(e *syntax.Range, t vtype) (k keyValue, ok bool) {
	if from, plain := e.From.(*syntax.Literal); plain {
		if to, plain := e.To.(*syntax.Literal); plain {
			var ok2 bool
			k.from, ok = plainLiteral(from, &t)
			k.to, ok2 = plainLiteral(to, &t)
			if ok && ok2 && k.from.cmp(k.to) <= 0 {
				k.bits, k.interval, k.isRange = t.bits, true, k.from != k.to
				return k, true
			}
		}
	}
	var ok2 bool
	if t.isString() {
		c.diags.Errorf(e.Span, "compile/range", "ranges are undefined for %s types", t.describe())
		return k, false
	}
	k.from, ok = c.scalar(e.From, t)
	k.to, ok2 = c.scalar(e.To, t)
	if !ok || !ok2 {
		return k, false
	}
	k.bits, k.interval = t.bits, true
	switch d := k.from.cmp(k.to); {
	case d > 0 && t.typ.Form != catalog.FormHour && t.typ.Form != catalog.FormDay:
		c.diags.Errorf(e.Span, "compile/range", "Range negative size")
		return k, false
	case d != 0:
		k.isRange = true
	}
	return k, true
}

func (c *compiler) prefixKey(e *syntax.Prefix, t vtype) (k keyValue, ok bool) {
	base, ok := c.scalar(e.Base, t)
	if !ok {
		return k, false
	}
	length, ok := c.scalar(e.Length, vtype{typ: catalog.Integer, bits: 32})
	if !ok {
		return k, false
	}
	if t.isString() || t.typ.Bitmask {
		c.diags.Errorf(e.Span, "compile/prefix", "Prefix expression is undefined for %s types", t.describe())
		return k, false
	}
	if length.cmp(small(uint64(t.bits))) > 0 {
		c.diags.Errorf(e.Span, "compile/prefix", "Prefix length %s is invalid for type of %d bits width", length.decimal(), t.bits)
		return k, false
	}
	k.bits, k.length = t.bits, int(length.lo)
	k.from = base.and(prefixMask(k.length, t.bits))
	k.to = k.from.or(ones(t.bits - k.length))
	k.isPrefix, k.interval = k.length != t.bits, true
	return k, true
}

// foldKey computes with constants.
func (c *compiler) foldKey(e *syntax.Binary, t vtype) (k keyValue, ok bool) {
	a, ok := c.scalar(e.Left, t)
	if !ok {
		return k, false
	}
	rt := t
	if e.Op == syntax.OpLshift || e.Op == syntax.OpRshift {
		rt = shiftType
	}
	b, ok := c.scalar(e.Right, rt)
	if !ok {
		return k, false
	}
	switch e.Op {
	case syntax.OpAnd:
		a = a.and(b)
	case syntax.OpOr:
		a = a.or(b)
	case syntax.OpXor:
		a = a.xor(b)
	case syntax.OpLshift:
		a = a.shl(int(min(b.lo, 128))).and(ones(t.bits))
	case syntax.OpRshift:
		a = a.shr(int(min(b.lo, 128)))
	default:
		c.diags.Errorf(e.Span, "compile/operator", "comparison is not valid inside an expression")
		return k, false
	}
	k.from, k.to, k.bits = a, a, t.bits
	return k, true
}

// plainLiteral reads the literals that long lists are made of: IPv4 addresses
// and numbers that mean themselves. ok is false for all others, also wrong
// ones.
func plainLiteral(l *syntax.Literal, t *vtype) (n num, ok bool) {
	if t.typ == nil || t.limit != 0 {
		return num{}, false
	}
	switch t.typ.Form {
	case catalog.FormIPv4:
		if l.Kind == syntax.LitWord {
			return parseIPv4(l.Text)
		}
	case catalog.FormDecimal, catalog.FormService, catalog.FormMark:
		// Up to 18 characters surely fit the literal's value.
		if l.Kind == syntax.LitNumber && len(l.Text) <= 18 && t.bits < 64 && l.Value>>t.bits == 0 {
			return small(l.Value), true
		}
	}
	return num{}, false
}
