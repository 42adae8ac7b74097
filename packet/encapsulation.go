package packet

import "encoding/binary"

// PPP protocol numbers.
//
// Ref: https://www.iana.org/assignments/ppp-numbers
const (
	pppIPv4   = 0x0021
	pppIPv6   = 0x0057
	pppMPLS   = 0x0281
	pppMPLSMC = 0x0283
)

// decapsulate follows PPPoE sessions and MPLS label stacks down to an IP
// header. Where there is none, it returns what it was given.
func (v *View) decapsulate(off int, typ uint16) (int, uint16) {
	switch typ {
	case TypePPPoES:
		inner, innerType, ok := v.pppoeSession(off)
		if !ok {
			return off, typ
		}
		v.link |= linkPPPoE | linkNoIPMac
		return inner, innerType
	case TypeMPLS, TypeMPLSMC:
		inner, innerType, ok := v.labelStack(off)
		if !ok {
			return off, typ
		}
		v.link |= linkMPLS | linkNoIPMac
		return inner, innerType
	}
	return off, typ
}

// pppoeSession finds the IP packet in a PPPoE session header at off.
//
// Ref: RFC 2516 §4
func (v *View) pppoeSession(off int) (int, uint16, bool) {
	d := v.Data
	if off+8 > len(d) || d[off] != 0x11 || d[off+1] != 0 {
		return 0, 0, false
	}
	return v.pppProtocol(off + 6)
}

// pppProtocol reads a PPP protocol field, compressed or not, and finds the
// IP packet behind it.
//
// Ref: RFC 1661 §2, §6.5
func (v *View) pppProtocol(off int) (int, uint16, bool) {
	d := v.Data
	if off >= len(d) {
		return 0, 0, false
	}
	protocol := uint16(d[off])
	off++
	if protocol&1 == 0 {
		if off >= len(d) {
			return 0, 0, false
		}
		protocol = protocol<<8 | uint16(d[off])
		off++
	}
	switch protocol {
	case pppIPv4:
		return off, TypeIPv4, true
	case pppIPv6:
		return off, TypeIPv6, true
	case pppMPLS, pppMPLSMC:
		if inner, typ, ok := v.labelStack(off); ok {
			v.link |= linkMPLS
			return inner, typ, true
		}
	}
	return 0, 0, false
}

// maxLabels bounds the label stack.
const maxLabels = 32

// labelStack finds the IP packet below an MPLS label stack: the one that an
// explicit null label announces, else the one whose version nibble says so.
//
// Ref: RFC 3032 §2.1, RFC 4928 §3
func (v *View) labelStack(off int) (int, uint16, bool) {
	d := v.Data
	for range maxLabels {
		if off+4 > len(d) {
			return 0, 0, false
		}
		entry := binary.BigEndian.Uint32(d[off:])
		off += 4
		if entry&0x100 == 0 {
			continue
		}
		switch entry >> 12 {
		case 0:
			return off, TypeIPv4, true
		case 2:
			return off, TypeIPv6, true
		}
		typ := v.versionType(off)
		return off, typ, typ != 0
	}
	return 0, 0, false
}

// decodePPP handles a PPP frame at off: bare, in HDLC-like framing, or Cisco
// HDLC, which shares the link type. PPP devices of Linux show no link header.
//
// Ref: RFC 1662 §3.1
func (v *View) decodePPP(off int) {
	d := v.Data
	if off+2 <= len(d) {
		switch {
		case d[off] == 0xff && d[off+1] == 0x03:
			off += 2
		case d[off] == 0x0f || d[off] == 0x8f:
			v.decodeCiscoHDLC(off)
			return
		}
	}
	if inner, typ, ok := v.pppProtocol(off); ok {
		v.setNetwork(inner, typ)
		return
	}
	v.setNetwork(off, 0)
}

// decodeCiscoHDLC handles address, control and EtherType at off.
func (v *View) decodeCiscoHDLC(off int) {
	if off+4 > len(v.Data) {
		v.setNetwork(off, 0)
		return
	}
	v.OuterType = binary.BigEndian.Uint16(v.Data[off+2:])
	inner, typ := v.decapsulate(off+4, v.OuterType)
	v.setPositions(inner, typ, off+4, v.OuterType)
}

// decodePPPoE handles frames that start with the PPPoE header.
func (v *View) decodePPPoE(off int) {
	typ := uint16(TypePPPoED)
	if off+2 <= len(v.Data) && v.Data[off+1] == 0 {
		typ = TypePPPoES
	}
	v.OuterType = typ
	inner, innerType := v.decapsulate(off, typ)
	v.setPositions(inner, innerType, off, typ)
}
