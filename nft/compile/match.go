package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
)

// cmpOp is the relation of a match.
type cmpOp uint8

const (
	cmpEq cmpOp = iota
	cmpNeq
	cmpLt
	cmpLte
	cmpGt
	cmpGte
	cmpAny  // some of the bits are set
	cmpNone // none of the bits is set
)

// match is an evaluated comparison.
type match struct {
	left    operand
	op      cmpOp
	right   operand
	implied bool // inserted as a dependency
	at      diag.Span
}

func (m *match) generate(g *generator) {
	src := g.take(m.left)
	reg := regAt(src)
	left := m.left
	switch right := m.right.(type) {
	case *setRef:
		g.load(left, src)
		g.emit(&expr.Lookup{Set: right.set.name, SetID: right.set.id, Src: reg, Invert: m.op == cmpNeq})
	case *span:
		g.load(left, src)
		from := &constant{info: right.info, n: right.from}
		to := &constant{info: right.info, n: right.to}
		g.emit(&expr.Range{Src: reg, Neq: m.op == cmpNeq, From: from.value(), To: to.value()})
	case *prefix:
		m.generatePrefix(g, right, src)
	case *constant:
		g.load(left, src)
		if m.op == cmpAny || m.op == cmpNone {
			op := expr.CmpNeq
			if m.op == cmpNone {
				op = expr.CmpEq
			}
			t := left.head().vtype
			g.maskXor(reg, t, right.n, num{})
			zero := &constant{info: info{vtype: t}}
			g.emit(&expr.Cmp{Src: reg, Op: op, Value: zero.value()})
			return
		}
		g.emit(&expr.Cmp{Src: reg, Op: expr.CmpOp(m.op), Value: right.value()})
	}
}

// generatePrefix compares leading bits. Where they are whole bytes in network
// order, only those are loaded and compared; else a mask cuts the others off.
func (m *match) generatePrefix(g *generator, p *prefix, src int) {
	reg := regAt(src)
	if l, ok := m.left.(loader); ok && p.length > 0 && p.length%8 == 0 && l.head().order == catalog.OrderNetwork {
		g.load(shortened(l, p.length), src)
		c := &constant{info: p.info, n: p.n.shr(p.bits - p.length)}
		c.bits = p.length
		g.emit(&expr.Cmp{Src: reg, Op: expr.CmpOp(m.op), Value: c.value()})
		return
	}
	g.load(m.left, src)
	t := m.left.head().vtype
	g.maskXor(reg, t, prefixMask(p.length, p.bits), num{})
	c := &constant{info: p.info, n: p.n}
	g.emit(&expr.Cmp{Src: reg, Op: expr.CmpOp(m.op), Value: c.value()})
}

// shortened is a load of the leading bits alone, where the load has a length.
func shortened(l loader, bits int) loader {
	switch l := l.(type) {
	case *payload:
		short := *l
		short.bits = bits
		return &short
	case *exthdr:
		short := *l
		short.bits = bits
		return &short
	}
	return l
}
