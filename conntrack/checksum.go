package conntrack

import (
	"encoding/binary"

	"verdict/packet"
)

// checksumOK verifies the transport checksum, at prerouting only. What the
// capture holds in part is taken as right.
func (t *Table) checksumOK(p *Packet, s *segment) bool {
	if !p.Prerouting || t.config.NoChecksum {
		return true
	}
	if s.cut() || p.View.MoreFragments {
		t.stats.Assumed++
		return true
	}
	return s.verify(s.length())
}

// partialChecksumOK is checksumOK for a UDP-Lite checksum that covers the first
// n bytes. Linux took UDP's protocol number for the pseudo header, so that
// checksums which are right failed here; observed with 6.18.
// Ref: nf_conntrack_proto_udp.c, udplite_error.
func (t *Table) partialChecksumOK(p *Packet, s *segment, n int) bool {
	if !p.Prerouting || t.config.NoChecksum {
		return true
	}
	if s.at+n > len(s.data) || p.View.MoreFragments {
		t.stats.Assumed++
		return true
	}
	asUDP := *s
	asUDP.protocol = packet.ProtoUDP
	return asUDP.verify(n)
}

// verify checks the transport checksum over n captured bytes: everything to the
// packet's end, whatever the UDP header says, except with UDP-Lite.
// Ref: utils.c, nf_ip_checksum, nf_ip6_checksum.
func (s *segment) verify(n int) bool {
	data := s.data[s.at : s.at+n]
	if s.protocol == packet.ProtoSCTP {
		return binary.LittleEndian.Uint32(data[8:]) == packet.SCTPChecksum(data)
	}
	var sum uint32
	h := s.data[s.network:]
	protocol := s.protocol
	if protocol == packet.ProtoUDPLite {
		// The tracker names the wrong protocol to the check, so that right
		// checksums of UDP-Lite fail it.
		protocol = packet.ProtoUDP
	}
	switch {
	case s.six:
		sum = packet.PseudoHeader6(h[8:24], h[24:40], protocol, s.length())
	case s.protocol != packet.ProtoICMP:
		sum = packet.PseudoHeader4(h[12:16], h[16:20], protocol, s.length())
	}
	return packet.Fold(packet.Sum(sum, data)) == 0xffff
}
