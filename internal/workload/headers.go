package workload

import (
	"encoding/binary"
	"net/netip"

	"verdict/packet"
)

// mac is an Ethernet address.
type mac [6]byte

var broadcastMAC = mac{255, 255, 255, 255, 255, 255}

// Protocol numbers used here.
const (
	protoICMP   = 1
	protoTCP    = 6
	protoUDP    = 17
	protoICMPv6 = 58
)

// ethernet puts a link header before a packet.
func ethernet(dst, src mac, etherType uint16, payload []byte) []byte {
	b := make([]byte, 0, 14+len(payload))
	b = append(b, dst[:]...)
	b = append(b, src[:]...)
	b = binary.BigEndian.AppendUint16(b, etherType)
	return append(b, payload...)
}

// ipHeader is what an IP header says besides lengths and checksum.
type ipHeader struct {
	src, dst netip.Addr
	protocol uint8
	ttl      uint8
	id       uint16 // IPv4
	fragment uint16 // IPv4 flags and offset; 0x4000 is "don't fragment"
	options  []byte // IPv4, a multiple of four bytes
}

// packet puts the header before a payload and returns both with the type
// for the link header.
func (h *ipHeader) packet(payload []byte) (etherType uint16, b []byte) {
	if h.src.Is4() {
		return packet.TypeIPv4, h.ipv4(payload)
	}
	return packet.TypeIPv6, h.ipv6(payload)
}

func (h *ipHeader) ipv4(payload []byte) []byte {
	length := 20 + len(h.options)
	b := make([]byte, length, length+len(payload))
	b[0] = 0x40 | byte(length/4)
	binary.BigEndian.PutUint16(b[2:], uint16(length+len(payload)))
	binary.BigEndian.PutUint16(b[4:], h.id)
	binary.BigEndian.PutUint16(b[6:], h.fragment)
	b[8], b[9] = h.ttl, h.protocol
	copy(b[12:], h.src.AsSlice())
	copy(b[16:], h.dst.AsSlice())
	copy(b[20:], h.options)
	binary.BigEndian.PutUint16(b[10:], checksum(0, b))
	return append(b, payload...)
}

func (h *ipHeader) ipv6(payload []byte) []byte {
	b := make([]byte, 40, 40+len(payload))
	b[0] = 0x60
	binary.BigEndian.PutUint16(b[4:], uint16(len(payload)))
	b[6], b[7] = h.protocol, h.ttl
	copy(b[8:], h.src.AsSlice())
	copy(b[24:], h.dst.AsSlice())
	return append(b, payload...)
}

// checksum returns the internet checksum over data, with a partial sum.
func checksum(sum uint32, data []byte) uint16 {
	return ^packet.Fold(packet.Sum(sum, data))
}

// transportChecksum is checksum with the pseudo header of an IP packet.
func transportChecksum(src, dst netip.Addr, protocol uint8, segment []byte) uint16 {
	var sum uint32
	if src.Is4() {
		sum = packet.PseudoHeader4(src.AsSlice(), dst.AsSlice(), protocol, len(segment))
	} else {
		sum = packet.PseudoHeader6(src.AsSlice(), dst.AsSlice(), protocol, len(segment))
	}
	return checksum(sum, segment)
}

// TCP flags.
const (
	flagFIN = 1 << iota
	flagSYN
	flagRST
	flagPSH
	flagACK
	flagURG
)

// tcpHeader is what a TCP header says besides checksum.
type tcpHeader struct {
	src, dst netip.AddrPort
	seq, ack uint32
	flags    uint8
	window   uint16
	options  []byte // a multiple of four bytes
}

func (h *tcpHeader) segment(data []byte) []byte {
	length := 20 + len(h.options)
	b := make([]byte, length, length+len(data))
	binary.BigEndian.PutUint16(b, h.src.Port())
	binary.BigEndian.PutUint16(b[2:], h.dst.Port())
	binary.BigEndian.PutUint32(b[4:], h.seq)
	binary.BigEndian.PutUint32(b[8:], h.ack)
	b[12], b[13] = byte(length/4)<<4, h.flags
	binary.BigEndian.PutUint16(b[14:], h.window)
	copy(b[20:], h.options)
	b = append(b, data...)
	binary.BigEndian.PutUint16(b[16:], transportChecksum(h.src.Addr(), h.dst.Addr(), protoTCP, b))
	return b
}

// udpDatagram puts a UDP header before data.
func udpDatagram(src, dst netip.AddrPort, data []byte) []byte {
	b := make([]byte, 8, 8+len(data))
	binary.BigEndian.PutUint16(b, src.Port())
	binary.BigEndian.PutUint16(b[2:], dst.Port())
	binary.BigEndian.PutUint16(b[4:], uint16(8+len(data)))
	b = append(b, data...)
	sum := transportChecksum(src.Addr(), dst.Addr(), protoUDP, b)
	if sum == 0 {
		sum = 0xffff // zero would mean that there is none
	}
	binary.BigEndian.PutUint16(b[6:], sum)
	return b
}

// icmpMessage makes an ICMP or ICMPv6 message: type, code, the four bytes
// after the checksum, and the body.
func icmpMessage(src, dst netip.Addr, kind, code uint8, rest uint32, body []byte) []byte {
	b := make([]byte, 8, 8+len(body))
	b[0], b[1] = kind, code
	binary.BigEndian.PutUint32(b[4:], rest)
	b = append(b, body...)
	if src.Is4() {
		binary.BigEndian.PutUint16(b[2:], checksum(0, b))
	} else {
		binary.BigEndian.PutUint16(b[2:], transportChecksum(src, dst, protoICMPv6, b))
	}
	return b
}
