package rewrite

import (
	"encoding/binary"

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
	at, result := v.Place(base, off, len(value))
	if result != packet.OK {
		return result
	}
	field := 0
	if sum.Inet {
		if field, result = v.Place(base, sum.Offset, 2); result != packet.OK {
			return result
		}
	}
	data := b.Writable(v)
	before := append(make([]byte, 0, 64), data[at:at+len(value)]...)
	copy(data[at:], value)
	odd := off&1 != 0
	if sum.Inet {
		b.update(field, before, value, odd)
	}
	if sum.Pseudo {
		b.pseudo(v, before, value, odd)
	}
	if sum.SCTP && v.FragOff == 0 && !v.MoreFragments {
		b.sctp(v.ThOff, v.End)
	}
	return packet.OK
}

// update corrects a checksum field. Zero is written as ffff, which means the
// same but in UDP, where zero would mean "none".
// Ref: nft_payload.c, nft_csum_replace.
func (b *Buffer) update(field int, before, after []byte, odd bool) {
	old := binary.BigEndian.Uint16(b.data[field:])
	sum := packet.UpdateChecksum(old, before, after, odd)
	if sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(b.data[field:], sum)
}

// pseudo corrects the transport checksum after a change that its pseudo
// header covers. Fragments other than the first have no transport header.
// Ref: nft_payload.c, nft_payload_l4csum_update.
func (b *Buffer) pseudo(v *packet.View, before, after []byte, odd bool) {
	if !v.HasTransport() {
		return
	}
	off := 0
	switch v.L4Proto {
	case packet.ProtoTCP, packet.ProtoICMPv6:
		off, _, _ = packet.ChecksumOffset(v.L4Proto)
	case packet.ProtoUDP, packet.ProtoUDPLite:
		off = 6
	default:
		return
	}
	field, result := v.Place(packet.BaseTransport, off, 2)
	if result != packet.OK {
		return
	}
	if v.L4Proto == packet.ProtoUDP && b.data[field] == 0 && b.data[field+1] == 0 {
		return
	}
	b.update(field, before, after, odd)
}

// sctp recomputes the CRC32c of the SCTP packet in a range of the frame, if
// the capture holds all of it.
// Ref: RFC 9260, 6.8 and appendix A.
func (b *Buffer) sctp(start, end int) {
	if start+12 > end || end > len(b.data) {
		return
	}
	segment := b.data[start:end]
	binary.LittleEndian.PutUint32(segment[8:], packet.SCTPChecksum(segment))
}
