package decompile

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

func text(s string) syntax.Word { return syntax.Word{Text: s} }

func number(v uint64) *syntax.Number { return &syntax.Number{Value: v} }

// keyOperand is an operand whose text is known and whose values read as the
// key says.
func keyOperand(k *catalog.Key, text syntax.Expr) *operand {
	o := &operand{kind: operandSelector, text: text, bytes: k.Bytes()}
	o.format = keyFormat(k)
	return o
}

func keyFormat(k *catalog.Key) format {
	f := format{typ: k.Type, form: k.Type.Form, bits: k.Bits, order: k.Order}
	if k.Form != catalog.FormDecimal {
		f.form = k.Form
	}
	return f
}

func metaExpr(k *catalog.Key) *syntax.Meta {
	return &syntax.Meta{Key: text(k.Name), Qualified: !k.PrintAlone}
}

func loadMeta(k *catalog.Key) *operand {
	o := keyOperand(k, metaExpr(k))
	o.meta = k
	return o
}

func (r *rule) loadCT(e *expr.CT) *operand {
	x := &syntax.CT{Key: text(e.Key.Name)}
	if e.HasDir {
		x.Direction = text(directionName(e.Dir))
	}
	o := keyOperand(e.Key, x)
	o.ct = e.Key
	switch {
	case e.Key.Family != catalog.FamilyUnspec:
		x.Family = text(e.Key.Family.String())
	case e.Key.Bytecode == "src" || e.Key.Bytecode == "dst":
		// The address is of the family that the rule is about.
		if known(r.outer.network) == catalog.IP6 {
			x.Family = text("ip6")
			o.format = formatOf(catalog.IPv6Addr)
		} else {
			x.Family = text("ip")
			o.format = formatOf(catalog.IPv4Addr)
		}
		o.bytes = o.bits / 8
		if r.o.json {
			x.Family = syntax.Word{} // JSON names the key as the bytecode does
		}
	}
	return o
}

func directionName(dir uint8) string {
	if dir == 0 {
		return "original"
	}
	return "reply"
}

func loadRT(e *expr.RT) *operand {
	x := &syntax.RT{Key: text(e.Key.Name)}
	if e.Key.Family != catalog.FamilyUnspec {
		x.Family = text(e.Key.Family.String())
	}
	return keyOperand(e.Key, x)
}

func loadSocket(e *expr.Socket) *operand {
	x := &syntax.Socket{Key: text(e.Key.Name)}
	if e.Key.Type == catalog.CgroupV2 {
		x.Level = number(uint64(e.Level))
	}
	return keyOperand(e.Key, x)
}

func loadFib(e *expr.Fib) *operand {
	key := catalog.FibResultByNumber(e.Result)
	if key == nil {
		key = catalog.FibCheck
	}
	if e.Flags&expr.FibPresent != 0 {
		key = catalog.FibCheck
	}
	x := &syntax.Fib{Result: text(key.Name)}
	for _, f := range catalog.FibFlags {
		if uint64(e.Flags)&f.Value != 0 {
			x.Flags = append(x.Flags, text(f.Name))
		}
	}
	return keyOperand(key, x)
}

func loadOSF(e *expr.OSF) *operand {
	key := catalog.OSFKeys[min(e.Flags&1, 1)]
	x := &syntax.OSF{Key: text(key.Name)}
	for _, t := range catalog.OSFTTLs {
		if t.Value == uint64(e.TTL) {
			x.TTL = text(t.Name)
		}
	}
	return keyOperand(key, x)
}

func loadXFRM(e *expr.XFRM) *operand {
	x := &syntax.IPsec{Direction: text("in"), Key: text(e.Key.Name)}
	if e.Out {
		x.Direction = text("out")
	}
	if e.Spnum != 0 {
		x.Spnum = number(uint64(e.Spnum))
	}
	if e.Key.Family != catalog.FamilyUnspec {
		x.Family = text(e.Key.Family.String())
	}
	return keyOperand(e.Key, x)
}

func loadTunnel(e *expr.Tunnel) *operand {
	return keyOperand(e.Key, &syntax.TunnelMeta{Key: text(e.Key.Name)})
}

// generated is the format of numbers that numgen and the hashes make.
var generated = format{typ: catalog.Integer, bits: 32, order: catalog.OrderHost}

func loadNumgen(e *expr.Numgen) *operand {
	x := &syntax.Numgen{Mode: text("inc"), Mod: number(uint64(e.Mod))}
	if e.Random {
		x.Mode = text("random")
	}
	if e.Offset != 0 {
		x.Offset = number(uint64(e.Offset))
	}
	return &operand{kind: operandSelector, text: x, bytes: 4, format: generated}
}

// loadHash keeps what is hashed as an operand: its text depends on where it
// is used.
func (r *rule) loadHash(e *expr.Hash) {
	o := &operand{kind: operandHash, hash: e, bytes: 4, format: generated}
	if !e.Symmetric {
		o.key = r.regs.span(e.Src, int(e.Len))
	}
	r.regs.set(e.Dst, o)
}

func (r *rule) hashText(o *operand) *syntax.Hash {
	x := &syntax.Hash{Symmetric: o.hash.Symmetric, Mod: number(uint64(o.hash.Mod))}
	if o.key != nil {
		x.Of, _ = r.name(o.key)
	}
	if o.hash.HasSeed || o.hash.Seed != 0 {
		x.Seed = number(uint64(o.hash.Seed))
	}
	if o.hash.Offset != 0 {
		x.Offset = number(uint64(o.hash.Offset))
	}
	return x
}

func loadPayload(e *expr.Payload) *operand {
	o := &operand{
		kind: operandPayload, base: e.Base, offset: int(e.Offset) * 8, bytes: int(e.Len),
		format: format{typ: catalog.Integer, form: catalog.FormHex, bits: int(e.Len) * 8, order: catalog.OrderNetwork},
	}
	return o
}

// loadInner loads from the packet inside a tunnel, which has a context of its
// own.
func (r *rule) loadInner(e *expr.Inner) {
	tunnel := tunnelOf(e.Type)
	l := r.inner[e.Type]
	if l == nil {
		l = new(layers)
		if e.Flags&catalog.InnerLink != 0 {
			l.init(catalog.FamilyBridge)
		} else {
			l.init(catalog.FamilyNetdev)
		}
		if r.inner == nil {
			r.inner = map[uint32]*layers{}
		}
		r.inner[e.Type] = l
	}
	var o *operand
	var dst expr.Reg
	switch x := e.Expr.(type) {
	case *expr.Payload:
		o, dst = loadPayload(x), x.Dst
	case *expr.Meta:
		o, dst = loadMeta(x.Key), x.Dst
		m := metaExpr(x.Key)
		m.Qualified = true
		o.text = &syntax.Inner{Tunnel: text(tunnel.Name), Expr: m}
	default:
		return
	}
	o.tunnel, o.tunnelHeader = l, tunnel
	r.regs.set(dst, o)
}

func tunnelOf(innerType uint32) *catalog.Protocol {
	for _, p := range catalog.Protocols {
		if p.Tunnel != nil && p.Tunnel.InnerType == innerType {
			return p
		}
	}
	return catalog.VXLAN
}

// layersOf is the context in which an operand is named.
func (r *rule) layersOf(o *operand) *layers {
	if o.tunnel != nil {
		return o.tunnel
	}
	return &r.outer
}
