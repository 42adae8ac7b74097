package rewrite

import (
	"encoding/binary"

	"verdict/packet"
)

// TCPBytes writes bytes into the TCP header at an offset of the frame that
// the caller has checked, and updates the TCP checksum.
// Ref: nft_exthdr.c, nft_exthdr_tcp_set_eval.
func (b *Buffer) TCPBytes(v *packet.View, at int, value []byte) {
	data := b.Writable(v)
	before := append(make([]byte, 0, 64), data[at:at+len(value)]...)
	copy(data[at:], value)
	field := v.ThOff + 16
	sum := packet.UpdateChecksum(binary.BigEndian.Uint16(data[field:]), before, value, (at-v.ThOff)&1 != 0)
	binary.BigEndian.PutUint16(data[field:], sum)
}
