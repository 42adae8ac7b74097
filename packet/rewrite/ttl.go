package rewrite

import (
	"encoding/binary"

	"verdict/packet"
)

// DecrementTTL lowers the time to live, or hop limit, by one as forwarding
// does, and updates the IPv4 header checksum. The header must have been
// captured.
// Ref: RFC 1141; ip.h, ip_decrease_ttl.
func (b *Buffer) DecrementTTL(v *packet.View) {
	data := b.Writable(v)
	if v.EtherType == packet.TypeIPv6 {
		data[v.NetOff+7]--
		return
	}
	header := data[v.NetOff:]
	old := binary.BigEndian.Uint16(header[8:])
	header[8]--
	sum := packet.UpdateChecksum16(binary.BigEndian.Uint16(header[10:]), old, binary.BigEndian.Uint16(header[8:]))
	binary.BigEndian.PutUint16(header[10:], sum)
}
