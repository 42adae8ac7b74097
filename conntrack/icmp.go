package conntrack

import "verdict/packet"

// icmp tracks a query or its reply. Only queries open a connection.
// Ref: nf_conntrack_proto_icmp.c, nf_conntrack_icmp_packet;
// nf_conntrack_proto_icmpv6.c, nf_conntrack_icmpv6_packet.
func (t *Table) icmp(c *Conn, p *Packet, s *segment, d Direction) outcome {
	if (!s.six || c.Status&StatusConfirmed == 0) && !opensConnection(s.six, uint8(c.Tuples[Original].DstPort>>8)) {
		return outcomeInvalid
	}
	own := &t.timeouts.icmp
	if s.six {
		own = &t.timeouts.icmp6
	}
	t.refresh(c, p, d, c.policy(own)[timeoutOnly])
	return outcomeOK
}

// opensConnection tells the query types.
func opensConnection(six bool, typ uint8) bool {
	if six {
		return typ == 128 || typ == 139 // echo, node information
	}
	return typ == 8 || typ == 13 || typ == 15 || typ == 17 // echo, timestamp, information, address mask
}

// ICMP types with a meaning of their own here.
const (
	icmpUnreachable   = 3
	icmpSourceQuench  = 4
	icmpRedirect      = 5
	icmpTimeExceeded  = 11
	icmpParameter     = 12
	icmpHighestType   = 18
	icmp6FirstQuery   = 128
	icmp6Redirect     = 137
	redirectedHeader  = 4 // option of ICMPv6 redirects
	icmp6RedirectBody = 40
)

// icmpError looks at an ICMP packet before ordinary tracking. done says that
// the packet needs no more: an error got the connection that it is about, or
// the packet is one of those that are not tracked.
// Ref: nf_conntrack_proto_icmp.c, nf_conntrack_icmpv4_error;
// nf_conntrack_proto_icmpv6.c, nf_conntrack_icmpv6_error.
func (t *Table) icmpError(p *Packet, s *segment, zone Zone) (done bool, result outcome) {
	if s.six != (s.protocol == packet.ProtoICMPv6) {
		return false, outcomeInvalid
	}
	h, result := s.bytes(0, 8)
	if result != outcomeOK {
		return false, result
	}
	if !t.checksumOK(p, s) {
		return false, outcomeInvalid
	}
	if s.six {
		return t.icmp6Error(p, s, zone, h)
	}
	switch {
	case h[0] > icmpHighestType:
		return false, outcomeInvalid
	case isError4(h[0]):
		return true, t.relate(p, s, zone, 8)
	}
	return false, outcomeOK
}

func isError4(typ uint8) bool {
	switch typ {
	case icmpUnreachable, icmpSourceQuench, icmpRedirect, icmpTimeExceeded, icmpParameter:
		return true
	}
	return false
}

func (t *Table) icmp6Error(p *Packet, s *segment, zone Zone, h []byte) (done bool, result outcome) {
	switch {
	case isUntracked6(h[0]):
		p.Attachment.Info = InfoUntracked
		return true, outcomeOK
	case h[0] == icmp6Redirect:
		return t.redirect6(p, s, zone)
	case h[0] < icmp6FirstQuery:
		return true, t.relate(p, s, zone, 8)
	}
	return false, outcomeOK
}

// isUntracked6 tells the messages of neighbour discovery and of multicast
// listeners and routers.
func isUntracked6(typ uint8) bool {
	switch typ {
	case 130, 131, 132, 133, 134, 135, 136, 143, 151, 152:
		return true
	}
	return false
}

// redirect6 relates a redirect by the packet that it quotes. What is no
// redirect of the standard's form is tracked as any packet, in vain.
// Ref: nf_conntrack_proto_icmpv6.c, nf_conntrack_icmpv6_redirect; RFC 4861 §4.5.
func (t *Table) redirect6(p *Packet, s *segment, zone Zone) (done bool, result outcome) {
	outer, h := s.data[s.network:], s.data[s.at:]
	linkLocal := outer[8] == 0xfe && outer[9]&0xc0 == 0x80
	switch {
	case h[1] != 0:
		return false, outcomeOK
	case outer[7] != 255, !linkLocal:
		return false, outcomeInvalid
	}
	option, result := s.bytes(icmp6RedirectBody, 2)
	switch {
	case result != outcomeOK:
		return false, result
	case option[1] == 0:
		return false, outcomeInvalid
	case option[0] != redirectedHeader:
		return false, outcomeOK
	}
	return true, t.relate(p, s, zone, icmp6RedirectBody+8)
}

// relate attaches the connection that the packet quoted at an offset of an
// error belongs to.
// Ref: nf_conntrack_proto_icmp.c, nf_conntrack_inet_error.
func (t *Table) relate(p *Packet, s *segment, zone Zone, quoted int) outcome {
	inner, result := s.quoted(quoted)
	if result != outcomeOK {
		return result
	}
	var tuple Tuple
	if result = inner.tuple(&tuple); result != outcomeOK {
		return result
	}
	answer, ok := tuple.Invert()
	if !ok {
		return outcomeInvalid
	}
	c, d := t.find(&answer, zone, p.Now)
	if c == nil || !s.goesTo(&c.Tuples[d]) {
		return outcomeInvalid
	}
	c.refs++
	info := InfoRelated
	if d == Reply {
		info = InfoRelatedReply
	}
	p.Attachment.attach(c, info)
	return outcomeOK
}

// goesTo reports whether the packet is addressed to a tuple's destination.
func (s *segment) goesTo(t *Tuple) bool {
	h := s.data[s.network:]
	if s.six {
		return [16]byte(h[24:40]) == t.Dst
	}
	return [4]byte(h[16:20]) == [4]byte(t.Dst[:4])
}

// quoted finds the transport header of a packet that starts at an offset from
// this one's transport header and is of the same family. Its own lengths and
// checksums do not matter.
func (s *segment) quoted(off int) (segment, outcome) {
	inner := segment{data: s.data, network: s.at + off, end: s.end, six: s.six, before71: s.before71}
	if s.six {
		return inner, inner.walk6(inner.network)
	}
	h, result := s.bytes(off, 20)
	if result != outcomeOK {
		return inner, result
	}
	inner.protocol = h[9]
	inner.at = inner.network + int(h[0]&0xf)*4
	if h[6]&0x1f != 0 || h[7] != 0 || inner.at > inner.end {
		return inner, outcomeInvalid
	}
	return inner, outcomeOK
}
