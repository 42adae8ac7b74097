package packet

import "encoding/binary"

// InnerOff returns where the payload of the transport header starts: what a
// tunnel carries. It reports false for protocols without such a notion and
// where the header is not in the capture.
//
// Ref: nft_payload.c, nft_payload_inner_offset
func (v *View) InnerOff() (int, bool) {
	off, result := v.inner()
	return off, result == OK
}

func (v *View) inner() (int, LoadResult) {
	if v.innerResult == innerUnset {
		v.innerOff, v.innerResult = v.findInner()
	}
	return v.innerOff, v.innerResult
}

func (v *View) findInner() (int, LoadResult) {
	if result := v.transport(); result != OK {
		return 0, result
	}
	switch v.L4Proto {
	case ProtoUDP:
		return v.ThOff + 8, OK
	case ProtoTCP:
		h, result := v.span(v.ThOff, 20)
		if result != OK {
			return 0, result
		}
		return v.ThOff + int(h[12]>>4)*4, OK
	case ProtoGRE:
		return v.innerGRE()
	case ProtoIPIP:
		return v.ThOff, OK
	}
	return 0, Break
}

// innerGRE finds what a GRE header of version 0 carries.
//
// Ref: RFC 2784, RFC 2890
func (v *View) innerGRE() (int, LoadResult) {
	h, result := v.span(v.ThOff, 4)
	if result != OK {
		return 0, result
	}
	const checksum, routing, key, sequence, version = 0x8000, 0x4000, 0x2000, 0x1000, 0x0007
	flags := binary.BigEndian.Uint16(h)
	if flags&(routing|version) != 0 {
		return 0, Break
	}
	off := v.ThOff + 4
	for _, flag := range [...]uint16{checksum, key, sequence} {
		if flags&flag != 0 {
			off += 4
		}
	}
	return off, OK
}
