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
	return s.verify()
}

// verify checks the transport checksum, which covers everything to the packet's
// end, whatever the UDP header says. It is true if the capture is cut.
// Ref: utils.c, nf_ip_checksum, nf_ip6_checksum.
func (s *segment) verify() bool {
	if s.cut() {
		return true
	}
	data := s.data[s.at:s.end]
	if s.protocol == packet.ProtoSCTP {
		return binary.LittleEndian.Uint32(data[8:]) == packet.SCTPChecksum(data)
	}
	var sum uint32
	h := s.data[s.network:]
	switch {
	case s.six:
		sum = packet.PseudoHeader6(h[8:24], h[24:40], s.protocol, len(data))
	case s.protocol != packet.ProtoICMP:
		sum = packet.PseudoHeader4(h[12:16], h[16:20], s.protocol, len(data))
	}
	return packet.Fold(packet.Sum(sum, data)) == 0xffff
}
