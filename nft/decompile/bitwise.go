package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

func constant(v []byte) *operand {
	return &operand{kind: operandConstant, value: v, bytes: len(v)}
}

func operation(op syntax.Operator, left, right *operand) *operand {
	return &operand{kind: operandBinary, format: left.format, bytes: left.bytes, op: op, left: left, right: right}
}

// bitwise takes a computation into its register.
func (r *rule) bitwise(e *expr.Bitwise) {
	left := r.regs.span(e.Src, int(e.Len))
	if left == nil {
		return
	}
	switch e.Op {
	case expr.BitwiseMaskXor:
		r.regs.set(e.Dst, maskXor(left, e.Mask.Bytes, e.Xor.Bytes))
	case expr.BitwiseLshift, expr.BitwiseRshift:
		o := operation(syntax.OpLshift, left, nil)
		if e.Op == expr.BitwiseRshift {
			o.op = syntax.OpRshift
		}
		o.shiftBy = e.Shift
		o.order = catalog.OrderHost // shifts work on host words
		o.bytes = int(e.Len)
		r.regs.set(e.Dst, o)
	case expr.BitwiseAnd, expr.BitwiseOr, expr.BitwiseXor:
		right := constant(e.Data.Bytes)
		if e.HasSrc2 {
			if right = r.regs.get(e.Src2); right == nil {
				return
			}
		}
		op := [...]syntax.Operator{expr.BitwiseAnd: syntax.OpAnd, expr.BitwiseOr: syntax.OpOr, expr.BitwiseXor: syntax.OpXor}[e.Op]
		r.regs.set(e.Dst, operation(op, left, right))
	}
}

// maskXor takes (left & mask) ^ xor apart again: bits that the xor sets where
// the mask clears them were or-ed, the others were xor-ed.
func maskXor(left *operand, mask, xor []byte) *operand {
	m, x, o := make([]byte, len(mask)), make([]byte, len(mask)), make([]byte, len(mask))
	for i := range mask {
		var b byte
		if i < len(xor) {
			b = xor[i]
		}
		o[i] = b &^ mask[i]
		x[i] = b & mask[i]
		m[i] = mask[i] | o[i]
	}
	result := left
	if !isOnes(m) {
		result = operation(syntax.OpAnd, result, constant(m))
	}
	if !isZero(x) {
		result = operation(syntax.OpXor, result, constant(x))
	}
	if !isZero(o) {
		result = operation(syntax.OpOr, result, constant(o))
	}
	if result != left {
		result.bytes = len(mask)
	}
	return result
}

// byteorder takes a byte swap: the value stays, its bytes turn.
func (r *rule) byteorder(e *expr.Byteorder) {
	src := r.regs.span(e.Src, int(e.Len))
	if src == nil {
		return
	}
	order := catalog.OrderNetwork
	if e.ToHost {
		order = catalog.OrderHost
	}
	r.regs.set(e.Dst, src.reordered(order))
}

// narrow recognises bits inside a load: the load masked, and perhaps shifted
// down. The result reads like a load of just these bits.
func (r *rule) narrow(o *operand) (*operand, bool) {
	if o.kind != operandBinary {
		return nil, false
	}
	switch o.op {
	case syntax.OpAnd:
		return r.narrowMask(o)
	case syntax.OpRshift:
		field, ok := r.narrow(o.left)
		if !ok || field.shift != int(o.shiftBy) {
			return nil, false
		}
		field.shift = 0
		field.order = o.order
		return field, true
	}
	return nil, false
}

func (r *rule) narrowMask(o *operand) (*operand, bool) {
	load := o.left
	if o.right.kind != operandConstant || load.kind != operandPayload && load.kind != operandExthdr || load.shift != 0 {
		return nil, false
	}
	before, ones, after, ok := run(bigEndian(&load.format, o.right.value))
	if !ok || ones == load.bits {
		return nil, false
	}
	field := *load
	field.order = o.order
	field.offset, field.bits, field.shift = load.offset+before, ones, after
	if load.kind == operandExthdr {
		_, f, _ := exthdrField(load.exthdr, field.offset, field.bits, r.outer.routingType)
		return &field, f != nil && f.Bits == field.bits
	}
	if load.base == catalog.BaseTunnel {
		return &field, load.tunnelHeader != nil && load.tunnelHeader.FieldAt(field.offset, field.bits, -1) != nil
	}
	l := r.layersOf(load)
	if _, ok := l.fieldAt(load.base, field.offset, field.bits); ok {
		return &field, true
	}
	return nil, false
}

// nameBinary writes an arithmetic expression.
func (r *rule) nameBinary(o *operand) (syntax.Expr, format) {
	if field, ok := r.narrow(o); ok {
		return r.name(field)
	}
	left, f := r.name(o.left)
	f.unmasked = false
	x := &syntax.Binary{Op: o.op, Left: left}
	switch {
	case o.op == syntax.OpLshift || o.op == syntax.OpRshift:
		x.Right = decimal(uint64(o.shiftBy))
		if f.typ.Form == catalog.FormHex {
			f.typ, f.form = catalog.Integer, catalog.FormHex // names no longer fit
		}
	default:
		if o.right.kind == operandConstant && f.shift != 0 {
			f.shift = 0
		}
		x.Right = r.valueAs(o.right, &f)
	}
	return x, f
}
