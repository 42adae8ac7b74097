package nftjson

import (
	"slices"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/nft/syntax"
)

// selector reads what takes something from the packet or its context.
func (d *decoder) selector(n *node, name string, body *node) syntax.Expr {
	before := d.diags.Errors()
	at := d.at(n)
	var x syntax.Expr
	switch name {
	case "payload":
		x = d.payload(at, body)
	case "exthdr":
		x = d.exthdr(at, body)
	case "tcp option":
		x = d.tcpOption(at, body)
	case "ip option", "sctp chunk":
		x = d.option(at, name, body)
	case "dccp option":
		if d.object(body, "type") {
			if kind, ok := d.uint(d.need(body, "type"), maxUint8); ok {
				x = &syntax.DCCPOption{At: at, Kind: syntax.Word{At: at, Text: strconv.FormatUint(kind, 10)}}
			}
		}
	case "meta":
		x = d.meta(at, body)
	case "ct":
		x = d.conntrack(at, body)
	case "numgen":
		if d.object(body, "mode", "mod", "offset") {
			x = &syntax.Numgen{
				At: at, Mode: d.oneOf(d.need(body, "mode"), "mode", "inc", "random"),
				Mod: d.number(d.need(body, "mod"), maxUint32), Offset: d.nonZero(body.get("offset"), maxUint32),
			}
		}
	case "jhash", "symhash":
		x = d.hash(at, body, name == "symhash")
	default:
		x = d.lookupKey(at, name, body)
	}
	if d.diags.Errors() > before {
		return nil
	}
	return x
}

// lookupKey reads the keys of what the kernel knows about a packet.
func (d *decoder) lookupKey(at syntax.At, name string, body *node) syntax.Expr {
	switch name {
	case "rt":
		if d.object(body, "key", "family") {
			return &syntax.RT{
				At: at, Key: d.key(body, "rt key", catalog.RTKeys),
				Family: d.oneOf(body.get("family"), "family", "ip", "ip6"),
			}
		}
	case "socket":
		if d.object(body, "key", "level") {
			return &syntax.Socket{
				At: at, Key: d.key(body, "socket key", catalog.SocketKeys), Level: d.number(body.get("level"), maxUint32),
			}
		}
	case "fib":
		return d.fib(at, body)
	case "osf":
		if d.object(body, "key", "ttl") {
			return &syntax.OSF{
				At: at, Key: d.key(body, "osf key", catalog.OSFKeys),
				TTL: d.oneOf(body.get("ttl"), "ttl", "loose", "skip"),
			}
		}
	case "ipsec":
		if d.object(body, "key", "family", "dir", "spnum") {
			return &syntax.IPsec{
				At: at, Key: d.key(body, "ipsec key", catalog.XFRMKeys),
				Family:    d.oneOf(body.get("family"), "family", "ip", "ip6"),
				Direction: d.oneOf(d.need(body, "dir"), "direction", "in", "out"),
				Spnum:     d.nonZero(body.get("spnum"), maxUint8),
			}
		}
	case "tunnel":
		if d.object(body, "key") {
			return &syntax.TunnelMeta{At: at, Key: d.key(body, "tunnel key", catalog.TunnelKeys)}
		}
	}
	return nil
}

// key reads the member that names a key, one of a list.
func (d *decoder) key(body *node, what string, keys []*catalog.Key) syntax.Word {
	n := d.need(body, "key")
	if n == nil {
		return syntax.Word{}
	}
	w := d.word(n)
	if n.kind == kindString {
		d.knownKey(n, w.Text, what, keys)
	}
	return w
}

// knownKey checks that a list has a key of a name.
func (d *decoder) knownKey(n *node, name, what string, keys []*catalog.Key) {
	var names []string
	for _, k := range keys {
		if k.Name == name || slices.Contains(k.Aliases, name) {
			return
		}
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	d.unknown(n, what, name, names)
}

// nonZero reads a number of which 0 means that there is none.
func (d *decoder) nonZero(n *node, most uint64) *syntax.Number {
	return given(d.number(n, most))
}

// payload reads a field of a header, or bits of one.
func (d *decoder) payload(at syntax.At, body *node) syntax.Expr {
	if !d.object(body, "protocol", "field", "tunnel", "base", "offset", "len") {
		return nil
	}
	tunnel := d.word(body.get("tunnel"))
	if tunnel.Given() {
		if p := catalog.ProtocolByName(tunnel.Text); p == nil || p.Tunnel == nil {
			d.unknown(body.get("tunnel"), "tunnel", tunnel.Text, []string{"vxlan", "geneve", "gre", "gretap"})
			return nil
		}
	}
	var x syntax.Expr
	if body.get("base") != nil {
		x = d.rawPayload(at, body)
	} else {
		x = d.headerField(at, body)
	}
	if h, ok := x.(*syntax.HeaderField); ok && h.Protocol.Text == tunnel.Text || x == nil || !tunnel.Given() {
		return x
	}
	return &syntax.Inner{At: at, Tunnel: tunnel, Expr: x}
}

func (d *decoder) rawPayload(at syntax.At, body *node) syntax.Expr {
	base := d.oneOf(d.need(body, "base"), "base", "ll", "nh", "th", "ih")
	offset, ok := d.uint(d.need(body, "offset"), maxUint32)
	length, ok2 := d.uint(d.need(body, "len"), maxUint32)
	if !ok || !ok2 {
		return nil
	}
	return &syntax.RawPayload{At: at, Base: base, Offset: uint32(offset), Length: uint32(length)}
}

func (d *decoder) headerField(at syntax.At, body *node) syntax.Expr {
	protocol, field := d.need(body, "protocol"), d.need(body, "field")
	if protocol == nil || field == nil {
		return nil
	}
	h := &syntax.HeaderField{At: at, Protocol: d.word(protocol), Field: d.word(field)}
	p := catalog.ProtocolByName(h.Protocol.Text)
	if p == nil {
		if protocol.kind == kindString {
			var names []string
			for _, p := range catalog.Protocols {
				names = append(names, p.Name)
			}
			d.unknown(protocol, "protocol", h.Protocol.Text, names)
		}
		return nil
	}
	if field.kind == kindString && p.FieldByName(h.Field.Text) == nil {
		var names []string
		for _, f := range p.Fields {
			names = append(names, f.Name)
		}
		d.unknown(field, "field of "+p.Name, h.Field.Text, names)
	}
	return h
}

// optionRow finds an option by the member "name".
func (d *decoder) optionRow(body *node, what string, list []*catalog.Option) (syntax.Word, *catalog.Option) {
	n := d.need(body, "name")
	w := d.word(n)
	if n == nil || n.kind != kindString {
		return w, nil
	}
	var names []string
	for _, o := range list {
		if o.Name == w.Text {
			return w, o
		}
		names = append(names, o.Name)
	}
	d.unknown(n, what, w.Text, names)
	return w, nil
}

// optionField reads the member "field", which is missing in tests for
// existence.
func (d *decoder) optionField(body *node, o *catalog.Option) syntax.Word {
	n := body.get("field")
	w := d.word(n)
	if n != nil && n.kind == kindString {
		d.knownField(n, w.Text, o)
	}
	return w
}

// knownField checks that an option has a field of a name.
func (d *decoder) knownField(n *node, name string, o *catalog.Option) {
	if o == nil || o.FieldByName(name) != nil {
		return
	}
	var names []string
	for _, f := range o.Fields {
		names = append(names, f.Name)
	}
	d.unknown(n, "field of "+o.Name, name, names)
}

// exthdr reads a field of an extension header. The index of an address stands
// in brackets behind the field or in the member "offset".
func (d *decoder) exthdr(at syntax.At, body *node) syntax.Expr {
	if !d.object(body, "name", "field", "offset") {
		return nil
	}
	x := &syntax.ExthdrField{At: at}
	var o *catalog.Option
	x.Header, o = d.optionRow(body, "extension header", catalog.Exthdrs)
	field := body.get("field")
	x.Field = d.word(field)
	if x.Field.Given() {
		if name, index, ok := indexed(x.Field.Text); ok {
			x.Field.Text = name
			x.Index = &syntax.Number{At: d.at(field), Value: index}
		}
		d.knownField(field, x.Field.Text, o)
	}
	off := body.get("offset")
	if off != nil && x.Index != nil {
		if n := d.number(off, maxUint8); n != nil {
			x.Index.Value += n.Value
		}
	}
	if off != nil && x.Index == nil && o != nil {
		if f := o.FieldByName(x.Field.Text); f != nil && f.Step != 0 {
			x.Index = d.number(off, maxUint8)
		}
	}
	return x
}

// indexed splits sid[1] into name and index.
func indexed(s string) (name string, index uint64, ok bool) {
	name, rest, found := strings.Cut(s, "[")
	if !found || !strings.HasSuffix(rest, "]") {
		return s, 0, false
	}
	index, err := strconv.ParseUint(rest[:len(rest)-1], 10, 8)
	return name, index, err == nil
}

// tcpOption reads a TCP option by name, or by number and bits.
func (d *decoder) tcpOption(at syntax.At, body *node) syntax.Expr {
	if !d.object(body, "name", "field", "base", "offset", "len") {
		return nil
	}
	x := &syntax.TCPOption{At: at}
	base := body.get("base")
	if base == nil {
		var o *catalog.Option
		x.Kind, o = d.optionRow(body, "tcp option", catalog.TCPOptions)
		x.Field = d.optionField(body, o)
		return x
	}
	kind, ok := d.uint(base, maxUint8)
	offset, ok2 := d.uint(d.need(body, "offset"), maxUint32)
	length, ok3 := d.uint(d.need(body, "len"), maxUint32)
	if !ok || !ok2 || !ok3 {
		return nil
	}
	if offset == 0 && (length == 8 || length == 0) { // the option as such
		x.Kind = syntax.Word{At: d.at(base), Text: strconv.FormatUint(kind, 10)}
		return x
	}
	x.Raw, x.RawKind, x.Offset, x.Length = true, uint8(kind), uint32(offset), uint32(length)
	return x
}

// option reads a field of an IPv4 option or of an SCTP chunk.
func (d *decoder) option(at syntax.At, name string, body *node) syntax.Expr {
	if !d.object(body, "name", "field") {
		return nil
	}
	if name == "ip option" {
		w, o := d.optionRow(body, name, catalog.IPOptions)
		return &syntax.IPOption{At: at, Name: w, Field: d.optionField(body, o)}
	}
	w, o := d.optionRow(body, name, catalog.SCTPChunks)
	return &syntax.SCTPChunk{At: at, Type: w, Field: d.optionField(body, o)}
}

func (d *decoder) meta(at syntax.At, body *node) syntax.Expr {
	if !d.object(body, "key", "tunnel") {
		return nil
	}
	m := &syntax.Meta{At: at, Key: d.key(body, "meta key", catalog.MetaKeys), Qualified: true}
	if t := body.get("tunnel"); t != nil {
		return &syntax.Inner{At: at, Tunnel: d.oneOf(t, "tunnel", "vxlan", "geneve", "gre", "gretap"), Expr: m}
	}
	return m
}

// conntrack reads a key of ct, whose name may start with a family.
func (d *decoder) conntrack(at syntax.At, body *node) syntax.Expr {
	if !d.object(body, "key", "family", "dir") {
		return nil
	}
	x := &syntax.CT{
		At: at, Family: d.oneOf(body.get("family"), "family", "ip", "ip6"),
		Direction: d.oneOf(body.get("dir"), "direction", "original", "reply"),
	}
	n := d.need(body, "key")
	if n == nil {
		return nil
	}
	x.Key = d.word(n)
	if family, rest, ok := strings.Cut(x.Key.Text, " "); ok && (family == "ip" || family == "ip6") {
		x.Family = syntax.Word{At: d.at(n), Text: family}
		x.Key.Text = rest
	}
	if n.kind == kindString {
		d.knownKey(n, x.Key.Text, "ct key", catalog.CTKeys)
	}
	return x
}

func (d *decoder) fib(at syntax.At, body *node) syntax.Expr {
	if !d.object(body, "result", "flags") {
		return nil
	}
	var flags, results []string
	for _, f := range catalog.FibFlags {
		flags = append(flags, f.Name)
	}
	for _, k := range catalog.FibResults {
		results = append(results, k.Name)
	}
	results = append(results, catalog.FibCheck.Name)
	x := &syntax.Fib{At: at, Result: d.oneOf(d.need(body, "result"), "fib result", results...)}
	if f := d.need(body, "flags"); f != nil {
		x.Flags = d.words(f, "fib flag", flags...)
	}
	return x
}

func (d *decoder) hash(at syntax.At, body *node, symmetric bool) syntax.Expr {
	known := []string{"mod", "offset", "seed", "expr"}
	if symmetric {
		known = known[:2]
	}
	if !d.object(body, known...) {
		return nil
	}
	h := &syntax.Hash{
		At: at, Symmetric: symmetric, Mod: d.number(d.need(body, "mod"), maxUint32),
		Offset: d.nonZero(body.get("offset"), maxUint32),
	}
	if symmetric {
		return h
	}
	h.Seed = d.number(body.get("seed"), maxUint32)
	if e := d.need(body, "expr"); e != nil {
		h.Of = d.expr(e)
	}
	return h
}
