package packet

import (
	"encoding/binary"
	"net/netip"
)

// Flow is what identifies the connection that a packet belongs to, in the
// packet's direction. It is comparable.
type Flow struct {
	// Src and Dst are the addresses; IPv4 addresses take the first four
	// bytes, the others are zero.
	Src, Dst [16]byte
	// SrcPort and DstPort are ports as integers. For ICMP echo and the
	// like SrcPort is the identifier, and DstPort for ICMP and ICMPv6 is
	// type<<8 | code. For GRE version 1 they are zero and the call id,
	// for others zero.
	SrcPort, DstPort uint16
	Proto            uint8
	IPv6             bool
}

// SrcAddr returns the source as netip.Addr.
func (f *Flow) SrcAddr() netip.Addr { return flowAddr(f.Src, f.IPv6) }

// DstAddr returns the destination as netip.Addr.
func (f *Flow) DstAddr() netip.Addr { return flowAddr(f.Dst, f.IPv6) }

func flowAddr(a [16]byte, v6 bool) netip.Addr {
	if v6 {
		return netip.AddrFrom16(a)
	}
	return netip.AddrFrom4([4]byte(a[:4]))
}

// Flow fills f and tells how far it got: OK; Break if the packet is no valid
// IP packet with a known transport protocol, is a fragment other than the
// first, or ends before its ports; Cut if only the capture does.
func (v *View) Flow(f *Flow) LoadResult {
	*f = Flow{}
	if result := v.transport(); result != OK {
		return result
	}
	f.Proto = v.L4Proto
	if !v.addresses(&f.Src, &f.Dst) {
		return Break
	}
	f.IPv6 = v.EtherType == TypeIPv6
	switch v.L4Proto {
	case ProtoTCP, ProtoUDP, ProtoUDPLite, ProtoSCTP, ProtoDCCP:
		h, result := v.span(v.ThOff, 4)
		if result != OK {
			return result
		}
		f.SrcPort, f.DstPort = binary.BigEndian.Uint16(h), binary.BigEndian.Uint16(h[2:])
	case ProtoICMP, ProtoICMPv6:
		return v.icmpFlow(f)
	case ProtoGRE:
		return v.greFlow(f)
	}
	return OK
}

// icmpFlow takes type, code and, for queries and their replies, the
// identifier.
func (v *View) icmpFlow(f *Flow) LoadResult {
	h, result := v.span(v.ThOff, 8)
	if result != OK {
		return result
	}
	f.DstPort = binary.BigEndian.Uint16(h)
	if HasICMPID(v.L4Proto, h[0]) {
		f.SrcPort = binary.BigEndian.Uint16(h[4:])
	}
	return OK
}

// HasICMPID reports whether messages of a type of ICMP or ICMPv6 carry
// identifier and sequence number.
//
// Ref: RFC 792, RFC 950, RFC 4443
func HasICMPID(protocol, typ uint8) bool {
	if protocol == ProtoICMPv6 {
		return typ == 128 || typ == 129
	}
	switch typ {
	case 0, 8, 13, 14, 15, 16, 17, 18:
		return true
	}
	return false
}

// greFlow takes the call id of enhanced GRE.
//
// Ref: RFC 2637 §4.1
func (v *View) greFlow(f *Flow) LoadResult {
	h, result := v.span(v.ThOff, 2)
	if result != OK {
		return result
	}
	if h[1]&7 != 1 {
		return OK
	}
	if h, result = v.span(v.ThOff, 8); result != OK {
		return result
	}
	f.DstPort = binary.BigEndian.Uint16(h[6:])
	return OK
}

// addresses copies the IP addresses, which are captured whenever the packet
// is valid.
func (v *View) addresses(src, dst *[16]byte) bool {
	if v.Validity != Valid {
		return false
	}
	h := v.Data[v.NetOff:]
	if v.EtherType == TypeIPv4 {
		copy(src[:4], h[12:16])
		copy(dst[:4], h[16:20])
		return true
	}
	copy(src[:], h[8:24])
	copy(dst[:], h[24:40])
	return true
}

// SrcAddr returns the source address of a valid IP packet, else the zero
// Addr. It does not allocate.
func (v *View) SrcAddr() netip.Addr { return v.addr(12, 8) }

// DstAddr returns the destination address of a valid IP packet, else the
// zero Addr. It does not allocate.
func (v *View) DstAddr() netip.Addr { return v.addr(16, 24) }

// addr returns the address at an offset from the network header, which
// depends on the family.
func (v *View) addr(ipv4, ipv6 int) netip.Addr {
	if v.Validity != Valid {
		return netip.Addr{}
	}
	h := v.Data[v.NetOff:]
	if v.EtherType == TypeIPv4 {
		return netip.AddrFrom4([4]byte(h[ipv4:]))
	}
	return netip.AddrFrom16([16]byte(h[ipv6:]))
}

// Addresses4 returns the addresses of a valid IPv4 packet as numbers, and
// whether it is one.
func (v *View) Addresses4() (src, dst uint32, ok bool) {
	if v.Validity != Valid || v.EtherType != TypeIPv4 {
		return 0, 0, false
	}
	both := binary.BigEndian.Uint64(v.Data[v.NetOff+12:])
	return uint32(both >> 32), uint32(both), true
}

// Ports returns source and destination port of TCP, UDP, UDP-Lite, SCTP and
// DCCP, and whether the packet has them and they were captured.
func (v *View) Ports() (src, dst uint16, ok bool) {
	switch v.L4Proto {
	case ProtoTCP, ProtoUDP, ProtoUDPLite, ProtoSCTP, ProtoDCCP:
	default:
		return 0, 0, false
	}
	if v.transport() != OK {
		return 0, 0, false
	}
	h, result := v.span(v.ThOff, 4)
	if result != OK {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(h), binary.BigEndian.Uint16(h[2:]), true
}

// TransportLen returns the number of bytes from the transport header to the
// end of the IP packet.
func (v *View) TransportLen() int {
	if !v.L4OK {
		return 0
	}
	return max(0, v.transportEnd()-v.ThOff)
}
