package decompile

import (
	"verdict/catalog"
	"verdict/nft/syntax"
)

// compare takes a comparison with a constant.
func (r *rule) compare(o *operand, op syntax.Operator, value []byte) {
	switch {
	case o == nil:
		return
	case o.kind == operandBinary:
		r.compareBinary(o, op, value)
	case o.kind == operandConcat:
		r.compareConcat(o, op, value)
	case o.kind == operandPayload && o.base != catalog.BaseTunnel && (op == syntax.OpEq || op == syntax.OpNeq):
		r.compareHeader(o, op, value)
	default:
		r.compareValue(o, op, value)
	}
}

// compareValue writes `SELECTOR value`.
func (r *rule) compareValue(o *operand, op syntax.Operator, value []byte) {
	left, f := r.name(o)
	if o.meta != nil && op == syntax.OpEq {
		r.testMeta(o, &f, value)
		return
	}
	m := &syntax.Match{Left: left, Op: silent(op, o, &f)}
	if f.typ.Prefix && len(value) < f.typ.Bytes() { // only the leading bytes are compared
		m.Right = r.o.prefix(&f, value, 8*len(value))
	} else {
		m.Right = r.o.literal(&f, value)
	}
	r.emit(m)
	if op == syntax.OpEq && o.kind == operandExthdr && f.typ == catalog.Integer && o.exthdr.Type == 43 && o.offset == 16 && o.bits == 8 {
		r.outer.routingType = int(uint64Of(value))
	}
}

// silent leaves the equal sign out where the language does.
func silent(op syntax.Operator, o *operand, f *format) syntax.Operator {
	if op == syntax.OpEq && o.kind != operandBinary && !f.flags() {
		return syntax.OpImplicit
	}
	return op
}

// testMeta writes an equality test of a meta key, which may say which
// protocol comes next.
func (r *rule) testMeta(o *operand, f *format, value []byte) {
	l := r.layersOf(o)
	n := uint64Of(bigEndian(f, value))
	dep := dependency{statement: len(r.out), meta: o.meta.Name, value: n}
	l.learnMeta(o.meta.Name, n)
	switch o.meta.Name {
	case "l4proto":
		r.dropForTransport(l, n)
		l.remember(slotTransport, dep)
	case "nfproto", "protocol":
		l.remember(slotNetwork, dep)
	case "iiftype":
		l.remember(slotLink, dep)
	}
	r.emit(&syntax.Match{Left: o.text, Right: r.o.literal(f, value)})
}

// compareHeader writes a test of header bits, one match for each field.
func (r *rule) compareHeader(o *operand, op syntax.Operator, value []byte) {
	l := r.layersOf(o)
	if o.shift != 0 {
		value = shifted(value, o.shift)
	}
	if o.order == catalog.OrderHost {
		value = bigEndian(&o.format, value)
	}
	load := *o
	load.shift, load.order = 0, catalog.OrderNetwork
	if o.shift == 0 && len(value)*8 < load.bits {
		load.bits = len(value) * 8 // only the leading bytes are compared
	}
	value = padLeft(value, (load.bits+7)/8)
	lead := len(value)*8 - load.bits
	for _, p := range l.split(o.base, o.offset, load.bits) {
		v := extract(value, lead+p.offset-o.offset, p.bits)
		r.compareField(&load, p, op, v)
	}
}

// compareField writes a test of one header field.
func (r *rule) compareField(o *operand, p piece, op syntax.Operator, value []byte) {
	l := r.layersOf(o)
	left, f := r.namePiece(o, p)
	f.order = catalog.OrderNetwork
	f.unmasked = true
	m := &syntax.Match{Left: left, Op: silent(op, o, &f)}
	if f.short {
		m.Right = r.o.prefix(&f, value, p.bits)
	} else {
		m.Right = r.o.literal(&f, value)
	}
	if p.field != nil && op == syntax.OpEq && !f.short {
		r.testField(l, p, uint64Of(value))
	}
	r.emit(m)
}

// testField takes note of an equality test that may say which protocol comes
// next. Its statement is the next one.
func (r *rule) testField(l *layers, p piece, value uint64) {
	dep := dependency{statement: len(r.out), protocol: p.protocol, field: p.field, value: value}
	isSelector := p.protocol.Selector >= 0 && &p.protocol.Fields[p.protocol.Selector] == p.field
	switch {
	case (p.protocol == catalog.ICMP || p.protocol == catalog.ICMPv6) && p.field.Offset == 0:
		l.remember(slotICMP, dep)
	case isSelector && p.protocol.Base == catalog.BaseLink:
		if next := p.protocol.NextByValue(value); next != nil && next.Base == catalog.BaseLink {
			l.remember(slotLink, dep)
		} else {
			l.remember(slotNetwork, dep)
		}
	case isSelector && p.protocol.Base == catalog.BaseNetwork:
		l.remember(slotTransport, dep)
	}
	l.learnField(p.protocol, p.field, value)
}

// compareBinary writes a test of an arithmetic expression.
func (r *rule) compareBinary(o *operand, op syntax.Operator, value []byte) {
	equality := op == syntax.OpEq || op == syntax.OpNeq
	if field, ok := r.narrow(o); ok {
		r.compare(field, op, value)
		return
	}
	if o.op != syntax.OpAnd || o.right.kind != operandConstant || !equality {
		r.compareArithmetic(o, op, value)
		return
	}
	if pieces, ok := r.maskedFields(o); ok {
		r.compareMasked(o, pieces, op, value)
		return
	}
	mask := bigEndian(&o.left.format, o.right.value)
	left, f := r.name(o.left)
	f.order = o.order
	switch {
	case f.flags() && isZero(value) && !isZero(mask):
		m := &syntax.Match{Left: left, Right: r.o.flagList(&f, mask)}
		if op == syntax.OpEq {
			m.Op = syntax.OpNot
		}
		r.emit(m)
	case f.typ.Prefix && !f.short && within(value, mask):
		if before, ones, _, ok := run(mask); ok && before == 0 || isZero(mask) {
			m := &syntax.Match{Left: left, Right: r.o.prefix(&f, value, ones)}
			if op == syntax.OpNeq {
				m.Op = op
			}
			r.emit(m)
			return
		}
		fallthrough
	default:
		r.emit(&syntax.Match{
			Left:  &syntax.Binary{Op: syntax.OpAnd, Left: left, Right: r.o.write(&f, mask, symbolic)},
			Op:    op,
			Right: r.o.literal(&f, value),
		})
	}
}

// within reports whether a value has no bits but those of a mask. Others make a
// comparison that never holds, which no prefix can say.
func within(value, mask []byte) bool {
	for i := range min(len(value), len(mask)) {
		if value[i]&^mask[i] != 0 {
			return false
		}
	}
	return true
}

// compareArithmetic writes a test of any other expression.
func (r *rule) compareArithmetic(o *operand, op syntax.Operator, value []byte) {
	left, f := r.name(o)
	r.emit(&syntax.Match{Left: left, Op: op, Right: r.o.literal(&f, value)})
}

// maskedFields recognises a mask that covers several whole fields of a load.
func (r *rule) maskedFields(o *operand) ([]piece, bool) {
	load := o.left
	if load.kind != operandPayload || load.base == catalog.BaseTunnel {
		return nil, false
	}
	before, ones, _, ok := run(bigEndian(&load.format, o.right.value))
	if !ok || ones == load.bits {
		return nil, false
	}
	pieces := r.layersOf(load).split(load.base, load.offset+before, ones)
	if len(pieces) < 2 || pieces[len(pieces)-1].bits < pieces[len(pieces)-1].field.Bits {
		return nil, false
	}
	return pieces, true
}

func (r *rule) compareMasked(o *operand, pieces []piece, op syntax.Operator, value []byte) {
	v := bigEndian(&o.format, value)
	for _, p := range pieces {
		r.compareField(o.left, p, op, extract(v, p.offset-o.left.offset, p.bits))
	}
}

// compareConcat writes a test of a concatenation with constants.
func (r *rule) compareConcat(o *operand, op syntax.Operator, value []byte) {
	left, formats := r.nameParts(o)
	right := &syntax.Concat{}
	at := 0
	for i, p := range o.parts {
		end := min(at+p.bytes, len(value))
		right.Parts = append(right.Parts, r.o.literal(&formats[i], value[at:end]))
		at = min(at+p.words()*4, len(value))
	}
	if op == syntax.OpEq {
		op = syntax.OpImplicit
	}
	r.emit(&syntax.Match{Left: left, Op: op, Right: right})
}

// compareRange takes a comparison with a range.
func (r *rule) compareRange(o *operand, neq bool, from, to []byte) {
	if o == nil {
		return
	}
	left, f := r.name(o)
	m := &syntax.Match{Left: left}
	if neq {
		m.Op = syntax.OpNeq
	}
	if f.form == catalog.FormHour && neq {
		// A compiler turns a range over midnight, in UTC, into its complement.
		from, to, m.Op = to, from, syntax.OpImplicit
	}
	if o.kind == operandBinary && !neq && !isField(left) {
		m.Op = syntax.OpEq
	}
	m.Right = &syntax.Range{From: r.o.bound(&f, from), To: r.o.bound(&f, to)}
	r.emit(m)
}

// isField reports whether an expression is a selector and no arithmetic.
func isField(x syntax.Expr) bool {
	_, arithmetic := x.(*syntax.Binary)
	return !arithmetic
}
