package packet

import "encoding/binary"

// Sum adds the 16-bit words of data to a running sum in one's complement
// arithmetic; a last odd byte counts as the high half of a word. Fold makes
// 16 bits of the sum. Only the last piece of a sum may have an odd length.
//
// Ref: RFC 1071
func Sum(sum uint32, data []byte) uint32 {
	total := uint64(sum)
	for len(data) >= 16 {
		word, next := binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:])
		total += word>>32 + word&0xffffffff + next>>32 + next&0xffffffff
		data = data[16:]
	}
	if len(data) >= 8 {
		word := binary.BigEndian.Uint64(data)
		total += word>>32 + word&0xffffffff
		data = data[8:]
	}
	if len(data) >= 4 {
		total += uint64(binary.BigEndian.Uint32(data))
		data = data[4:]
	}
	if len(data) >= 2 {
		total += uint64(binary.BigEndian.Uint16(data))
		data = data[2:]
	}
	if len(data) == 1 {
		total += uint64(data[0]) << 8
	}
	for total>>32 != 0 {
		total = total>>32 + total&0xffffffff
	}
	return uint32(total)
}

// Fold reduces a sum to 16 bits. The checksum field is its complement.
func Fold(sum uint32) uint16 {
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	return uint16(sum)
}

// PseudoHeader4 is the sum of the pseudo header of TCP, UDP and others over
// IPv4: src and dst are 4 bytes, length that of transport header and data.
//
// Ref: RFC 9293 §3.1
func PseudoHeader4(src, dst []byte, protocol uint8, length int) uint32 {
	a, b := uint64(binary.BigEndian.Uint32(src)), uint64(binary.BigEndian.Uint32(dst))
	total := a + b + uint64(protocol) + uint64(length)
	total = total>>32 + total&0xffffffff
	return uint32(total>>32 + total)
}

// PseudoHeader6 is PseudoHeader4 for IPv6, with addresses of 16 bytes.
//
// Ref: RFC 8200 §8.1
func PseudoHeader6(src, dst []byte, protocol uint8, length int) uint32 {
	return Sum(Sum(uint32(protocol)+uint32(length)>>16+uint32(length)&0xffff, src), dst)
}

// IPv4HeaderChecksum returns the value that the checksum field of an IPv4
// header (with options) should have; what the field holds does not matter.
func IPv4HeaderChecksum(header []byte) uint16 {
	if len(header) < 20 {
		return 0
	}
	return ^Fold(Sum(Sum(0, header[:10]), header[12:]))
}

// ChecksumOffset returns where the checksum lies in a transport header, and
// whether the protocol has an internet checksum there. pseudo says that it
// covers a pseudo header.
func ChecksumOffset(protocol uint8) (off int, pseudo, ok bool) {
	switch protocol {
	case ProtoTCP:
		return 16, true, true
	case ProtoUDP, ProtoUDPLite:
		return 6, true, true
	case ProtoDCCP:
		return 6, true, true
	case ProtoICMPv6:
		return 2, true, true
	case ProtoMobility:
		return 4, true, true
	case ProtoICMP, ProtoIGMP:
		return 2, false, true
	}
	return 0, false, false
}
