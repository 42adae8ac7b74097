package nftjson

import (
	"strconv"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// selector writes what takes something from the packet or its context.
func (w *writer) selector(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.HeaderField:
		tunnel := ""
		if p := catalog.ProtocolByName(x.Protocol.Text); p != nil && p.Base == catalog.BaseTunnel {
			tunnel = p.Name // the tunnel's own header
		}
		w.headerField(tunnel, x)
	case *syntax.Inner:
		w.inner(x)
	case *syntax.RawPayload:
		w.wrap("payload")
		w.text("base", x.Base.Text)
		w.bits(x.Offset, x.Length)
		w.unwrap()
	case *syntax.Meta:
		w.wrap("meta")
		w.text("key", x.Key.Text)
		w.unwrap()
	case *syntax.CT:
		w.conntrack(x)
	case *syntax.RT:
		w.wrap("rt")
		w.text("key", x.Key.Text)
		w.text("family", x.Family.Text)
		w.unwrap()
	case *syntax.Socket:
		w.wrap("socket")
		w.text("key", x.Key.Text)
		w.count("level", x.Level)
		w.unwrap()
	case *syntax.Fib:
		w.fib(x, x.Result.Text)
	case *syntax.OSF:
		w.wrap("osf")
		w.text("key", x.Key.Text)
		w.text("ttl", x.TTL.Text)
		w.unwrap()
	case *syntax.Numgen:
		w.wrap("numgen")
		w.text("mode", x.Mode.Text)
		w.count("mod", x.Mod)
		w.key("offset")
		w.number(valueOf(x.Offset))
		w.unwrap()
	case *syntax.Hash:
		w.hash(x)
	case *syntax.IPsec:
		w.wrap("ipsec")
		w.text("key", x.Key.Text)
		w.text("family", x.Family.Text)
		w.text("dir", x.Direction.Text)
		w.key("spnum")
		w.number(valueOf(x.Spnum))
		w.unwrap()
	case *syntax.TunnelMeta:
		w.wrap("tunnel")
		w.text("key", x.Key.Text)
		w.unwrap()
	default:
		w.optionField(x)
	}
}

// valueOf is the value of a number, 0 if it was not given.
func valueOf(n *syntax.Number) uint64 {
	if n == nil {
		return 0
	}
	return n.Value
}

// count writes a member that is a number, if it was given.
func (w *writer) count(name string, n *syntax.Number) {
	if n != nil {
		w.key(name)
		w.number(n.Value)
	}
}

func (w *writer) bits(offset, length uint32) {
	w.key("offset")
	w.number(uint64(offset))
	w.key("len")
	w.number(uint64(length))
}

func (w *writer) headerField(tunnel string, x *syntax.HeaderField) {
	w.wrap("payload")
	w.text("tunnel", tunnel)
	w.text("protocol", x.Protocol.Text)
	w.text("field", x.Field.Text)
	w.unwrap()
}

// inner writes a match in the packet inside a tunnel.
func (w *writer) inner(x *syntax.Inner) {
	switch inner := x.Expr.(type) {
	case *syntax.HeaderField:
		w.headerField(x.Tunnel.Text, inner)
	case *syntax.Meta:
		w.wrap("meta")
		w.text("tunnel", x.Tunnel.Text)
		w.text("key", inner.Key.Text)
		w.unwrap()
	case *syntax.RawPayload:
		w.wrap("payload")
		w.text("tunnel", x.Tunnel.Text)
		w.text("base", inner.Base.Text)
		w.bits(inner.Offset, inner.Length)
		w.unwrap()
	default:
		w.expr(x.Expr)
	}
}

// conntrack writes a key of ct; the family is part of the key's name.
func (w *writer) conntrack(x *syntax.CT) {
	w.wrap("ct")
	key := x.Key.Text
	if x.Family.Given() {
		key = x.Family.Text + " " + key
	}
	w.text("key", key)
	w.text("dir", x.Direction.Text)
	w.unwrap()
}

func (w *writer) fib(x *syntax.Fib, result string) {
	w.wrap("fib")
	w.text("result", result)
	w.words("flags", x.Flags)
	w.unwrap()
}

func (w *writer) hash(x *syntax.Hash) {
	if x.Symmetric {
		w.wrap("symhash")
	} else {
		w.wrap("jhash")
	}
	w.count("mod", x.Mod)
	w.count("seed", x.Seed)
	if valueOf(x.Offset) != 0 {
		w.count("offset", x.Offset)
	}
	w.exprMember("expr", x.Of)
	w.unwrap()
}

// optionField writes fields of extension headers, options and chunks.
func (w *writer) optionField(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.ExthdrField:
		w.wrap("exthdr")
		w.text("name", x.Header.Text)
		field := x.Field.Text
		if x.Index != nil {
			field += "[" + strconv.FormatUint(x.Index.Value, 10) + "]"
		}
		w.text("field", field)
		w.unwrap()
	case *syntax.TCPOption:
		w.tcpOption(x)
	case *syntax.IPOption:
		w.wrap("ip option")
		w.text("name", x.Name.Text)
		w.text("field", x.Field.Text)
		w.unwrap()
	case *syntax.SCTPChunk:
		w.wrap("sctp chunk")
		w.text("name", x.Type.Text)
		w.text("field", x.Field.Text)
		w.unwrap()
	case *syntax.DCCPOption:
		w.wrap("dccp option")
		w.key("type")
		n, _ := strconv.ParseUint(x.Kind.Text, 0, 8)
		w.number(n)
		w.unwrap()
	default:
		w.string(string(syntax.AppendExpr(nil, x)))
	}
}

// tcpOption writes a TCP option. One without a name, or a raw place in one,
// is given by number and bits.
func (w *writer) tcpOption(x *syntax.TCPOption) {
	w.wrap("tcp option")
	kind, err := strconv.ParseUint(x.Kind.Text, 0, 8)
	switch {
	case x.Raw:
		w.rawOption(uint64(x.RawKind), x.Offset, x.Length)
	case err == nil:
		w.rawOption(kind, 0, 8)
	default:
		w.text("name", x.Kind.Text)
		w.text("field", x.Field.Text)
	}
	w.unwrap()
}

func (w *writer) rawOption(kind uint64, offset, length uint32) {
	w.key("base")
	w.number(kind)
	w.bits(offset, length)
}

// isFlags reports whether a selector's type is a bitmask, so that an implicit
// comparison asks for any of the bits.
func isFlags(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.HeaderField:
		p := catalog.ProtocolByName(x.Protocol.Text)
		if p == nil {
			return false
		}
		f := p.FieldByName(x.Field.Text)
		return f != nil && f.Type.Bitmask
	case *syntax.CT:
		f, _ := catalog.FamilyByName(x.Family.Text)
		k := catalog.CTKey(x.Key.Text, f)
		return k != nil && k.Type.Bitmask
	case *syntax.Meta:
		k := catalog.MetaKey(x.Key.Text)
		return k != nil && k.Type.Bitmask
	case *syntax.Inner:
		return isFlags(x.Expr)
	case *syntax.ExthdrField:
		return isFlagField(catalog.ExthdrByName(x.Header.Text), x.Field.Text)
	case *syntax.SCTPChunk:
		return isFlagField(catalog.SCTPChunkByName(x.Type.Text), x.Field.Text)
	case *syntax.TCPOption:
		return isFlagField(catalog.TCPOptionByName(x.Kind.Text), x.Field.Text)
	}
	return false
}

func isFlagField(o *catalog.Option, field string) bool {
	if o == nil {
		return false
	}
	f := o.FieldByName(field)
	return f != nil && f.Type.Bitmask
}
