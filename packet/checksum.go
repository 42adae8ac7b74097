package packet

import "encoding/binary"

// Sum adds the 16-bit words of data to a running sum in one's complement
// arithmetic; a last odd byte counts as the high half of a word. Fold makes
// 16 bits of the sum. Only the last piece of a sum may have an odd length.
//
// Ref: RFC 1071
func Sum(sum uint32, data []byte) uint32 {
	total := uint64(sum)
	for len(data) >= 8 {
		word := binary.BigEndian.Uint64(data)
		total += word>>32 + word&0xffffffff
		data = data[8:]
	}
	for len(data) >= 2 {
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
	return Sum(Sum(uint32(protocol)+uint32(length), src), dst)
}

// PseudoHeader6 is PseudoHeader4 for IPv6, with addresses of 16 bytes.
//
// Ref: RFC 8200 §8.1
func PseudoHeader6(src, dst []byte, protocol uint8, length int) uint32 {
	return Sum(Sum(uint32(protocol)+uint32(length)>>16+uint32(length)&0xffff, src), dst)
}

// VerifyIPv4Header tells whether the checksum of the IPv4 header is right.
// The result is OK if that could be told, Cut if the header was not captured
// whole, Break if the packet is not IPv4.
func (v *View) VerifyIPv4Header() (bool, LoadResult) {
	if v.EtherType != TypeIPv4 {
		return false, Break
	}
	return v.verifyIPv4Header(v.NetOff)
}

func (v *View) verifyIPv4Header(off int) (bool, LoadResult) {
	h, result := v.span(off, 20)
	if result != OK {
		return false, result
	}
	if h, result = v.span(off, max(20, int(h[0]&0xf)*4)); result != OK {
		return false, result
	}
	return Fold(Sum(0, h)) == 0xffff, OK
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
	case ProtoICMP, ProtoIGMP:
		return 2, false, true
	}
	return 0, false, false
}

// TransportSum returns the one's complement sum, folded, over the transport
// header and its data as far as the checksum covers them, with the pseudo
// header: 0xffff if the checksum in the packet is right. Protocols without
// internet checksum, fragments, and coverage fields that make no sense give
// Break, data beyond the capture Cut.
func (v *View) TransportSum() (uint16, LoadResult) {
	if result := v.transport(); result != OK {
		return 0, result
	}
	off, pseudo, ok := ChecksumOffset(v.L4Proto)
	if !ok || v.MoreFragments {
		return 0, Break
	}
	end := v.transportEnd()
	if v.ThOff+off+2 > end {
		return 0, Break
	}
	cover, ok := v.checksumCoverage(end - v.ThOff)
	if !ok {
		return 0, Break
	}
	data, result := v.span(v.ThOff, cover)
	if result != OK {
		return 0, result
	}
	var sum uint32
	if pseudo {
		sum = v.pseudoHeader(end - v.ThOff)
	}
	return Fold(Sum(sum, data)), OK
}

// transportEnd is where the IP header says the packet ends, padding apart.
func (v *View) transportEnd() int {
	if length := v.headerLength(v.NetOff, v.EtherType); length > 40 || v.EtherType == TypeIPv4 && length > 0 {
		return min(v.NetOff+length, v.End)
	}
	return v.End
}

// checksumCoverage tells how many of the length bytes from the transport
// header on the checksum covers.
//
// Ref: RFC 3828 §3.1, RFC 4340 §9.2
func (v *View) checksumCoverage(length int) (int, bool) {
	switch v.L4Proto {
	case ProtoUDP:
		h, result := v.span(v.ThOff, 8)
		if result != OK {
			return length, true
		}
		claimed := int(binary.BigEndian.Uint16(h[4:]))
		return claimed, claimed >= 8 && claimed <= length
	case ProtoUDPLite:
		h, result := v.span(v.ThOff, 8)
		if result != OK {
			return length, true
		}
		claimed := int(binary.BigEndian.Uint16(h[4:]))
		if claimed == 0 {
			claimed = length
		}
		return claimed, claimed >= 8 && claimed <= length
	case ProtoDCCP:
		h, result := v.span(v.ThOff, 12)
		if result != OK {
			return length, true
		}
		header, words := int(h[4])*4, int(h[5]&0xf)
		if words == 0 {
			return length, header <= length
		}
		cover := header + (words-1)*4
		return cover, cover <= length
	}
	return length, true
}

// pseudoHeader sums the pseudo header for length bytes of transport data. The
// IP header is in the capture, else the transport protocol would be unknown.
func (v *View) pseudoHeader(length int) uint32 {
	h := v.Data[v.NetOff:]
	if v.EtherType == TypeIPv4 {
		return PseudoHeader4(h[12:16], h[16:20], v.L4Proto, v.pseudoLength(length))
	}
	return PseudoHeader6(h[8:24], h[24:40], v.L4Proto, v.pseudoLength(length))
}

// pseudoLength is the length in the pseudo header: for UDP that of the UDP
// header, which may be shorter than the IP packet.
func (v *View) pseudoLength(length int) int {
	if v.L4Proto == ProtoUDP {
		if h, result := v.span(v.ThOff, 6); result == OK {
			return int(binary.BigEndian.Uint16(h[4:]))
		}
	}
	return length
}

// VerifyTransport tells whether the transport checksum is right. A zero UDP
// checksum over IPv4 means that there is none, which is right. The result is
// as that of TransportSum.
func (v *View) VerifyTransport() (bool, LoadResult) {
	if v.HasTransport() && v.L4Proto == ProtoUDP && v.EtherType == TypeIPv4 {
		if field, ok := v.Load16(v.ThOff + 6); ok && field == 0 {
			return true, OK
		}
	}
	sum, result := v.TransportSum()
	if result != OK {
		return false, result
	}
	return sum == 0xffff, OK
}

// ComputeTransport returns the value that the transport checksum field should
// have, as an integer in network order: never 0 for UDP. The result is as
// that of TransportSum.
func (v *View) ComputeTransport() (uint16, LoadResult) {
	sum, result := v.TransportSum()
	if result != OK {
		return 0, result
	}
	off, _, _ := ChecksumOffset(v.L4Proto)
	field, result := v.span(v.ThOff+off, 2)
	if result != OK {
		return 0, result
	}
	// Take the field itself out of the sum.
	checksum := ^Fold(uint32(sum) + uint32(^binary.BigEndian.Uint16(field)))
	if checksum == 0 && (v.L4Proto == ProtoUDP || v.L4Proto == ProtoUDPLite) {
		checksum = 0xffff
	}
	return checksum, OK
}

// IPv4HeaderChecksum returns the value that the checksum field of an IPv4
// header (with options) should have; what the field holds does not matter.
func IPv4HeaderChecksum(header []byte) uint16 {
	if len(header) < 20 {
		return 0
	}
	return ^Fold(Sum(Sum(0, header[:10]), header[12:]))
}
