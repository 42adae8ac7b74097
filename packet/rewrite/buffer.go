// Package rewrite changes packets: it copies a borrowed frame at the first
// write, keeps checksums right, and does what NAT and the statements that set
// fields need.
package rewrite

import (
	"encoding/binary"

	"verdict/packet"
)

// Buffer holds the changed copy of one packet at a time. The zero Buffer is
// ready to use; it keeps its memory from packet to packet. Not safe for
// concurrent use.
type Buffer struct {
	data  []byte
	owned bool
}

// Start begins a new packet: nothing is copied yet.
func (b *Buffer) Start() { b.owned = false }

// Changed reports whether the packet was written to.
func (b *Buffer) Changed() bool { return b.owned }

// Writable returns the frame's bytes for writing. The first call for a packet
// copies them and makes the view refer to the copy.
func (b *Buffer) Writable(v *packet.View) []byte {
	if !b.owned {
		b.data = append(b.data[:0], v.Data...)
		b.owned = true
		v.Rebase(b.data)
	}
	return b.data
}

// Set makes a frame of another length the packet, and decodes it. The frame has
// the view's link type and its IP header at an offset; its length on the wire
// is origLen. The buffer copies the frame's bytes, and corrects the lengths that
// link headers hold.
func (b *Buffer) Set(v *packet.View, frame []byte, network, origLen int) {
	b.data = append(b.data[:0], frame...)
	b.owned = true
	setLinkLength(v, b.data, network, origLen)
	v.Replace(b.data, origLen)
}

// setLinkLength writes the packet's length into PPPoE session headers and into
// the payload attribute of NFLOG records, which both directly precede it.
// Ref: RFC 2516 §4; nfnetlink_log.h, NFULA_PAYLOAD.
func setLinkLength(v *packet.View, frame []byte, network, origLen int) {
	switch {
	case v.HasPPPoE() && network >= 4:
		binary.BigEndian.PutUint16(frame[network-4:], uint16(origLen-network+2))
	case v.Link == packet.LinkNFLOG && network >= 4:
		var order binary.ByteOrder = binary.LittleEndian
		if frame[network-2] == 0 {
			order = binary.BigEndian
		}
		order.PutUint16(frame[network-4:], uint16(len(frame)-network+4))
	}
}
