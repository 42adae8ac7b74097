package packet

import "encoding/binary"

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
	if off+20 <= len(v.packet) && v.packet[off]&0xf == 5 {
		h := v.packet[off : off+20]
		a, b, c := binary.BigEndian.Uint64(h), binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint32(h[16:])
		sum := a>>32 + a&0xffffffff + b>>32 + b&0xffffffff + uint64(c)
		sum = sum>>32 + sum&0xffffffff
		return Fold(uint32(sum>>32+sum)) == 0xffff, OK
	}
	h, result := v.span(off, 20)
	if result != OK {
		return false, result
	}
	if h, result = v.span(off, max(20, int(h[0]&0xf)*4)); result != OK {
		return false, result
	}
	return Fold(Sum(0, h)) == 0xffff, OK
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

// VerifyTransport tells whether the transport checksum is right, also the
// CRC32c of SCTP. A zero UDP checksum over IPv4 means that there is none,
// which is right. The result is as that of TransportSum.
func (v *View) VerifyTransport() (bool, LoadResult) {
	if v.HasTransport() && v.L4Proto == ProtoSCTP {
		return v.verifySCTP()
	}
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
