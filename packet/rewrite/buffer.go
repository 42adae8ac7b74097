// Package rewrite changes packets: it copies a borrowed frame at the first
// write, keeps checksums right, and does what NAT and the statements that set
// fields need.
package rewrite

import "verdict/packet"

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

// Set makes a frame of another length the packet, and decodes it. The buffer
// copies the frame's bytes.
func (b *Buffer) Set(v *packet.View, frame []byte, origLen int) {
	b.data = append(b.data[:0], frame...)
	b.owned = true
	v.Replace(b.data, origLen)
}
