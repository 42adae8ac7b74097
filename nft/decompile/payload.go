package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// piece is the part of a load that one header field, or no known field,
// fills. Offsets are in bits from the base.
type piece struct {
	protocol *catalog.Protocol
	field    *catalog.Field // nil: raw
	offset   int
	bits     int
}

// fieldFormat says how values of a header field read.
func fieldFormat(f *catalog.Field) format {
	return format{typ: f.Type, form: f.NumberForm(), bits: f.Bits, order: f.ByteOrder(), numeric: numericType(f.Type)}
}

// fieldAt finds the field that lies exactly at a place.
func (l *layers) fieldAt(base catalog.Base, offset, bits int) (piece, bool) {
	p, start := l.headerAt(base, offset)
	if p == nil {
		return piece{}, false
	}
	for i := range p.Fields {
		f := &p.Fields[i]
		if f.Offset == offset-start && f.Bits == bits && l.allows(f) {
			return piece{protocol: p, field: f, offset: offset, bits: bits}, true
		}
	}
	return piece{}, false
}

// allows reports whether a field may be meant: those that only some ICMP
// types have are ruled out by another type.
func (l *layers) allows(f *catalog.Field) bool {
	if f.IcmpTypes == nil || l.icmpType < 0 {
		return true
	}
	for _, t := range f.IcmpTypes {
		if int(t) == l.icmpType {
			return true
		}
	}
	return false
}

// split divides a load into the header fields that it covers, in header
// order. If it does not consist of known fields, it is one raw piece. The
// last piece may be the leading part of an address.
func (l *layers) split(base catalog.Base, offset, bits int) []piece {
	var pieces []piece
	for at, end := offset, offset+bits; at < end; {
		p, start := l.headerAt(base, at)
		f := l.fieldFrom(p, at-start, end-at)
		if f == nil {
			return []piece{{offset: offset, bits: bits}}
		}
		n := min(f.Bits, end-at)
		pieces = append(pieces, piece{protocol: p, field: f, offset: at, bits: n})
		at += n
	}
	return pieces
}

// fieldFrom finds the field that starts at a place and fits into the bits
// that are left, or else an address that is longer.
func (l *layers) fieldFrom(p *catalog.Protocol, offset, left int) *catalog.Field {
	if p == nil {
		return nil
	}
	var longer *catalog.Field
	for i := range p.Fields {
		f := &p.Fields[i]
		if f.Offset != offset || !l.allows(f) {
			continue
		}
		if f.Bits <= left {
			return f
		}
		if f.Type.Prefix && longer == nil {
			longer = f
		}
	}
	return longer
}

// namePayload writes a load of header bits.
func (r *rule) namePayload(o *operand) (syntax.Expr, format) {
	l := r.layersOf(o)
	if o.base == catalog.BaseTunnel {
		return r.nameTunnelField(o)
	}
	if p, ok := l.fieldAt(o.base, o.offset, o.bits); ok {
		return r.namePiece(o, p)
	}
	return r.namePiece(o, piece{offset: o.offset, bits: o.bits})
}

// namePiece writes a piece of a load and drops what it implies.
func (r *rule) namePiece(o *operand, p piece) (syntax.Expr, format) {
	l := r.layersOf(o)
	if p.field == nil {
		return r.nameRaw(o, p)
	}
	r.dropForField(l, p.protocol, p.field)
	f := fieldFormat(p.field)
	f.shift = o.shift
	f.short = p.bits < p.field.Bits
	return r.inTunnel(o, headerField(p.protocol, p.field)), f
}

func headerField(p *catalog.Protocol, f *catalog.Field) *syntax.HeaderField {
	return &syntax.HeaderField{Protocol: text(p.Name), Field: text(f.Name)}
}

// inTunnel marks a selector as one of the packet inside a tunnel. It implies
// the test for GRE.
func (r *rule) inTunnel(o *operand, x syntax.Expr) syntax.Expr {
	if o.tunnel == nil {
		return x
	}
	if l := &r.outer; l.deps[slotTransport].statement >= 0 && l.impliedBy(slotTransport, nil, nil) {
		r.drop(l, slotTransport)
	}
	return &syntax.Inner{Tunnel: text(o.tunnelHeader.Name), Expr: x}
}

// nameRaw writes bits without a name: `th sport` and `th dport` where the
// transport protocol is not known, else @base,offset,length.
func (r *rule) nameRaw(o *operand, p piece) (syntax.Expr, format) {
	r.dropForRaw(r.layersOf(o), o.base)
	if o.base == catalog.BaseTransport && p.bits == 16 {
		if f := catalog.TH.FieldAt(p.offset, 16, -1); f != nil {
			fm := fieldFormat(f)
			fm.shift = o.shift
			return r.inTunnel(o, headerField(catalog.TH, f)), fm
		}
	}
	f := format{typ: catalog.Integer, form: catalog.FormHex, bits: p.bits, order: o.order, shift: o.shift}
	return r.inTunnel(o, &syntax.RawPayload{Base: text(rawBase(o.base)), Offset: uint32(p.offset), Length: uint32(p.bits)}), f
}

func rawBase(b catalog.Base) string {
	return [...]string{"ll", "nh", "th", "ih", "ih"}[min(b, catalog.BaseTunnel)]
}

// nameTunnelField writes a field of a tunnel's own header, such as
// `vxlan vni`.
func (r *rule) nameTunnelField(o *operand) (syntax.Expr, format) {
	if o.tunnelHeader != nil {
		for i := range o.tunnelHeader.Fields {
			if f := &o.tunnelHeader.Fields[i]; f.Offset == o.offset && f.Bits == o.bits {
				r.dropTunnelTest(f)
				fm := fieldFormat(f)
				fm.shift = o.shift
				return headerField(o.tunnelHeader, f), fm
			}
		}
	}
	return r.nameRaw(o, piece{offset: o.offset, bits: o.bits})
}

func (r *rule) dropTunnelTest(*catalog.Field) {
	if l := &r.outer; l.deps[slotTransport].statement >= 0 && l.impliedBy(slotTransport, nil, nil) {
		r.drop(l, slotTransport)
	}
}

// writePayload takes `FIELD set VALUE`. Fields that do not fill whole bytes
// are read, masked and written back together with their neighbours.
func (r *rule) writePayload(e *expr.Payload) {
	target := loadPayload(e)
	value := r.regs.span(e.Src, int(e.Len))
	if value == nil {
		return
	}
	if t, v, ok := r.writtenField(target, value); ok {
		target, value = t, v
	}
	left, f := r.namePayload(target)
	r.emit(&syntax.Assign{Left: left, Right: r.valueAs(value, &f)})
}

// writtenField recognises a write of some bits of a load: the load masked by
// the complement of the field, combined with the new value.
func (r *rule) writtenField(target, value *operand) (*operand, *operand, bool) {
	rest, set := value, (*operand)(nil)
	if value.kind == operandBinary && (value.op == syntax.OpOr || value.op == syntax.OpXor) {
		rest, set = value.left, value.right
	}
	if !sameLoad(rest, target) {
		rest, set = set, rest
	}
	if !sameLoad(rest, target) {
		return nil, nil, false
	}
	// The hole is what the mask clears and what is or-ed in.
	hole := make([]byte, target.bytes)
	if rest.kind == operandBinary {
		for i, b := range rest.right.value {
			hole[i] = ^b
		}
	}
	if set != nil && set.kind == operandConstant {
		for i, b := range padLeft(set.value, len(hole)) {
			hole[i] |= b
		}
	}
	before, ones, after, ok := run(hole)
	if !ok {
		return nil, nil, false
	}
	field := *target
	field.offset, field.bits = target.offset+before, ones
	field.bytes = (ones + 7) / 8
	if set == nil {
		return &field, &operand{kind: operandConstant, value: make([]byte, field.bytes), bytes: field.bytes}, true
	}
	if set.kind == operandConstant {
		v := extract(padLeft(set.value, target.bytes), before, ones)
		return &field, &operand{kind: operandConstant, value: v, bytes: len(v)}, true
	}
	return &field, unshifted(set, after), true
}

// sameLoad reports whether an operand is the target's bytes, masked or not.
func sameLoad(o, target *operand) bool {
	if o == nil {
		return false
	}
	if o.kind == operandBinary && o.op == syntax.OpAnd && o.right.kind == operandConstant && len(o.right.value) == target.bytes {
		o = o.left
	}
	return o.kind == operandPayload && o.base == target.base && o.offset == target.offset &&
		o.bits == target.bits && o.tunnel == target.tunnel
}

// unshifted undoes the shift that moved a value up to its field.
func unshifted(o *operand, by int) *operand {
	if by != 0 && o.kind == operandBinary && o.op == syntax.OpLshift && int(o.shiftBy) == by {
		return o.left
	}
	return o
}

// writeExthdr takes `tcp option FIELD set VALUE`.
func (r *rule) writeExthdr(e *expr.Exthdr) {
	left, f := r.nameExthdr(loadExthdr(e))
	if value := r.regs.get(e.Src); value != nil {
		r.emit(&syntax.Assign{Left: left, Right: r.valueAs(value, &f)})
	}
}
