package compile

import (
	"slices"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// objectDeclaration declares a stateful object.
func (c *compiler) objectDeclaration(o *syntax.StatefulObj, t target, op ruleset.Op) {
	ch := t.change(op, ruleset.KindObject)
	typ := objectTypes[o.Kind]
	obj := &ruleset.Object{Name: t.name, Type: typ, Comment: c.comment(o.Comment)}
	if !c.objectBody(o, obj, t) {
		return
	}
	ch.ObjectDef, ch.ObjType = obj, typ
	c.add(ch)
	c.orNew(t.family, t.table).objects[objectKey{typ, t.name}] = true
}

func (c *compiler) objectBody(o *syntax.StatefulObj, obj *ruleset.Object, t target) bool {
	missing := func(what string) bool {
		c.diags.Errorf(o.Span, "compile/object", "%s is not specified", what)
		return false
	}
	switch o.Kind {
	case syntax.ObjCounter:
		obj.Counter = &expr.Counter{}
		if o.Counter != nil {
			obj.Counter.Packets, obj.Counter.Bytes = o.Counter.Packets, o.Counter.Bytes
		}
	case syntax.ObjQuota:
		if o.Quota == nil {
			return missing("quota")
		}
		obj.Quota = &expr.Quota{Bytes: o.Quota.Bytes, Consumed: o.Quota.Used, Over: o.Quota.Over}
	case syntax.ObjLimit:
		if o.Limit == nil {
			return missing("limit rate")
		}
		l, ok := c.limit(o.Limit).(*expr.Limit)
		if !ok {
			return false
		}
		obj.Limit = l
	case syntax.ObjSynproxy:
		if o.Synproxy == nil {
			return missing("synproxy")
		}
		obj.Synproxy = c.newRule(c.orNew(t.family, t.table), nil).synproxy(o.Synproxy)
	case syntax.ObjSecmark:
		obj.Secmark = o.Secmark.Text
		if len(obj.Secmark) >= 256 {
			c.diags.Errorf(o.Secmark.Span, "compile/string", "String exceeds maximum length of 256")
			return false
		}
	case syntax.ObjCTHelper:
		return c.helperObject(o, obj)
	case syntax.ObjCTTimeout:
		return c.timeoutObject(o, obj)
	case syntax.ObjCTExpectation:
		return c.expectationObject(o, obj)
	case syntax.ObjTunnel:
		return c.tunnelObject(o, obj)
	}
	return true
}

// l3proto is the network protocol of a ct object; where none is written the
// kernel takes that of the table.
func (c *compiler) l3proto(w syntax.Word) (catalog.Family, bool) {
	if !w.Given() {
		return catalog.FamilyUnspec, true
	}
	f, ok := catalog.FamilyByName(w.Text)
	if !ok {
		c.unknownWord(w, "family", "ip", "ip6", "inet")
	}
	return f, ok
}

var protocolNumbers = map[string]uint8{"tcp": 6, "udp": 17}

func (c *compiler) objectProtocol(w syntax.Word, o *syntax.StatefulObj) (uint8, bool) {
	if !w.Given() {
		c.diags.Errorf(o.Span, "compile/object", "missing transport protocol")
		return 0, false
	}
	n, ok := protocolNumbers[w.Text]
	if !ok {
		v, found := catalog.InetProto.SymbolByName(w.Text)
		if !found || v > 255 {
			c.unknownWord(w, "protocol", "tcp", "udp")
			return 0, false
		}
		n = uint8(v)
	}
	return n, true
}

// protocols reads the two protocols of an object, with every mistake in them.
func (c *compiler) protocols(l3, l4 syntax.Word, o *syntax.StatefulObj) (catalog.Family, uint8, bool) {
	family, ok := c.l3proto(l3)
	protocol, ok2 := c.objectProtocol(l4, o)
	return family, protocol, ok && ok2
}

func (c *compiler) helperObject(o *syntax.StatefulObj, obj *ruleset.Object) bool {
	if o.Helper == nil || !o.Helper.Type.Given() {
		c.diags.Errorf(o.Span, "compile/object", "ct helper type is not specified")
		return false
	}
	l3, proto, ok := c.protocols(o.Helper.L3Proto, o.Helper.Protocol, o)
	if len(o.Helper.Type.Text) >= 16 {
		c.diags.Errorf(o.Helper.Type.Span, "compile/string", "invalid name '%s', max length is 16", o.Helper.Type.Text)
		return false
	}
	obj.Helper = &ruleset.Helper{Name: o.Helper.Type.Text, L3Proto: l3, Protocol: proto}
	return ok
}

func (c *compiler) timeoutObject(o *syntax.StatefulObj, obj *ruleset.Object) bool {
	spec := o.TimeoutSpec
	if spec == nil {
		c.diags.Errorf(o.Span, "compile/object", "ct timeout policy is not specified")
		return false
	}
	l3, proto, ok := c.protocols(spec.L3Proto, spec.Protocol, o)
	if !ok {
		return false
	}
	p := &ruleset.TimeoutPolicy{L3Proto: l3, Protocol: proto, Values: map[string]uint32{}}
	var states []string
	for _, state := range catalog.TimeoutStates(proto) {
		states = append(states, state.Name)
	}
	for _, s := range spec.Policy {
		if !slices.Contains(states, s.State.Text) {
			c.unknownWord(s.State, "timeout state", states...)
			return false
		}
		ms, good := c.duration(s.Value)
		if !good {
			return false
		}
		p.Values[s.State.Text] = uint32(min(ms/1000, 1<<32-1))
	}
	obj.TimeoutPol = p
	return true
}

func (c *compiler) expectationObject(o *syntax.StatefulObj, obj *ruleset.Object) bool {
	spec := o.Expectation
	if spec == nil {
		c.diags.Errorf(o.Span, "compile/object", "ct expectation is not specified")
		return false
	}
	l3, proto, ok := c.protocols(spec.L3Proto, spec.Protocol, o)
	if !ok {
		return false
	}
	e := &ruleset.Expectation{L3Proto: l3, Protocol: proto}
	if spec.Dport == nil || spec.Timeout == nil || spec.Size == nil {
		c.diags.Errorf(o.Span, "compile/object", "ct expectation needs dport, timeout and size")
		return false
	}
	port, ok := c.scalar(spec.Dport, typeOf(catalog.InetService))
	ms, ok2 := c.duration(spec.Timeout)
	if !ok || !ok2 {
		return false
	}
	e.Dport, e.Timeout, e.Size = uint16(port.lo), uint32(min(ms, 1<<32-1)), uint8(spec.Size.Value)
	obj.Expectation = e
	return true
}

func (c *compiler) tunnelObject(o *syntax.StatefulObj, obj *ruleset.Object) bool {
	spec := o.Tunnel
	if spec == nil {
		c.diags.Errorf(o.Span, "compile/object", "tunnel is not specified")
		return false
	}
	out := &ruleset.Tunnel{Kind: spec.Kind.Text}
	ok := true
	number := func(e syntax.Expr, bits int) uint64 {
		if e == nil {
			return 0
		}
		n, good := c.scalar(e, vtype{typ: catalog.Integer, bits: bits, order: catalog.OrderHost})
		ok = ok && good
		return n.lo
	}
	out.ID = uint32(number(spec.ID, 32))
	out.Sport, out.Dport = uint16(number(spec.Sport, 16)), uint16(number(spec.Dport, 16))
	out.TTL, out.TOS = uint8(number(spec.TTL, 8)), uint8(number(spec.TOS, 8))
	out.VXLANGBP = uint32(number(spec.VXLANGBP, 32))
	out.ERSPAN.Version, out.ERSPAN.Index = uint32(number(spec.ERSPANVersion, 32)), uint32(number(spec.ERSPANIndex, 32))
	out.ERSPAN.HardwareID = uint8(number(spec.ERSPANHardwareID, 8))
	if spec.ERSPANDirection.Text == "egress" {
		out.ERSPAN.Direction = 1
	}
	address := func(e syntax.Expr) []byte {
		if e == nil {
			return nil
		}
		t := typeOf(catalog.IPv4Addr)
		if spec.IPv6 {
			t = typeOf(catalog.IPv6Addr)
		}
		n, good := c.scalar(e, t)
		ok = ok && good
		b := make([]byte, t.bytes())
		n.put(b, false)
		return b
	}
	out.Src, out.Dst = address(spec.SrcIP), address(spec.DstIP)
	for _, g := range spec.Geneve {
		opt := ruleset.GeneveOption{Class: uint16(number(g.Class, 16)), Type: uint8(number(g.Type, 8))}
		data, good := c.geneveData(g.Data)
		ok = ok && good
		opt.Data = data
		out.Geneve = append(out.Geneve, opt)
	}
	obj.Tunnel = out
	return ok
}

// geneveData reads the data of a geneve option: a string of hexadecimal
// digits, whole words.
func (c *compiler) geneveData(e syntax.Expr) ([]byte, bool) {
	l, ok := c.expand(e).(*syntax.Literal)
	if !ok {
		return nil, false
	}
	text := l.Text
	if len(text) > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		text = text[2:]
	}
	if len(text)%2 != 0 {
		text = "0" + text
	}
	out := make([]byte, 0, len(text)/2)
	for i := 0; i+1 < len(text); i += 2 {
		hi, lo := digitValue(text[i]), digitValue(text[i+1])
		if hi > 15 || lo > 15 {
			c.diags.Errorf(l.Span, "compile/literal", "Could not parse hexadecimal data")
			return nil, false
		}
		out = append(out, byte(hi<<4|lo))
	}
	return out, true
}
