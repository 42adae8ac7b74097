package workload

import "encoding/binary"

// Frame is an Ethernet frame of 64 bytes with a header, without checksums of
// the transport protocol. TCP segments carry ACK.
func Frame(h *Header) []byte {
	b := make([]byte, 64)
	copy(b, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 50})
	ip := b[14:]
	ip[8], ip[9] = 64, h.Proto
	binary.BigEndian.PutUint32(ip[12:], h.Src)
	binary.BigEndian.PutUint32(ip[16:], h.Dst)
	sum := uint32(0)
	for i := 0; i < 20; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum))
	th := ip[20:]
	binary.BigEndian.PutUint16(th, h.SrcPort)
	binary.BigEndian.PutUint16(th[2:], h.DstPort)
	switch h.Proto {
	case 6:
		th[12], th[13] = 0x50, 0x10
	case 17:
		binary.BigEndian.PutUint16(th[4:], 30)
	}
	return b
}
