package conntrack

import "encoding/binary"

// streamAfter is how long after its creation an answered UDP connection
// counts as a stream.
const streamAfter = 2e9

// udp tracks a UDP packet.
// Ref: nf_conntrack_proto_udp.c, nf_conntrack_udp_packet.
func (t *Table) udp(c *Conn, p *Packet, s *segment, d Direction) outcome {
	h, result := s.bytes(0, 8)
	switch result {
	case outcomeInvalid:
		return outcomeInvalid
	case outcomeUnknown:
		t.stats.Assumed++
	default:
		if length := int(binary.BigEndian.Uint16(h[4:])); length < 8 || length > s.length() {
			return outcomeInvalid
		}
		if (h[6] != 0 || h[7] != 0) && !t.checksumOK(p, s) {
			return outcomeInvalid
		}
	}
	if c.Status&StatusConfirmed == 0 {
		c.proto.stream = p.Now + streamAfter
	}
	to := c.policy(&t.timeouts.udp)
	switch {
	case c.Status&StatusSeenReply == 0 || p.Now <= c.proto.stream:
		t.refresh(c, p, d, to[timeoutUnreplied])
	default:
		t.refresh(c, p, d, to[timeoutReplied])
		if c.Status&StatusNATClash == 0 {
			c.Status |= StatusAssured
		}
	}
	return outcomeOK
}

// udpLite tracks a UDP-Lite packet as Linux did before 7.1.
// Ref: nf_conntrack_proto_udp.c, udplite_error, nf_conntrack_udplite_packet.
func (t *Table) udpLite(c *Conn, p *Packet, s *segment, d Direction) outcome {
	h, result := s.bytes(0, 8)
	if result == outcomeInvalid {
		return outcomeInvalid
	}
	if result == outcomeOK {
		coverage := int(binary.BigEndian.Uint16(h[4:]))
		if coverage == 0 {
			coverage = s.length()
		}
		if coverage < 8 || coverage > s.length() || h[6] == 0 && h[7] == 0 || !t.partialChecksumOK(p, s, coverage) {
			return outcomeInvalid
		}
	}
	to := c.policy(&t.timeouts.udpLite)
	if c.Status&StatusSeenReply == 0 {
		t.refresh(c, p, d, to[timeoutUnreplied])
		return outcomeOK
	}
	t.refresh(c, p, d, to[timeoutReplied])
	if c.Status&StatusNATClash == 0 {
		c.Status |= StatusAssured
	}
	return outcomeOK
}
