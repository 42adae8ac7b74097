package compile

import (
	"slices"

	"verdict/catalog"
	"verdict/diag"
)

// need makes sure that the rule has tested that the packet has a header of
// protocol p, inserting what is missing, and gives the offset in bits that
// headers stacked before it add. ok is false where the rule already says
// otherwise.
func (r *rule) need(ctx *protoContext, p *catalog.Protocol, at diag.Span) (extra int, ok bool) {
	base := p.Base
	l := &ctx.layers[base]
	if l.proto == nil && p == catalog.TH {
		return 0, true
	}
	if l.proto == nil {
		if !r.depend(ctx, p, at) {
			return 0, false
		}
	}
	if p == catalog.TH {
		return 0, true
	}
	if len(l.also) > 0 {
		other := l.also[0]
		if other == p {
			other = l.proto
		}
		return 0, r.conflict(at, base, other, p)
	}
	switch {
	case l.proto == p && base == catalog.BaseLink:
		for _, s := range ctx.stacked {
			extra += headerBits(s)
		}
		return extra, true
	case l.proto == p:
		return 0, true
	case base == catalog.BaseLink:
		return r.needLink(ctx, p, at)
	case base == catalog.BaseTransport && sameNumber(l.proto, p):
		return 0, true
	}
	return 0, r.conflict(at, base, l.proto, p)
}

// sameNumber reports whether two protocols share a number: gre and gretap.
func sameNumber(a, b *catalog.Protocol) bool {
	x, ok := catalog.TransportNumber(a)
	y, ok2 := catalog.TransportNumber(b)
	return ok && ok2 && x == y
}

func (r *rule) conflict(at diag.Span, base catalog.Base, have, want *catalog.Protocol) bool {
	if r.declare {
		return true
	}
	l := r.ctx.layers[base]
	var d *diag.Diagnostic
	switch {
	case base == catalog.BaseLink:
		first := at
		if network := r.ctx.layers[catalog.BaseNetwork]; network.at.IsValid() {
			first, l.at = network.at, at
		}
		d = r.errorf(first, "compile/conflicting-protocols", "conflicting statements")
		d.Hint = "the rule is about " + have.Name + ", this is about " + want.Name
	case len(l.also) > 0:
		d = r.errorf(at, "compile/conflicting-protocols", "conflicting protocols specified: %s vs. %s", have.Name, want.Name)
	default:
		d = r.errorf(at, "compile/conflicting-protocols",
			"conflicting %s layer protocols specified: %s vs. %s", base, have.Name, want.Name)
	}
	if l.at.IsValid() {
		d.Related = []diag.Span{l.at}
	}
	return false
}

// needLink resolves a link header that differs from the innermost one known.
func (r *rule) needLink(ctx *protoContext, p *catalog.Protocol, at diag.Span) (extra int, ok bool) {
	l := &ctx.layers[catalog.BaseLink]
	if dummy(l.proto) {
		if ctx.tunnel != nil {
			ctx.update(catalog.BaseLink, catalog.Ether, at)
		} else {
			r.testEther(ctx, at)
		}
		if l.proto == p {
			return 0, true
		}
	} else if i := slices.Index(ctx.stacked, p); i >= 0 {
		for _, s := range ctx.stacked[:i] {
			extra += headerBits(s)
		}
		return extra, true
	}
	// A tag may still be looked for where the network protocol is known from
	// what follows it, not from the type field that the tag would take.
	if network := &ctx.layers[catalog.BaseNetwork]; network.proto != nil && network.stated && ctx.base == catalog.BaseLink {
		return 0, r.conflict(at, catalog.BaseLink, l.proto, p)
	}
	value, found := number(l.proto, p)
	if !found {
		return 0, r.conflict(at, catalog.BaseLink, l.proto, p)
	}
	r.test(ctx, l.proto, value, at)
	for _, s := range ctx.stacked {
		extra += headerBits(s)
	}
	return extra, true
}

// depend inserts the test of the header below that announces p.
func (r *rule) depend(ctx *protoContext, p *catalog.Protocol, at diag.Span) bool {
	if p.Base < ctx.base {
		if p.Base+1 < ctx.base || (p != catalog.Ether && p != catalog.VLAN) {
			r.errorf(at, "compile/family", "payload expression is invalid for this family")
			return false
		}
		r.testEther(ctx, at)
		return true
	}
	var below *catalog.Protocol
	if p.Base > 0 {
		below = ctx.layers[p.Base-1].proto
		if len(ctx.layers[p.Base-1].also) > 0 {
			below = nil
		}
	}
	if below == nil || below == protoUnknown {
		if p.Base != catalog.BaseTransport {
			r.errorf(at, "compile/ambiguous-payload", "ambiguous payload specification: no %s protocol specified", p.Base-1)
			return false
		}
		if p == catalog.ICMP || p == catalog.ICMPv6 || p == catalog.IGMP {
			network := catalog.IP
			if p == catalog.ICMPv6 {
				network = catalog.IP6
			}
			link := ctx.layers[catalog.BaseLink].proto
			if link == nil || link == protoUnknown {
				r.errorf(at, "compile/ambiguous-payload", "ambiguous payload specification: no %s protocol specified", catalog.BaseNetwork)
				return false
			}
			value, ok := number(link, network)
			if !ok {
				return r.conflict(at, catalog.BaseNetwork, link, network)
			}
			r.test(ctx, link, value, at)
		}
		below = protoService
	} else if ctx.family == catalog.FamilyBridge && below == catalog.Ether && (p == catalog.IP || p == catalog.IP6) {
		// The packet's protocol rather than the frame's type, so that frames
		// with a VLAN tag match too.
		below = protoNetdev
	}
	value, ok := number(below, p)
	if !ok {
		return r.conflict(at, p.Base, below, p)
	}
	r.test(ctx, below, value, at)
	return true
}

// testEther inserts the test that the device is an Ethernet device.
func (r *rule) testEther(ctx *protoContext, at diag.Span) {
	left := newMeta(catalog.MetaKey("iiftype"), at)
	r.insertTest(left, small(arphrdEther), at)
	ctx.update(catalog.BaseLink, catalog.Ether, at)
}

// test inserts a comparison of p's selector with a value.
func (r *rule) test(ctx *protoContext, p *catalog.Protocol, value uint64, at diag.Span) {
	var left operand
	switch p {
	case protoInet:
		left = newMeta(catalog.MetaKey("nfproto"), at)
	case protoNetdev:
		left = newMeta(catalog.MetaKey("protocol"), at)
	case protoService, catalog.IP, catalog.IP6:
		left = newMeta(catalog.MetaKey("l4proto"), at)
	default:
		extra := 0
		if p.Base == catalog.BaseLink {
			for _, s := range ctx.stacked {
				extra += headerBits(s)
			}
		}
		left = newPayload(p, &p.Fields[p.Selector], extra, at)
	}
	if m, ok := left.(*meta); ok {
		m.tunnel = ctx.tunnel
	} else if l, ok := left.(*payload); ok {
		l.tunnel = ctx.tunnel
	}
	r.insertTest(left, small(value), at)
	ctx.learn(left, small(value), at, false)
}

func (r *rule) insertTest(left operand, value num, at diag.Span) {
	h := left.head()
	r.insert(&match{left: left, op: cmpEq, right: &constant{info: info{vtype: h.vtype, at: at}, n: value}, implied: true})
}

// needICMPType makes sure that the rule has restricted the ICMP type to those
// that have the field.
func (r *rule) needICMPType(ctx *protoContext, p *catalog.Protocol, f *catalog.Field, at diag.Span) bool {
	if f.IcmpTypes == nil || r.declare {
		return true
	}
	if ctx.icmpTypes != nil {
		for _, t := range ctx.icmpTypes {
			if !slices.Contains(f.IcmpTypes, t) {
				r.errorf(at, "compile/icmp-type", "incompatible icmp match: rule has %d, need %d", t, f.IcmpTypes[len(f.IcmpTypes)-1])
				return false
			}
		}
		return true
	}
	left := newPayload(p, &p.Fields[0], 0, at)
	left.tunnel = ctx.tunnel
	ctx.icmpTypes = f.IcmpTypes
	if len(f.IcmpTypes) == 1 {
		r.insertTest(left, small(uint64(f.IcmpTypes[0])), at)
		return true
	}
	types := slices.Clone(f.IcmpTypes)
	if p == catalog.ICMP {
		slices.Reverse(types) // request before reply
	}
	set := r.anonymousSet(left.vtype, at)
	for _, t := range types {
		set.addConstant(small(uint64(t)))
	}
	r.declareSet(set)
	r.insert(&match{left: left, op: cmpEq, right: &setRef{info: info{vtype: left.vtype, at: at}, set: set.info}, implied: true})
	return true
}
