package cli

import (
	"net/netip"

	"verdict/engine"
	"verdict/packet"
)

// addresses are the source and destination of a frame, invalid where it has
// none.
func addresses(in *engine.Input) (source, destination netip.Addr) {
	var v packet.View
	v.Decode(in.LinkType, in.Data, in.OrigLen)
	return v.SrcAddr(), v.DstAddr()
}
