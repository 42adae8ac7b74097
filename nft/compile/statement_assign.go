package compile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// assign evaluates a statement that sets a field or key.
func (r *rule) assign(s *syntax.Assign) {
	left := r.evaluate(s.Left, nil)
	if left == nil {
		return
	}
	switch l := left.(type) {
	case *payload:
		r.assignPayload(l, nil, s)
	case *bitfield:
		if p, ok := l.of.(*payload); ok {
			r.assignPayload(p, l, s)
			return
		}
		r.errorf(s.Left.Place(), "compile/assign", "this field cannot be set")
	case *exthdr:
		r.assignOption(l, s)
	case *meta:
		r.assignMeta(l, s)
	case *conntrack:
		r.assignConntrack(l, s)
	default:
		r.errorf(s.Left.Place(), "compile/assign", "this expression cannot be set")
	}
}

// assignable reports whether a value of a type may be stored as another.
func assignable(want, have vtype) bool {
	if sameType(want, have) {
		return true
	}
	if want.isConcat() || have.isConcat() || want.typ == nil || have.typ == nil || want.isString() != have.isString() {
		return false
	}
	return numeric(want.typ) && numeric(have.typ)
}

// numeric types mix freely in assignments: marks, integers and what derives
// from them.
func numeric(t *catalog.Type) bool {
	switch t {
	case catalog.IPv4Addr, catalog.IPv6Addr, catalog.EtherAddr, catalog.Verdict:
		return false
	}
	return t.IsA(catalog.Integer)
}

// argument evaluates the value that a statement stores.
func (r *rule) argument(e syntax.Expr, want vtype) operand {
	r.assigning = want.bits
	defer func() { r.assigning = 0 }()
	o := r.single(e, want)
	if c, ok := o.(*constant); ok {
		c.list = false
	}
	return o
}

func (r *rule) assignMeta(l *meta, s *syntax.Assign) {
	if !l.key.Settable {
		r.errorf(s.Left.Place(), "compile/assign", "meta %s cannot be set", l.key.Name)
		return
	}
	if l.tunnel != nil {
		r.errorf(s.Left.Place(), "compile/assign", "the packet inside a tunnel cannot be changed")
		return
	}
	o := r.argument(s.Right, l.vtype)
	if o == nil {
		return
	}
	r.insert(emitFunc(func(g *generator) {
		at := g.take(o)
		g.load(o, at)
		g.emit(&expr.Meta{Key: l.key, Src: regAt(at), Set: true})
	}))
}

func (r *rule) assignConntrack(l *conntrack, s *syntax.Assign) {
	if !l.key.Settable {
		r.errorf(s.Left.Place(), "compile/assign", "ct %s cannot be set", l.key.Name)
		return
	}
	o := r.argument(s.Right, l.vtype)
	if o == nil {
		return
	}
	r.insert(emitFunc(func(g *generator) {
		at := g.take(o)
		g.load(o, at)
		g.emit(&expr.CT{Key: l.key, Src: regAt(at), Set: true, HasDir: l.hasDir, Dir: l.dir})
	}))
}

func (r *rule) assignOption(l *exthdr, s *syntax.Assign) {
	if l.op != expr.ExthdrTCPOpt || l.present {
		r.errorf(s.Left.Place(), "compile/assign", "this option cannot be set")
		return
	}
	o := r.argument(s.Right, l.vtype)
	if o == nil {
		return
	}
	r.insert(emitFunc(func(g *generator) {
		at := g.take(o)
		g.load(o, at)
		g.emit(&expr.Exthdr{Op: l.op, Type: l.kind, Offset: uint32(l.offset / 8), Len: uint32(l.bytes()), Src: regAt(at), Write: true})
	}))
}

// pseudoHeader are the fields that the checksum of the transport header
// covers.
var pseudoHeader = map[string]bool{"saddr": true, "daddr": true, "protocol": true, "nexthdr": true, "length": true}

// assignPayload evaluates a write to the packet. Where a checksum must be
// updated, whole aligned pairs of bytes are written; what lies beside the
// field is kept by reading it first.
func (r *rule) assignPayload(p *payload, field *bitfield, s *syntax.Assign) {
	if p.tunnel != nil {
		at := p.at
		if p.tunnel.Base == catalog.BaseTunnel {
			at = s.Left.Place()
		}
		r.errorf(at, "compile/assign", "payload statement for this expression is not supported")
		return
	}
	want := p.vtype
	width, shift := p.bits, 0
	if field != nil {
		want, width, shift = field.vtype, field.fieldBits, field.shift
	}
	value := r.argument(s.Right, want)
	if value == nil {
		return
	}
	write := expr.Payload{Base: p.base, Write: true}
	sums := p.proto != nil && p.proto.ChecksumOffset >= 0
	if sums {
		write.CsumType, write.CsumOffset = p.proto.ChecksumType, uint32(p.proto.ChecksumOffset)
	}
	if p.base == catalog.BaseInner || p.base == catalog.BaseNetwork && p.field != nil && pseudoHeader[p.field.Name] {
		write.CsumFlags = 1
	}
	first, size := p.offset/8, p.bytes()
	if sums || p.base == catalog.BaseInner {
		if first%2 != 0 {
			first--
			size++
		}
		if size%2 != 0 {
			size++
			shift += 8
		}
	}
	write.Offset, write.Len = uint32(first), uint32(size)
	if size == p.bytes() && field == nil {
		r.insert(emitFunc(func(g *generator) {
			at := g.take(value)
			g.load(value, at)
			e := write
			e.Src = regAt(at)
			g.emit(&e)
		}))
		return
	}
	r.readModifyWrite(p, write, value, width, shift)
}

// readModifyWrite stores a value among other bits.
func (r *rule) readModifyWrite(p *payload, write expr.Payload, value operand, width, shift int) {
	t := vtype{typ: catalog.Integer, bits: 8 * int(write.Len), order: catalog.OrderNetwork}
	if t.bits > 128 {
		r.errorf(p.at, "compile/assign", "this field cannot be set")
		return
	}
	h := info{vtype: t, at: p.at}
	load := &payload{info: h, base: p.base, offset: 8 * int(write.Offset), proto: p.proto}
	keep := &computed{info: h, op: expr.BitwiseAnd, left: load, right: &constant{info: h, n: ones(width).shl(shift).not(t.bits)}}
	var o operand
	if c, ok := value.(*constant); ok {
		o = &computed{info: h, op: expr.BitwiseXor, left: keep, right: &constant{info: h, n: c.n.shl(shift)}}
	} else {
		moved := value
		if shift > 0 {
			host := toOrder(value, catalog.OrderHost)
			mt := t
			mt.order = catalog.OrderHost
			moved = &computed{info: info{vtype: mt, at: p.at}, op: expr.BitwiseLshift, left: host, right: shiftBy(shift, p.at)}
			moved = toOrder(moved, catalog.OrderNetwork)
		}
		o = &computed{info: h, op: expr.BitwiseOr, left: keep, right: moved}
	}
	r.insert(emitFunc(func(g *generator) {
		at := g.take(o)
		g.load(o, at)
		e := write
		e.Src = regAt(at)
		g.emit(&e)
	}))
}
