package compile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// pseudoHeader are the fields that the checksum of the transport header
// covers.
var pseudoHeader = map[string]bool{"saddr": true, "daddr": true, "protocol": true, "nexthdr": true, "length": true}

// write is where and how a payload statement stores its value.
type write struct {
	expr.Payload
	load  *payload // what is read first, to keep what lies beside the field
	width int      // of the field in bits
	shift int      // of the field within what is written
	whole bool     // the field fills what is written
}

// newWrite lays out the write of a field. Where a checksum must be updated,
// whole aligned pairs of bytes are written; what lies beside the field is kept
// by reading it first.
func newWrite(p *payload, field *bitfield) write {
	w := write{Payload: expr.Payload{Base: p.base, Write: true}, width: p.bits}
	if field != nil {
		w.width, w.shift = field.fieldBits, field.shift
	}
	sums := p.proto != nil && p.proto.ChecksumOffset >= 0
	if sums {
		w.CsumType, w.CsumOffset = p.proto.ChecksumType, uint32(p.proto.ChecksumOffset)
	}
	if p.base == catalog.BaseInner || p.base == catalog.BaseNetwork && p.field != nil && pseudoHeader[p.field.Name] {
		w.CsumFlags = 1
	}
	first, size := p.offset/8, p.bytes()
	if (sums || p.base == catalog.BaseInner) && size%2 != 0 {
		size++
		if first%2 != 0 {
			first--
		} else {
			w.shift += 8
		}
	}
	w.Offset, w.Len = uint32(first), uint32(size)
	w.whole = size == p.bytes() && field == nil
	t := vtype{typ: catalog.Integer, bits: 8 * size, order: catalog.OrderNetwork}
	w.load = &payload{info: info{vtype: t, at: p.at}, base: p.base, offset: 8 * first, proto: p.proto}
	return w
}

// assignPayload evaluates a write to the packet.
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
	if field != nil {
		want = field.vtype
	}
	w := newWrite(p, field)
	if w.load.bits > 128 {
		r.errorf(p.at, "compile/assign", "this field cannot be set")
		return
	}
	if !w.whole {
		if o, is := r.ownField(s, want, &w); is {
			if o != nil {
				r.store(o, w)
			}
			return
		}
	}
	value := r.argument(s.Right, want)
	if value == nil {
		return
	}
	c, isConst := value.(*constant)
	switch {
	case w.whole:
		r.store(value, w)
	case isConst:
		keep := w.combine(w.load, expr.BitwiseAnd, ones(w.width).shl(w.shift).not(w.load.bits))
		r.store(w.combine(keep, expr.BitwiseXor, c.n.shl(w.shift)), w)
	default:
		r.errorf(s.Right.Place(), "compile/assign", "payload statement for this expression is not supported")
	}
}

// ownField evaluates a value that is computed from the very field that it is
// stored in, such as ip dscp set ip dscp | 1: the computation is made on the
// bytes as they are loaded. is reports whether the value has this form; the
// operand is nil after an error.
func (r *rule) ownField(s *syntax.Assign, want vtype, w *write) (o operand, is bool) {
	var chain []*syntax.Binary
	e := r.peek(s.Right)
	for {
		b, ok := e.(*syntax.Binary)
		if !ok {
			break
		}
		op, known := bitwiseOps[b.Op]
		if !known || op == expr.BitwiseLshift || op == expr.BitwiseRshift || !r.constantSyntax(b.Right) {
			return nil, false
		}
		chain = append(chain, b)
		e = r.peek(b.Left)
	}
	left, ok := s.Left.(*syntax.HeaderField)
	right, ok2 := e.(*syntax.HeaderField)
	if len(chain) == 0 || !ok || !ok2 || left.Protocol.Text != right.Protocol.Text || left.Field.Text != right.Field.Text {
		return nil, false
	}
	o = w.load
	for i := len(chain) - 1; i >= 0; i-- {
		n, ok := r.scalar(chain[i].Right, want)
		if !ok {
			return nil, true
		}
		n = n.shl(w.shift)
		op := bitwiseOps[chain[i].Op]
		if op == expr.BitwiseAnd {
			n = n.or(ones(w.width).shl(w.shift).not(w.load.bits))
		}
		o = w.combine(o, op, n)
	}
	return o, true
}

// combine computes with a constant on what is written.
func (w *write) combine(o operand, op expr.BitwiseOp, n num) *computed {
	h := w.load.info
	return &computed{info: h, op: op, left: o, right: &constant{info: h, n: n}}
}

// store adds the statement that writes a value.
func (r *rule) store(o operand, w write) {
	out := w.Payload
	r.insert(emitFunc(func(g *generator) {
		e := out
		e.Src = g.loaded(o)
		g.emit(&e)
	}))
}
