package rewrite

import (
	"encoding/binary"

	"verdict/packet"
)

// Layout says where the headers of an IP packet lie in a frame. The packet may
// be one that another quotes.
type Layout struct {
	Network   int   // offset of the IP header
	Transport int   // offset of the transport header, 0 if there is none to change
	End       int   // where the packet ends, captured or not
	Protocol  uint8 // of the transport header
	IPv6      bool
}

// Endpoint is one end of a packet: address (the first 4 bytes for IPv4) and
// port, which is the id of an ICMP query and the call id of enhanced GRE.
type Endpoint struct {
	Source bool // the end that the packet comes from
	Port   uint16
	Addr   [16]byte
}

// SetEndpoint rewrites one end of a packet and updates the checksums: a wrong
// checksum stays wrong, and UDP without checksum stays without. Parts that the
// capture does not hold are left out. It reports false where the packet is too
// short for its protocol, or of an unknown version of GRE; then the frame may
// have changed in part.
// Ref: nf_nat_proto.c, nf_nat_ipv4_manip_pkt, nf_nat_ipv6_manip_pkt.
func (b *Buffer) SetEndpoint(v *packet.View, l *Layout, e Endpoint) bool {
	data := b.Writable(v)
	at, size := l.Network+12, 4
	if l.IPv6 {
		at, size = l.Network+8, 16
	}
	if !e.Source {
		at += size
	}
	if at+size > len(data) {
		return false
	}
	c := change{buffer: b, layout: l, data: data, newSum: packet.Fold(packet.Sum(0, e.Addr[:size]))}
	c.oldSum = packet.Fold(packet.Sum(0, data[at:at+size]))
	if l.Transport != 0 && !c.transport(e) {
		return false
	}
	copy(data[at:], e.Addr[:size])
	if !l.IPv6 {
		c.address(l.Network+10, false)
	}
	return true
}

// change is the rewriting of one end.
type change struct {
	buffer         *Buffer
	layout         *Layout
	data           []byte
	oldSum, newSum uint16 // of the address
}

// address updates a checksum that covers the address.
func (c *change) address(field int, udp bool) { c.word(field, c.oldSum, c.newSum, udp) }

// word updates a checksum that covers 16 bits which changed.
func (c *change) word(field int, before, after uint16, udp bool) {
	sum := packet.UpdateChecksum16(binary.BigEndian.Uint16(c.data[field:]), before, after)
	if udp && sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(c.data[field:], sum)
}

// has reports whether the first n bytes of the transport header were captured.
func (c *change) has(n int) bool { return c.layout.Transport+n <= len(c.data) }

// transport rewrites what the transport header has of the end.
// Ref: nf_nat_proto.c, l4proto_manip_pkt.
func (c *change) transport(e Endpoint) bool {
	length := c.layout.End - c.layout.Transport
	portAt := 0
	if !e.Source {
		portAt = 2
	}
	switch c.layout.Protocol {
	case packet.ProtoTCP:
		if length < 8 {
			return false
		}
		c.port(portAt, e.Port, 16, length >= 20, true)
	case packet.ProtoUDP:
		if length < 8 {
			return false
		}
		none := c.has(8) && c.data[c.layout.Transport+6] == 0 && c.data[c.layout.Transport+7] == 0
		c.port(portAt, e.Port, 6, !none, true)
	case packet.ProtoUDPLite:
		if length < 8 {
			return false
		}
		c.port(portAt, e.Port, 6, true, true)
	case packet.ProtoSCTP:
		if length < 8 {
			return false
		}
		c.port(portAt, e.Port, 8, false, false)
		c.buffer.sctp(c.layout.Transport, c.layout.End)
	case packet.ProtoICMP:
		if length < 8 {
			return false
		}
		if !c.layout.IPv6 && c.has(8) && packet.HasICMPID(packet.ProtoICMP, c.data[c.layout.Transport]) {
			c.port(4, e.Port, 2, true, false)
		}
	case packet.ProtoICMPv6:
		return length >= 8 && c.icmp6(e)
	case packet.ProtoGRE:
		return length >= 8 && c.gre(e)
	}
	return true
}

// port writes two bytes of the transport header and, if wanted, updates the
// checksum at an offset of it, whose pseudo header may cover the address.
func (c *change) port(at int, port uint16, sumAt int, sum, pseudo bool) {
	if !c.has(at + 2) {
		return
	}
	field := c.data[c.layout.Transport+at:][:2]
	before := binary.BigEndian.Uint16(field)
	binary.BigEndian.PutUint16(field, port)
	if !sum || !c.has(sumAt+2) {
		return
	}
	udp := c.layout.Protocol == packet.ProtoUDP || c.layout.Protocol == packet.ProtoUDPLite
	if pseudo {
		c.address(c.layout.Transport+sumAt, udp)
	}
	c.word(c.layout.Transport+sumAt, before, port, udp)
}

// icmp6 updates the checksum for the address, and the id of echo messages.
// Ref: nf_nat_proto.c, icmpv6_manip_pkt.
func (c *change) icmp6(e Endpoint) bool {
	if !c.layout.IPv6 || !c.has(8) {
		return true
	}
	c.address(c.layout.Transport+2, false)
	if packet.HasICMPID(packet.ProtoICMPv6, c.data[c.layout.Transport]) {
		c.port(4, e.Port, 2, true, false)
	}
	return true
}

// gre writes the call id of enhanced GRE, which names the receiver.
// Ref: nf_nat_proto.c, gre_manip_pkt.
func (c *change) gre(e Endpoint) bool {
	if e.Source || !c.has(8) {
		return true
	}
	switch c.data[c.layout.Transport+1] & 7 {
	case 0:
		return true
	case 1:
		c.port(6, e.Port, 0, false, false)
		return true
	}
	return false
}

// SetQuoted rewrites one end of the packet that an ICMP or ICMPv6 error, whose
// header is at an offset of the frame, quotes. The error's own checksum follows.
// Ref: nf_nat_proto.c, nf_nat_icmp_reply_translation.
func (b *Buffer) SetQuoted(v *packet.View, icmp int, quoted *Layout, e Endpoint) bool {
	data := b.Writable(v)
	end := min(len(data), quoted.End)
	if icmp+8 > end {
		return false
	}
	before := packet.Fold(packet.Sum(0, data[icmp+4:end]))
	ok := b.SetEndpoint(v, quoted, e)
	after := packet.Fold(packet.Sum(0, data[icmp+4:end]))
	field := data[icmp+2:]
	binary.BigEndian.PutUint16(field, packet.UpdateChecksum16(binary.BigEndian.Uint16(field), before, after))
	return ok
}
