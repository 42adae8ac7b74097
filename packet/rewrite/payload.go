package rewrite

import (
	"encoding/binary"
	"hash/crc32"

	"verdict/packet"
)

// Checksum says which checksums follow a write.
type Checksum struct {
	// Inet updates a 16-bit one's complement checksum at Offset from the base.
	Inet   bool
	Offset int
	// SCTP recomputes the CRC32c of an SCTP packet.
	SCTP bool
	// Pseudo updates the transport checksum too, whose pseudo header covers
	// the written bytes.
	Pseudo bool
}

// Payload writes value at an offset from a base and updates checksums. It
// reports packet.Break where the packet does not hold the bytes, Cut where
// the capture does not; then nothing has changed.
// Ref: nft_payload.c, nft_payload_set_eval.
func (b *Buffer) Payload(v *packet.View, base packet.Base, off int, value []byte, sum Checksum) packet.LoadResult {
	start := baseStart(v, base)
	if result := v.Check(base, off, len(value)); result != packet.OK {
		return result
	}
	if sum.Inet {
		if result := v.Check(base, sum.Offset, 2); result != packet.OK {
			return result
		}
	}
	at := start + off
	data := b.Writable(v)
	before := append(make([]byte, 0, 64), data[at:at+len(value)]...)
	copy(data[at:], value)
	if sum.Inet {
		b.update(v, start+sum.Offset, before, value, off&1 != 0, base == packet.BaseTransport)
	}
	if sum.Pseudo {
		b.pseudo(v, before, value, off&1 != 0)
	}
	if sum.SCTP && v.FragOff == 0 && !v.MoreFragments {
		b.sctp(v)
	}
	return packet.OK
}

func baseStart(v *packet.View, base packet.Base) int {
	switch base {
	case packet.BaseLink:
		return v.MacOff
	case packet.BaseNetwork:
		return v.NetOff
	case packet.BaseTransport:
		return v.ThOff
	}
	off, _ := v.InnerOff()
	return off
}

// update corrects a checksum field. A UDP checksum of zero means "none"; a
// result of zero is sent as ffff.
func (b *Buffer) update(v *packet.View, field int, before, after []byte, odd, transport bool) {
	old := binary.BigEndian.Uint16(b.data[field:])
	sum := packet.UpdateChecksum(old, before, after, odd)
	if transport && v.L4Proto == packet.ProtoUDP && sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(b.data[field:], sum)
}

// pseudo corrects the transport checksum after a change that its pseudo
// header covers. Fragments other than the first have no transport header.
// Ref: nft_payload.c, nft_payload_l4csum_update.
func (b *Buffer) pseudo(v *packet.View, before, after []byte, odd bool) {
	if !v.L4OK || v.FragOff != 0 {
		return
	}
	var field int
	switch v.L4Proto {
	case packet.ProtoTCP:
		field = v.ThOff + 16
	case packet.ProtoUDP, packet.ProtoUDPLite:
		field = v.ThOff + 6
	case packet.ProtoICMPv6:
		field = v.ThOff + 2
	default:
		return
	}
	if field+2 > len(b.data) {
		return
	}
	old := binary.BigEndian.Uint16(b.data[field:])
	if v.L4Proto == packet.ProtoUDP && old == 0 {
		return
	}
	sum := packet.UpdateChecksum(old, before, after, odd)
	if sum == 0 && v.L4Proto != packet.ProtoTCP && v.L4Proto != packet.ProtoICMPv6 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(b.data[field:], sum)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sctp recomputes the CRC32c of an SCTP packet that was captured whole.
// Ref: RFC 9260, 6.8 and appendix A.
func (b *Buffer) sctp(v *packet.View) {
	if v.ThOff+12 > v.End || v.End > len(b.data) {
		return
	}
	segment := b.data[v.ThOff:v.End]
	clear(segment[8:12])
	binary.LittleEndian.PutUint32(segment[8:], crc32.Checksum(segment, castagnoli))
}
