package workload

import "encoding/binary"

// Frame is an Ethernet frame of 64 bytes with a header. TCP segments carry ACK.
func Frame(h *Header) []byte { return FrameFlags(h, 0x10) }

// FrameFlags is Frame with other flags in TCP segments.
func FrameFlags(h *Header, flags byte) []byte {
	b := make([]byte, 64)
	copy(b, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 50})
	ip := b[14:]
	ip[8], ip[9] = 64, h.Proto
	binary.BigEndian.PutUint32(ip[12:], h.Src)
	binary.BigEndian.PutUint32(ip[16:], h.Dst)
	binary.BigEndian.PutUint16(ip[10:], ^fold(ip[:20], 0))
	th := ip[20:]
	binary.BigEndian.PutUint16(th, h.SrcPort)
	binary.BigEndian.PutUint16(th[2:], h.DstPort)
	switch h.Proto {
	case 6:
		th[12], th[13] = 0x50, flags
		binary.BigEndian.PutUint16(th[16:], ^fold(ip[12:50], 6+30))
	case 17:
		binary.BigEndian.PutUint16(th[4:], 30)
		binary.BigEndian.PutUint16(th[6:], ^fold(ip[12:50], 17+30))
	}
	return b
}

// fold is the one's complement sum of some bytes.
func fold(b []byte, sum uint32) uint16 {
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
