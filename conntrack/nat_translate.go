package conntrack

import (
	"encoding/binary"

	"verdict/packet"
	"verdict/packet/rewrite"
)

// Translate rewrites the packet as its connection says. before tells the hooks
// ahead of routing (prerouting, output) from those behind it. The view follows
// the rewritten bytes. Drop is the kernel's answer to a packet that cannot be
// translated, or that leaves by another device than its connection masquerades
// through.
// Ref: nf_nat_core.c, nf_nat_inet_fn; nf_nat_proto.c, nf_nat_packet.
func (t *Table) Translate(p *Packet, m Manip, before bool, b *rewrite.Buffer) Result {
	c := p.Attachment.Conn
	if c == nil {
		return Accept
	}
	related := p.Attachment.Info == InfoRelated || p.Attachment.Info == InfoRelatedReply
	if related && quotesOther(p.View) {
		return t.translateError(p, c, m, before, b)
	}
	d := p.Attachment.Info.Direction()
	if !before && m == SourceManip && d == Original && c.device != 0 && p.Out != 0 && p.Out != c.device {
		t.remove(c)
		return Drop
	}
	if !c.translates(m, d) {
		return Accept
	}
	s := segment{before71: t.config.Before71}
	if s.find(p.View) != outcomeOK {
		s.at = 0 // then only addresses can be rewritten
	}
	target, _ := c.Tuples[1-d].Invert()
	if !b.SetEndpoint(p.View, s.layout(), endpointOf(&target, m)) {
		return Drop
	}
	return Accept
}

// translates reports whether a translation changes packets of a direction:
// answers have the other translation undone.
func (c *Conn) translates(m Manip, d Direction) bool {
	bit := m.changed()
	if d == Reply {
		bit ^= statusNATMask
	}
	return c.Status&bit != 0
}

// endpointOf is the end of a tuple that a translation sets. The id of an ICMP
// query stands in SrcPort whatever the end.
func endpointOf(t *Tuple, m Manip) rewrite.Endpoint {
	e := rewrite.Endpoint{Source: m == SourceManip, Addr: t.Src, Port: t.SrcPort}
	if m == DestinationManip {
		e.Addr = t.Dst
		if t.Protocol != packet.ProtoICMP && t.Protocol != packet.ProtoICMPv6 {
			e.Port = t.DstPort
		}
	}
	return e
}

func (s *segment) layout() *rewrite.Layout {
	l := &rewrite.Layout{Network: s.network, Transport: s.at, End: s.end, Protocol: s.protocol, IPv6: s.six}
	if s.protocol == packet.ProtoUDPLite && !s.before71 {
		l.Transport = 0
	}
	return l
}

// translateError rewrites an ICMP error: in the packet that it quotes, the end
// that a packet of the other direction would have had translated here; and its
// own address. Its checksum must be right ahead of routing; behind it the
// kernel trusts what it has verified, even if a rule has written since.
// Ref: nf_nat_proto.c, nf_nat_icmp_reply_translation.
func (t *Table) translateError(p *Packet, c *Conn, m Manip, before bool, b *rewrite.Buffer) Result {
	s := segment{before71: t.config.Before71}
	if s.find(p.View) != outcomeOK {
		return Drop
	}
	h, result := s.bytes(0, 8)
	if result != outcomeOK || before && !s.cut() && !s.verify(s.length()) {
		return Drop
	}
	off := 8
	if redirect := h[0]; !s.six && redirect == icmpRedirect || s.six && redirect == icmp6Redirect {
		if c.Status&statusNATDoneMask != statusNATDoneMask || c.Status&statusNATMask != 0 {
			return Drop
		}
		if s.six {
			off = icmp6RedirectBody + 8
		}
	}
	d := p.Attachment.Info.Direction()
	if !c.translates(m, d) {
		return Accept
	}
	quoted, result := s.quoted(off)
	if result == outcomeInvalid {
		return Drop
	}
	inner := endpointOf(&c.Tuples[1-d], 1-m)
	if result == outcomeOK && !b.SetQuoted(p.View, s.at, quoted.layout(), inner) {
		return Drop
	}
	target, _ := c.Tuples[1-d].Invert()
	outer := endpointOf(&target, m)
	outer.Port = binary.BigEndian.Uint16(p.View.Data[s.at+4:])
	if !b.SetEndpoint(p.View, s.layout(), outer) {
		return Drop
	}
	return Accept
}
