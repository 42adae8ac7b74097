package rewrite

import (
	"encoding/binary"

	"verdict/packet"
)

// ReplacePayload puts text in the place of n bytes of a TCP or UDP packet's
// payload, which start at an offset of the frame. Lengths and checksums follow;
// UDP without checksum stays without. It reports false, and changes nothing,
// where the packet was not captured whole, is a fragment, or would become too
// long. The view is decoded anew.
// Ref: nf_nat_helper.c, __nf_nat_mangle_tcp_packet, nf_nat_mangle_udp_packet.
func (b *Buffer) ReplacePayload(v *packet.View, at, n int, text []byte) bool {
	grow := len(text) - n
	if !v.HasTransport() || v.MoreFragments || v.End > len(v.Data) || at < v.ThOff+8 || at+n > v.End || v.NetLen+grow > 65535 {
		return false
	}
	frame := make([]byte, 0, len(v.Data)+max(grow, 0))
	frame = append(frame, v.Data[:at]...)
	frame = append(frame, text...)
	frame = append(frame, v.Data[at+n:]...)
	none := v.L4Proto == packet.ProtoUDP && frame[v.ThOff+6] == 0 && frame[v.ThOff+7] == 0
	b.setLengths(v, frame, grow)
	b.Set(v, frame, v.NetOff, v.OrigLen+grow)
	if off, _, ok := packet.ChecksumOffset(v.L4Proto); ok && !none {
		if sum, result := v.ComputeTransport(); result == packet.OK {
			binary.BigEndian.PutUint16(b.data[v.ThOff+off:], sum)
		}
	}
	return true
}

// setLengths corrects the length fields of a frame that has grown.
func (b *Buffer) setLengths(v *packet.View, frame []byte, grow int) {
	h := frame[v.NetOff:]
	if v.EtherType == packet.TypeIPv6 {
		addLength(h[4:], grow)
	} else {
		addLength(h[2:], grow)
		headerLen := v.ThOff - v.NetOff
		binary.BigEndian.PutUint16(h[10:], packet.IPv4HeaderChecksum(h[:headerLen]))
	}
	if v.L4Proto == packet.ProtoUDP {
		addLength(frame[v.ThOff+4:], grow)
	}
}

func addLength(field []byte, by int) {
	binary.BigEndian.PutUint16(field, uint16(int(binary.BigEndian.Uint16(field))+by))
}
