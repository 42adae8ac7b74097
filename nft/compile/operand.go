package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
)

// vtype is what the compiler knows of a value: its data type, its width in
// bits and the byte order in which it sits in a register. Concatenations have
// parts, each of which starts at a multiple of 32 bits.
type vtype struct {
	typ   *catalog.Type
	bits  int
	order catalog.ByteOrder
	parts []vtype
	// merged marks the ends of an interval as map data: two values side by
	// side for one of the language.
	merged bool
	// limit is the largest value where that is less than the width allows, 0 if
	// it is not.
	limit uint64
}

func typeOf(t *catalog.Type) vtype { return vtype{typ: t, bits: t.Bits, order: t.Order} }

// bytes is the size of the value in a register.
func (t vtype) bytes() int { return (t.bits + 7) / 8 }

func (t vtype) isConcat() bool { return len(t.parts) > 0 }

func (t vtype) isString() bool { return t.typ != nil && t.typ.IsA(catalog.String) }

// host reports whether the value is a little-endian number of more than one
// byte in its register.
func (t vtype) host() bool { return t.order == catalog.OrderHost && !t.isString() }

// words is the number of 32-bit registers that a value of so many bits takes.
func words(bits int) int { return (bits + 31) / 32 }

// concatType joins types into a concatenation.
func concatType(parts []vtype) vtype {
	t := vtype{parts: parts}
	for _, p := range parts {
		t.bits += 32 * words(p.bits)
	}
	return t
}

// describe names the type as nft does in messages.
func (t vtype) describe() string {
	if !t.isConcat() {
		if t.typ == nil {
			return "invalid"
		}
		return t.typ.Description
	}
	s := "concatenation of ("
	for i, p := range t.parts {
		if i > 0 {
			s += ", "
		}
		s += p.describe()
	}
	return s + ")"
}

// info is what all operands have.
type info struct {
	vtype
	at diag.Span
}

func (i *info) head() *info { return i }

// operand is a typed expression: a constant, something loaded from the packet
// or its context, or a computation.
type operand interface{ head() *info }

// loader is an operand that one expression of the bytecode loads.
type loader interface {
	operand
	load(dst expr.Reg) expr.Expr
}

// constant is a number or a string. Strings keep their bytes in order, the
// first as the most significant.
type constant struct {
	info
	n num
	// list: written as a comma list of flags.
	list bool
	// partial: a string that stands for all that start with it.
	partial bool
	// relabelled: a host-order constant as part of the key of an interval set.
	// It is stored in network order but prints as a host-order number.
	relabelled bool
}

// value is the constant in memory order.
func (c *constant) value() expr.Value {
	b := make([]byte, c.bytes())
	c.n.put(b, c.host())
	return expr.Value{Bytes: b, Host: c.host() || c.relabelled}
}

// prefix is a value of which only the leading bits count.
type prefix struct {
	info
	n      num
	length int
}

// span is a closed interval.
type span struct {
	info
	from, to num
}

// payload is a load of packet bytes.
type payload struct {
	info
	base   catalog.Base
	offset int // bits
	proto  *catalog.Protocol
	field  *catalog.Field
	raw    bool
	tunnel *catalog.Protocol // the tunnel whose inner packet is meant
}

func (p *payload) load(dst expr.Reg) expr.Expr {
	e := &expr.Payload{Base: p.base, Offset: uint32(p.offset / 8), Len: uint32(p.bytes()), Dst: dst}
	return inTunnel(p.tunnel, e)
}

// selects reports whether the load is the field that names the next protocol.
func (p *payload) selects() bool {
	return p.field != nil && p.proto.Selector >= 0 && p.field == &p.proto.Fields[p.proto.Selector]
}

// meta is a load of a meta key.
type meta struct {
	info
	key    *catalog.Key
	tunnel *catalog.Protocol
}

func (m *meta) load(dst expr.Reg) expr.Expr {
	return inTunnel(m.tunnel, &expr.Meta{Key: m.key, Dst: dst})
}

func inTunnel(tunnel *catalog.Protocol, e expr.Expr) expr.Expr {
	if tunnel == nil {
		return e
	}
	t := tunnel.Tunnel
	return &expr.Inner{Type: t.InnerType, HdrSize: t.HeaderSize, Flags: t.Flags, Expr: e}
}

// conntrack is a load of a ct key.
type conntrack struct {
	info
	key    *catalog.Key
	hasDir bool
	dir    uint8
}

func (c *conntrack) load(dst expr.Reg) expr.Expr {
	return &expr.CT{Key: c.key, Dst: dst, HasDir: c.hasDir, Dir: c.dir}
}

// exthdr is a load from an extension header or option.
type exthdr struct {
	info
	op      uint32
	kind    uint8
	offset  int // bits
	present bool
}

func (e *exthdr) load(dst expr.Reg) expr.Expr {
	return &expr.Exthdr{Op: e.op, Type: e.kind, Offset: uint32(e.offset / 8), Len: uint32(e.bytes()), Present: e.present, Dst: dst}
}

// fib is a routing lookup.
type fib struct {
	info
	result, flags uint32
}

func (f *fib) load(dst expr.Reg) expr.Expr {
	return &expr.Fib{Result: f.result, Flags: f.flags, Dst: dst}
}

// other is any other load, such as rt, socket, numgen.
type other struct {
	info
	make func(dst expr.Reg) expr.Expr
	name string // for messages
}

func (o *other) load(dst expr.Reg) expr.Expr { return o.make(dst) }

// jhash hashes an operand.
type jhash struct {
	info
	of   operand
	hash expr.Hash
}

// bitfield is a field that does not fill whole bytes: bits of a load at a
// shift. In comparisons the constant is shifted; elsewhere the value is.
type bitfield struct {
	info      // the field's own type and width
	of        loader
	shift     int
	fieldBits int
}

// mask has the field's bits set within the loaded bytes.
func (b *bitfield) mask() num { return ones(b.fieldBits).shl(b.shift) }

// computed is a computation on two operands; shifts have a constant right side.
type computed struct {
	info
	op          expr.BitwiseOp
	left, right operand
}

// swap changes between host and network byte order.
type swap struct {
	info
	of     operand
	toHost bool
	size   int // bytes swapped as one
}

// concat is a concatenation.
type concat struct {
	info
	parts []operand
}

// lookup is a map lookup that yields data.
type lookup struct {
	info
	key operand
	set *setInfo
}

// setRef is a named or anonymous set.
type setRef struct {
	info
	set *setInfo
}

// verdict is a verdict as a value.
type verdict struct {
	info
	v expr.Verdict
}

func isConstant(o operand) bool {
	switch o := o.(type) {
	case *constant, *prefix, *span, *verdict:
		return true
	case *concat:
		for _, p := range o.parts {
			if !isConstant(p) {
				return false
			}
		}
		return true
	}
	return false
}

// toOrder converts a value to a byte order, by swapping where it is loaded
// and by mere relabelling where it is constant.
func toOrder(o operand, order catalog.ByteOrder) operand {
	h := o.head()
	if h.isConcat() {
		c, ok := o.(*concat)
		if !ok {
			return o
		}
		out := *c
		out.parts = make([]operand, len(c.parts))
		out.info.parts = append([]vtype(nil), c.info.parts...)
		for i, p := range c.parts {
			out.parts[i] = toOrder(p, order)
			if k, ok := out.parts[i].(*constant); ok && p.head().host() && p.head().bits > 8 && order == catalog.OrderNetwork {
				k.relabelled = true
			}
			out.info.parts[i] = out.parts[i].head().vtype
		}
		return &out
	}
	if h.isString() || h.bits <= 8 || h.order == order || h.order == catalog.OrderNone {
		return o
	}
	switch o := o.(type) {
	case *constant:
		c := *o
		c.order = order
		return &c
	case *span:
		c := *o
		c.order = order
		return &c
	case *prefix:
		c := *o
		c.order = order
		return &c
	}
	s := &swap{info: *h, of: o, toHost: order == catalog.OrderHost, size: h.bytes()}
	s.order = order
	if s.size%2 != 0 {
		s.size = h.bytes() + 1
	}
	if s.size > 8 {
		s.size = 8
	}
	return s
}
