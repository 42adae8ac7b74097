package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

var bitwiseOps = map[syntax.Operator]expr.BitwiseOp{
	syntax.OpAnd: expr.BitwiseAnd, syntax.OpOr: expr.BitwiseOr, syntax.OpXor: expr.BitwiseXor,
	syntax.OpLshift: expr.BitwiseLshift, syntax.OpRshift: expr.BitwiseRshift,
}

var shiftType = vtype{typ: catalog.Integer, bits: 32, order: catalog.OrderHost}

func shiftBy(n int, at diag.Span) *constant {
	return &constant{info: info{vtype: shiftType, at: at}, n: small(uint64(n))}
}

// constantSyntax reports whether an expression is written with constants only.
func (c *compiler) constantSyntax(e syntax.Expr) bool {
	switch e := c.peek(e).(type) {
	case *syntax.Literal, *syntax.List, *syntax.Range, *syntax.Prefix:
		return true
	case *syntax.Binary:
		return c.constantSyntax(e.Left) && c.constantSyntax(e.Right)
	case *syntax.Concat:
		for _, p := range e.Parts {
			if !c.constantSyntax(p) {
				return false
			}
		}
		return true
	case *syntax.SetLiteral:
		return e.Len() == 1
	}
	return false
}

// peek expands a variable without reporting unknown ones.
func (c *compiler) peek(e syntax.Expr) syntax.Expr {
	for range maxSymbolDepth + 1 {
		v, ok := e.(*syntax.Variable)
		if !ok {
			return e
		}
		b, _ := c.binding(v)
		if b == nil {
			return e
		}
		e = b.value
	}
	return e
}

// binaryExpr evaluates L op R.
func (r *rule) binaryExpr(e *syntax.Binary, want *vtype) operand {
	op, ok := bitwiseOps[e.Op]
	if !ok {
		r.errorf(e.Span, "compile/operator", "comparison is not valid inside an expression")
		return nil
	}
	left, right := e.Left, e.Right
	leftConst, rightConst := r.constantSyntax(left), r.constantSyntax(right)
	if leftConst && rightConst {
		return r.constantExpr(e, want)
	}
	shift := op == expr.BitwiseLshift || op == expr.BitwiseRshift
	if leftConst {
		if shift {
			r.errorf(e.Left.Place(), "compile/shift", "cannot shift a constant by a value of the packet")
			return nil
		}
		left, right, rightConst = right, left, true
	}
	l := r.evaluate(left, want)
	if l == nil {
		return nil
	}
	l = valueOf(l)
	h := l.head()
	if h.isConcat() {
		r.errorf(left.Place(), "compile/operator", "Binary operation (%s) is undefined for concatenations", opSigns[e.Op])
		return nil
	}
	if h.isString() && h.typ != nil {
		r.errorf(left.Place(), "compile/operator", "Binary operation (%s) is undefined for %s types", opSigns[e.Op], h.typ.Name)
		return nil
	}
	if shift {
		return r.shiftExpr(e, op, l, right)
	}
	t := h.vtype
	if r.assigning > t.bits {
		t.bits = r.assigning
		t.order = catalog.OrderHost
		if want != nil {
			t.typ, t.order = want.typ, want.order
		}
	}
	if rightConst {
		rt := t
		rt.bits = t.bits
		o := r.evaluate(right, &rt)
		c, ok := o.(*constant)
		if o != nil && !ok {
			r.errorf(right.Place(), "compile/operator", "Right hand side of binary operation (%s) must be a single value", opSigns[e.Op])
		}
		if !ok {
			return nil
		}
		c.list = false
		return &computed{info: info{vtype: t, at: e.Span}, op: op, left: l, right: c}
	}
	o := r.evaluate(right, &t)
	if o == nil {
		return nil
	}
	o = valueOf(o)
	if o.head().order != t.order && t.order != catalog.OrderNone {
		o = toOrder(o, t.order)
	}
	t.bits = max(t.bits, o.head().bits)
	return &computed{info: info{vtype: t, at: e.Span}, op: op, left: l, right: o}
}

var opSigns = map[syntax.Operator]string{
	syntax.OpAnd: "&", syntax.OpOr: "|", syntax.OpXor: "^", syntax.OpLshift: "<<", syntax.OpRshift: ">>",
	syntax.OpEq: "==", syntax.OpImplicit: "==", syntax.OpNeq: "!=", syntax.OpLt: "<", syntax.OpLte: "<=",
	syntax.OpGt: ">", syntax.OpGte: ">=", syntax.OpNot: "!",
}

func (r *rule) shiftExpr(e *syntax.Binary, op expr.BitwiseOp, l operand, right syntax.Expr) operand {
	if !r.constantSyntax(right) {
		r.errorf(right.Place(), "compile/shift", "Right hand side of binary operation (%s) must be constant", opSigns[e.Op])
		return nil
	}
	n, ok := r.scalar(right, shiftType)
	if !ok {
		return nil
	}
	width := max(l.head().bits, r.assigning)
	if n.cmp(small(uint64(width))) >= 0 {
		r.errorf(e.Span, "compile/shift", "%s shift of %s bits exceeds operand width of %d bits",
			map[expr.BitwiseOp]string{expr.BitwiseLshift: "Left", expr.BitwiseRshift: "Right"}[op], n.decimal(), width)
		return nil
	}
	l = toOrder(l, catalog.OrderHost)
	t := l.head().vtype
	t.bits = width
	if t.bits > 8 && t.order == catalog.OrderNone || r.assigning > 0 {
		t.order = catalog.OrderHost
	}
	return &computed{info: info{vtype: t, at: e.Span}, op: op, left: l, right: shiftBy(int(n.lo), right.Place())}
}
