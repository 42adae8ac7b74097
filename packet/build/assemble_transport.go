package build

import (
	"encoding/binary"

	"verdict/packet"
)

// fillTunnel completes a tunnel header and the UDP port that leads to it.
func (s *stack) fillTunnel() {
	switch s.tunnel.header {
	case &vxlanHeader:
		s.transport.autoPort(vxlanPort)
	case &geneveHeader:
		s.transport.autoPort(genevePort)
		s.tunnel.data = padWords(s.tunnel.data)
		s.tunnel.auto("optlength", uint64(len(s.tunnel.data)/4))
		s.tunnel.auto("type", s.innerType())
	}
}

func (l *layer) autoPort(value uint64) { l.auto("dport", value) }

// innerType is the EtherType of the packet inside.
func (s *stack) innerType() uint64 {
	switch {
	case s.inner == nil:
		return 0x6558
	case s.inner.ether != nil:
		return 0x6558
	case s.inner.network != nil:
		return uint64(s.inner.network.header.etherType)
	}
	return packet.TypeIPv4
}

// fillTransport completes the transport header and puts it before body.
func (s *stack) fillTransport(body []byte) []byte {
	t := s.transport
	total := func() int { return len(t.bytes()) + len(body) }
	switch t.header {
	case &tcpHeader:
		t.auto("doff", uint64(len(t.bytes())/4)&0xf)
	case &udpHeader:
		t.auto("length", uint64(total())&0xffff)
	case &sctpHeader:
		return s.fillSCTP(body)
	case &dccpHeader:
		s.fillDCCP()
	case &icmpv6Header:
		if size := icmpv6Size(t.b[0]); size > len(t.b) {
			t.b = append(t.b, make([]byte, size-len(t.b))...)
		}
	case &mobilityHeader:
		if !t.hasData {
			t.data = make([]byte, 2)
		}
		t.padEight()
	case &greHeader:
		t.auto("protocol", s.innerType())
		if !t.hasData {
			t.data = make([]byte, greOptional(t.b[0]))
		}
	case &compHeader:
		t.auto("nexthdr", packet.ProtoNoNext)
	}
	t.auto("checksum", 0)
	whole := append(t.bytes(), body...)
	if t.given("checksum") || t.index("checksum") < 0 {
		return whole
	}
	t.auto("checksum", uint64(s.checksum(whole)))
	copy(whole, t.b)
	return whole
}

// greOptional is the length of the parts that the first byte announces.
func greOptional(flags byte) int {
	n := 0
	for _, bit := range []byte{0x80, 0x20, 0x10} {
		if flags&bit != 0 {
			n += 4
		}
	}
	return n
}

// fillDCCP adds the part that belongs to the packet type, and the length.
func (s *stack) fillDCCP() {
	t := s.transport
	if !t.hasData {
		t.data = make([]byte, dccpPart(t.get("type")))
	}
	t.auto("doff", uint64(len(t.bytes())/4)&0xff)
}

// dccpPart is the length of the part that belongs to a packet type.
//
// Ref: RFC 4340 §5.2-5.8
func dccpPart(typ uint64) int {
	switch typ {
	case 2:
		return 0
	case 0:
		return 4
	case 1, 7:
		return 12
	}
	return 8
}

// fillSCTP puts the header before body, by default with one chunk of data,
// and computes its CRC32c.
func (s *stack) fillSCTP(body []byte) []byte {
	t := s.transport
	if len(t.items) == 0 && !s.hasPayload && s.length == 0 && s.inner == nil {
		t.items = append(t.items, t.header.items.newItem(1))
	}
	whole := append(t.bytes(), body...)
	if !t.given("checksum") {
		binary.LittleEndian.PutUint32(t.b[8:], packet.SCTPChecksum(whole))
		copy(whole, t.b)
	}
	return whole
}

// checksum computes the transport checksum over header and data.
func (s *stack) checksum(whole []byte) uint16 {
	protocol := uint8(s.transport.header.protocol)
	_, pseudo, ok := packet.ChecksumOffset(protocol)
	if !ok {
		return 0
	}
	covered := whole[:s.coverage(len(whole))]
	var sum uint32
	if pseudo {
		sum = s.pseudoHeader(protocol, len(whole))
	}
	checksum := ^packet.Fold(packet.Sum(sum, covered))
	if checksum == 0 && (protocol == packet.ProtoUDP || protocol == packet.ProtoUDPLite) {
		return 0xffff
	}
	return checksum
}

// coverage is how many of the length bytes the checksum covers.
func (s *stack) coverage(length int) int {
	t := s.transport
	n := length
	switch t.header {
	case &udpHeader:
		n = int(t.get("length"))
	case &udpliteHeader:
		if n = int(t.get("csumcov")); n == 0 {
			return length
		}
	case &dccpHeader:
		if words := int(t.get("cscov")); words != 0 {
			n = int(t.get("doff"))*4 + (words-1)*4
		}
	}
	if n < 8 || n > length {
		return length
	}
	return n
}

func (s *stack) pseudoHeader(protocol uint8, length int) uint32 {
	if protocol == packet.ProtoUDP {
		length = int(s.transport.get("length"))
	}
	switch b := s.network.b; s.network.header {
	case &ipHeader:
		return packet.PseudoHeader4(b[12:16], b[16:20], protocol, length)
	case &ip6Header:
		return packet.PseudoHeader6(b[8:24], b[24:40], protocol, length)
	}
	return 0
}
