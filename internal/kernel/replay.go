package kernel

import (
	"bytes"

	"verdict/capture"
	"verdict/packet"
)

// Replayable is a captured frame as the lab's router can receive it: the packet
// behind the link header of a station, from lan0 where its source is the lower
// of its addresses, else from wan0. False for what is neither IPv4 nor IPv6, for
// packets of which nothing was captured, and for neighbour discovery, which
// would make stations known that packets wait for.
func Replayable(f *capture.Frame) (Injection, bool) {
	var v packet.View
	v.Decode(packet.LinkType(f.LinkType), f.Data, f.OrigLen)
	if v.EtherType != packet.TypeIPv4 && v.EtherType != packet.TypeIPv6 || v.NetOff+20 > len(f.Data) {
		return Injection{}, false
	}
	if typ, ok := v.Load8(v.ThOff); ok && v.L4Proto == packet.ProtoICMPv6 && typ >= 133 && typ <= 137 {
		return Injection{}, false
	}
	in := "wan0"
	if src, dst := v.SrcAddr(), v.DstAddr(); src.IsValid() && src.Less(dst) {
		in = "lan0"
	}
	data := station(append(make([]byte, 12), byte(v.EtherType>>8), byte(v.EtherType)), in)
	if v.Link == packet.LinkEthernet && f.Data[0]&1 != 0 {
		copy(data, f.Data[:6]) // sent to many
	}
	return Injection{Interface: in, Data: append(data, bytes.Clone(f.Data[v.NetOff:])...)}, true
}
