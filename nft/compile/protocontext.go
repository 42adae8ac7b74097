package compile

import (
	"verdict/catalog"
	"verdict/diag"
)

// Pseudo protocols: what stands below the network header where the family
// does not fix it, and below the transport header where the network header
// is not known. Their selectors are meta keys.
var (
	protoInet    = &catalog.Protocol{Name: "inet", Base: catalog.BaseLink, Selector: -1}
	protoNetdev  = &catalog.Protocol{Name: "netdev", Base: catalog.BaseLink, Selector: -1}
	protoService = &catalog.Protocol{Name: "inet_service", Base: catalog.BaseTransport, Selector: -1}
	protoUnknown = &catalog.Protocol{Name: "unknown", Base: catalog.BaseLink, Selector: -1}
)

// protoContext is what the rule so far says about the headers of the packet.
type protoContext struct {
	family catalog.Family
	base   catalog.Base      // lowest header that the family gives access to
	bottom *catalog.Protocol // the family's own protocol there
	layers [catalog.BaseTunnel + 1]layer
	// stacked are the link headers before the innermost: ether, vlan, …
	stacked []*catalog.Protocol
	// icmpTypes are the ICMP types that the rule has restricted itself to;
	// nil if it has not.
	icmpTypes []uint8
	tunnel    *catalog.Protocol // set for the packet inside a tunnel
}

// layer is what is known of one header.
type layer struct {
	proto *catalog.Protocol
	at    diag.Span
	also  []*catalog.Protocol // alternatives, where a set named several
	// stated says that the rule itself compared the field of the header below
	// that announces the protocol.
	stated bool
}

func newProtoContext(family catalog.Family) *protoContext {
	c := &protoContext{family: family, base: catalog.BaseLink}
	switch family {
	case catalog.FamilyIP:
		c.base, c.bottom = catalog.BaseNetwork, catalog.IP
	case catalog.FamilyIP6:
		c.base, c.bottom = catalog.BaseNetwork, catalog.IP6
	case catalog.FamilyARP:
		c.base, c.bottom = catalog.BaseNetwork, catalog.ARP
	case catalog.FamilyBridge:
		c.bottom = catalog.Ether
	case catalog.FamilyNetdev:
		c.bottom = protoNetdev
	default:
		c.bottom = protoInet
	}
	c.layers[c.base].proto = c.bottom
	return c
}

// innerContext starts the context of a packet inside a tunnel.
func innerContext(tunnel *catalog.Protocol) *protoContext {
	c := newProtoContext(catalog.FamilyBridge)
	if tunnel.Tunnel.Flags&catalog.InnerLink == 0 {
		c.bottom = protoNetdev
		c.layers[catalog.BaseLink].proto = protoNetdev
	}
	c.tunnel = tunnel
	return c
}

// dummy reports whether a protocol is a stand-in for any link layer.
func dummy(p *catalog.Protocol) bool { return p == protoInet || p == protoNetdev }

// update notes that a header is known from here on.
func (c *protoContext) update(base catalog.Base, p *catalog.Protocol, at diag.Span) {
	l := &c.layers[base]
	if !at.IsValid() {
		at = l.at
	}
	l.proto, l.at, l.also, l.stated = p, at, nil, false
}

// alternative notes that a header may also be p: a set named several.
func (c *protoContext) alternative(base catalog.Base, p *catalog.Protocol) {
	l := &c.layers[base]
	if l.proto != p {
		l.also = append(l.also, p)
	}
}

// upper finds the protocol that a selector value announces.
func upper(p *catalog.Protocol, value uint64) *catalog.Protocol {
	for _, n := range uppers(p) {
		if n.Value == value {
			return n.Protocol
		}
	}
	return nil
}

// number finds the selector value that announces a protocol.
func number(below, above *catalog.Protocol) (uint64, bool) {
	for _, n := range uppers(below) {
		if n.Protocol == above {
			return n.Value, true
		}
	}
	return 0, false
}

func uppers(p *catalog.Protocol) []catalog.Next {
	switch p {
	case protoInet:
		return catalog.NetworkProtocols
	case protoNetdev:
		return catalog.EtherTypes
	case protoService:
		return catalog.TransportProtocols
	}
	return p.Upper
}

// headerBits is the length of a link header in bits, by its last field.
func headerBits(p *catalog.Protocol) int {
	end := 0
	for i := range p.Fields {
		end = max(end, p.Fields[i].Offset+p.Fields[i].Bits)
	}
	return end
}

// learn updates the context from a match that holds for the rest of the rule:
// left equals value.
func (c *protoContext) learn(left operand, value num, at diag.Span, alternative bool) {
	set := c.update
	if alternative {
		set = func(b catalog.Base, p *catalog.Protocol, _ diag.Span) { c.alternative(b, p) }
	}
	switch l := left.(type) {
	case *meta:
		c.learnMeta(l, value, at, set)
	case *payload:
		c.learnPayload(l, value, at, alternative, set)
	}
}

type setLayer func(catalog.Base, *catalog.Protocol, diag.Span)

func (c *protoContext) learnMeta(m *meta, value num, at diag.Span, set setLayer) {
	known := func(p *catalog.Protocol) *catalog.Protocol {
		if p == nil {
			return protoUnknown
		}
		return p
	}
	switch m.key.Name {
	case "iiftype":
		if c.family == catalog.FamilyBridge {
			return
		}
		p := protoUnknown
		if value.lo == arphrdEther {
			p = catalog.Ether
		}
		set(catalog.BaseLink, p, at)
	case "nfproto":
		p := upper(c.bottom, value.lo)
		if p == nil && uint64(c.family) == value.lo && c.base == catalog.BaseNetwork {
			p = c.bottom
		}
		set(catalog.BaseNetwork, known(p), at)
	case "l4proto":
		set(catalog.BaseTransport, known(upper(protoService, value.lo)), at)
	case "protocol":
		if c.family == catalog.FamilyBridge || c.family == catalog.FamilyNetdev || c.tunnel != nil {
			set(catalog.BaseNetwork, known(upper(protoNetdev, value.lo)), at)
		}
	}
}

// arphrdEther is the type of Ethernet devices.
const arphrdEther = 1

func (c *protoContext) learnPayload(p *payload, value num, at diag.Span, alternative bool, set setLayer) {
	if p.field == nil {
		return
	}
	if (p.proto == catalog.ICMP || p.proto == catalog.ICMPv6) && p.field.Name == "type" {
		if !alternative {
			c.icmpTypes = nil
		}
		c.icmpTypes = append(c.icmpTypes, uint8(value.lo))
		return
	}
	if !p.selects() {
		return
	}
	next := upper(p.proto, value.lo)
	if next == nil {
		return
	}
	if next.Base == catalog.BaseLink && p.proto.Base == catalog.BaseLink && !alternative {
		c.stacked = append(c.stacked, c.layers[catalog.BaseLink].proto)
	}
	set(next.Base, next, at)
}
