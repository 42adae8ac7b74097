package conntrack

import (
	"encoding/binary"

	"verdict/catalog"
	"verdict/packet"
)

// tuple reads the packet's tuple from its IP header and transport header.
// Ref: nf_conntrack_core.c, nf_ct_get_tuple.
func (s *segment) tuple(t *Tuple) outcome {
	*t = Tuple{Protocol: s.protocol}
	h := s.data[s.network:]
	if s.six {
		t.Family = catalog.FamilyIP6
		copy(t.Src[:], h[8:24])
		copy(t.Dst[:], h[24:40])
	} else {
		t.Family = catalog.FamilyIP
		copy(t.Src[:4], h[12:16])
		copy(t.Dst[:4], h[16:20])
	}
	switch s.protocol {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoSCTP, packet.ProtoUDPLite:
		if !hasPorts(s.protocol, s.before71) {
			return outcomeOK
		}
		b, result := s.bytes(0, 4)
		if result != outcomeOK {
			return result
		}
		t.SrcPort, t.DstPort = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	case packet.ProtoICMP, packet.ProtoICMPv6:
		if s.six != (s.protocol == packet.ProtoICMPv6) {
			return outcomeInvalid
		}
		b, result := s.bytes(0, 8)
		if result != outcomeOK {
			return result
		}
		t.SrcPort, t.DstPort = binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b)
	case packet.ProtoGRE:
		return s.greTuple(t)
	}
	return outcomeOK
}

// hasPorts tells the protocols that are tracked by their ports.
func hasPorts(protocol uint8, before71 bool) bool {
	switch protocol {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoSCTP:
		return true
	}
	return protocol == packet.ProtoUDPLite && before71
}

// greTuple takes the call id of enhanced GRE, which only PPTP uses. Other
// versions have no keys. The source key, which PPTP's control connection would
// tell, stays zero.
// Ref: nf_conntrack_proto_gre.c, gre_pkt_to_tuple.
func (s *segment) greTuple(t *Tuple) outcome {
	b, result := s.bytes(0, 4)
	if result == outcomeUnknown {
		return result
	}
	if result != outcomeOK || b[1]&7 != 1 {
		return outcomeOK
	}
	if b, result = s.bytes(0, 8); result != outcomeOK {
		if result == outcomeUnknown {
			return result
		}
		return outcomeOK
	}
	const ppp = 0x880b
	if binary.BigEndian.Uint16(b[2:]) != ppp {
		return outcomeInvalid
	}
	t.DstPort = binary.BigEndian.Uint16(b[6:])
	return outcomeOK
}

// Invert returns the tuple of an answer, and false for an ICMP message that
// has none.
// Ref: nf_conntrack_core.c, nf_ct_invert_tuple.
func (t *Tuple) Invert() (Tuple, bool) {
	inverse := Tuple{
		Src: t.Dst, Dst: t.Src, SrcPort: t.DstPort, DstPort: t.SrcPort,
		Family: t.Family, Protocol: t.Protocol,
	}
	if t.Protocol != packet.ProtoICMP && t.Protocol != packet.ProtoICMPv6 {
		return inverse, true
	}
	answer, ok := answerType(t.Protocol, uint8(t.DstPort>>8))
	inverse.SrcPort, inverse.DstPort = t.SrcPort, uint16(answer)<<8|t.DstPort&0xff
	return inverse, ok
}

// answerType maps an ICMP query to its reply and back.
// Ref: nf_conntrack_proto_icmp.c, _icmpv6.c, the tables of inverse types.
func answerType(protocol, typ uint8) (uint8, bool) {
	if protocol == packet.ProtoICMPv6 {
		switch typ {
		case 128, 139: // echo, node information
			return typ + 1, true
		case 129, 140:
			return typ - 1, true
		}
		return 0, false
	}
	switch typ {
	case 8: // echo
		return 0, true
	case 0:
		return 8, true
	case 13, 15, 17: // timestamp, information, address mask
		return typ + 1, true
	case 14, 16, 18:
		return typ - 1, true
	}
	return 0, false
}
