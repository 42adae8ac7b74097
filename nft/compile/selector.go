package compile

import (
	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

func newMeta(key *catalog.Key, at diag.Span) *meta {
	return &meta{info: info{vtype: keyType(key), at: at}, key: key}
}

// keyType is the type of a key in its register.
func keyType(key *catalog.Key) vtype {
	t := vtype{typ: key.Type, bits: key.Bits, order: key.Order}
	switch key.Type {
	case catalog.Boolean:
		t.limit = 1
	case catalog.Day:
		t.limit = 6
	}
	return t
}

// newPayload is the load of a field that fills whole bytes.
func newPayload(p *catalog.Protocol, f *catalog.Field, extra int, at diag.Span) *payload {
	return &payload{
		info: info{vtype: vtype{typ: f.Type, bits: f.Bits, order: f.ByteOrder()}, at: at},
		base: p.Base, offset: f.Offset + extra, proto: p, field: f,
	}
}

// narrow turns a load of arbitrary bits into one of whole bytes, with the
// mask and shift that the bits need.
func narrow(l loader, offset *int, bits int) operand {
	h := l.head()
	first := *offset / 8 * 8
	loaded := (*offset + bits - first + 7) / 8 * 8
	shift := first + loaded - *offset - bits
	if first == *offset && loaded == bits {
		return l
	}
	*offset = first
	field := h.vtype
	h.bits = loaded
	h.order = catalog.OrderNetwork
	field.order = catalog.OrderNetwork
	return &bitfield{info: info{vtype: field, at: h.at}, of: l, shift: shift, fieldBits: bits}
}

// headerField evaluates a header field, in the packet or, with a tunnel, in
// the packet inside.
func (r *rule) headerField(e *syntax.HeaderField, tunnel *catalog.Protocol) operand {
	p := catalog.ProtocolByName(e.Protocol.Text)
	if p == nil {
		r.errorf(e.Protocol.Span, "compile/unknown-header", "unknown header '%s'", e.Protocol.Text)
		return nil
	}
	f := p.FieldByName(e.Field.Text)
	if f == nil {
		d := r.errorf(e.Field.Span, "compile/unknown-field", "header %s has no field '%s'", p.Name, e.Field.Text)
		names := make([]string, len(p.Fields))
		for i := range p.Fields {
			names[i] = p.Fields[i].Name
		}
		suggest(d, e.Field.Text, names)
		return nil
	}
	if p.Base == catalog.BaseTunnel {
		if !r.needTunnel(p, e.Span) {
			return nil
		}
		l := newPayload(p, f, 0, e.Span)
		l.tunnel = p
		return narrow(l, &l.offset, f.Bits)
	}
	ctx := r.context(tunnel)
	extra, ok := r.need(ctx, p, e.Span)
	if !ok || !r.needICMPType(ctx, p, f, e.Span) {
		return nil
	}
	l := newPayload(p, f, extra, e.Span)
	l.tunnel = tunnel
	return narrow(l, &l.offset, f.Bits)
}

// needTunnel makes sure that the rule has tested for the protocol that carries
// a tunnel.
func (r *rule) needTunnel(p *catalog.Protocol, at diag.Span) bool {
	if r.declare {
		return true
	}
	l := &r.ctx.layers[catalog.BaseTransport]
	if p.Base == catalog.BaseTransport {
		_, ok := r.need(r.ctx, p, at)
		return ok
	}
	switch {
	case l.proto == nil:
		r.errorf(at, "compile/no-transport", "no transport protocol specified").
			Hint = "test the port of the tunnel first, as in udp dport 4789 " + p.Name
		return false
	case l.proto != catalog.UDP:
		r.errorf(at, "compile/conflicting-protocols", "unexpected transport protocol %s", l.proto.Name)
		return false
	}
	return true
}

func (r *rule) innerField(e *syntax.Inner) operand {
	p := catalog.ProtocolByName(e.Tunnel.Text)
	if p == nil || p.Tunnel == nil {
		r.errorf(e.Tunnel.Span, "compile/unknown-header", "'%s' is not a tunnel", e.Tunnel.Text)
		return nil
	}
	if !r.needTunnel(p, e.Span) {
		return nil
	}
	switch x := e.Expr.(type) {
	case *syntax.HeaderField:
		return r.headerField(x, p)
	case *syntax.Meta:
		o := r.metaKey(x)
		if m, ok := o.(*meta); ok {
			m.tunnel = p
		}
		return o
	}
	r.errorf(e.Span, "compile/inner", "only header fields and meta can be matched inside a tunnel")
	return nil
}

var rawBases = map[string]catalog.Base{
	"ll": catalog.BaseLink, "nh": catalog.BaseNetwork, "th": catalog.BaseTransport, "ih": catalog.BaseInner,
}

func (r *rule) rawPayload(e *syntax.RawPayload) operand {
	base, ok := rawBases[e.Base.Text]
	if !ok {
		d := r.errorf(e.Base.Span, "compile/raw-base", "unknown payload base '%s'", e.Base.Text)
		d.Expected = []string{"ll", "nh", "th", "ih"}
		return nil
	}
	if e.Length == 0 || e.Length > 128 {
		r.errorf(e.Span, "compile/raw-length", "payload length %d is not between 1 and 128 bits", e.Length)
		return nil
	}
	if e.Offset > 1<<16 {
		r.errorf(e.Span, "compile/raw-offset", "payload offset %d is too large", e.Offset)
		return nil
	}
	t := vtype{typ: catalog.Integer, bits: int(e.Length), order: catalog.OrderNetwork}
	l := &payload{info: info{vtype: t, at: e.Span}, base: base, offset: int(e.Offset), raw: true}
	return narrow(l, &l.offset, int(e.Length))
}

func (r *rule) metaKey(e *syntax.Meta) operand {
	key := catalog.MetaKey(e.Key.Text)
	if key == nil {
		d := r.errorf(e.Key.Span, "compile/unknown-key", "unknown meta key '%s'", e.Key.Text)
		suggest(d, e.Key.Text, keyNames(catalog.MetaKeys))
		return nil
	}
	if key.Name == "nfproto" && r.family != catalog.FamilyInet && !r.declare {
		r.errorf(e.Span, "compile/family", "meta nfproto is only useful in the inet family")
		return nil
	}
	return newMeta(key, e.Span)
}

func keyNames(keys []*catalog.Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// suggest adds the nearest valid name to a diagnostic.
func suggest(d *diag.Diagnostic, word string, names []string) {
	if near := diag.Nearest(word, names); near != "" {
		d.Hint = "did you mean '" + near + "'?"
	}
}

// networkFamily is the address family that the rule is known to be about.
func (r *rule) networkFamily() catalog.Family {
	l := r.ctx.layers[catalog.BaseNetwork]
	if len(l.also) > 0 {
		return catalog.FamilyUnspec
	}
	switch l.proto {
	case catalog.IP:
		return catalog.FamilyIP
	case catalog.IP6:
		return catalog.FamilyIP6
	}
	return catalog.FamilyUnspec
}

// addressType is the type of addresses of a family.
func addressType(f catalog.Family) *catalog.Type {
	if f == catalog.FamilyIP6 {
		return catalog.IPv6Addr
	}
	return catalog.IPv4Addr
}

func (r *rule) conntrackKey(e *syntax.CT) operand {
	family, _ := catalog.FamilyByName(e.Family.Text)
	key := catalog.CTKey(e.Key.Text, family)
	if key == nil {
		d := r.errorf(e.Key.Span, "compile/unknown-key", "unknown ct key '%s'", e.Key.Text)
		suggest(d, e.Key.Text, keyNames(catalog.CTKeys))
		return nil
	}
	o := &conntrack{info: info{vtype: keyType(key), at: e.Span}, key: key}
	if e.Direction.Given() {
		if !key.DirOK {
			r.errorf(e.Direction.Span, "compile/ct-direction", "ct %s takes no direction", key.Name)
			return nil
		}
		o.hasDir = true
		if e.Direction.Text == "reply" {
			o.dir = 1
		}
	} else if key.NeedsDir {
		r.errorf(e.Span, "compile/ct-direction", "ct %s needs a direction, original or reply", key.Name)
		return nil
	}
	if (key.Name == "saddr" || key.Name == "daddr") && key.Family == catalog.FamilyUnspec {
		f := r.networkFamily()
		if f == catalog.FamilyUnspec {
			if !r.declare {
				r.errorf(e.Span, "compile/ct-family", `cannot determine ip protocol version, use "ip %[1]s" or "ip6 %[1]s" instead`, key.Name)
				return nil
			}
			f = catalog.FamilyIP
		}
		o.vtype = typeOf(addressType(f))
	}
	return o
}

func (r *rule) routeKey(e *syntax.RT) operand {
	family, _ := catalog.FamilyByName(e.Family.Text)
	known := r.networkFamily()
	if family == catalog.FamilyUnspec {
		family = known
	} else if known != catalog.FamilyUnspec && known != family && !r.declare {
		r.errorf(e.Span, "compile/rt-family", "%s nexthop will not match", family)
		return nil
	}
	key := catalog.RTKey(e.Key.Text, family)
	if key == nil {
		if e.Key.Text == "nexthop" {
			r.errorf(e.Span, "compile/rt-family", `cannot determine ip protocol version, use "ip nexthop" or "ip6 nexthop" instead`)
			return nil
		}
		d := r.errorf(e.Key.Span, "compile/unknown-key", "unknown rt key '%s'", e.Key.Text)
		suggest(d, e.Key.Text, keyNames(catalog.RTKeys))
		return nil
	}
	return &other{info: info{vtype: keyType(key), at: e.Span}, name: "rt", make: func(dst expr.Reg) expr.Expr {
		return &expr.RT{Key: key, Dst: dst}
	}}
}
