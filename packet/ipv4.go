package packet

import "encoding/binary"

// bigTCP is the length from which a zero length field of an IP header means
// a segment that offloading has yet to cut, not an empty packet.
const bigTCP = 65536

// parseIPv4 makes the checks of packet preparation and finds the transport
// header.
//
// Ref: nf_tables_ipv4.h, ip_rcv_core
func (v *View) parseIPv4(off int) {
	rest := v.OrigLen - off
	if off+20 > len(v.Data) {
		why := Malformed
		if rest >= 20 {
			why = HeaderCut
		}
		v.unspecified(why)
		v.setEnd(v.OrigLen)
		return
	}
	h := v.Data[off : off+20 : off+20]
	headerLen := int(h[0]&0xf) * 4
	total := int(binary.BigEndian.Uint16(h[2:]))
	if total == 0 && rest >= bigTCP {
		total = rest
	}
	if h[0]>>4 != 4 || headerLen < 20 || total < headerLen {
		v.unspecified(Malformed)
		v.setEnd(v.OrigLen)
		return
	}
	if total > rest {
		v.unspecified(Truncated)
		v.setEnd(v.OrigLen)
		return
	}
	fragment := binary.BigEndian.Uint16(h[6:])
	v.Validity = Valid
	v.L4OK, v.L4Cut = true, false
	v.L4Proto = h[9]
	v.FragOff = fragment & 0x1fff
	v.MoreFragments = fragment&0x2000 != 0
	v.AuthHeader = false
	v.ThOff = off + headerLen
	v.setEnd(off + total)
}
