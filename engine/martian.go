package engine

import (
	"net/netip"

	"verdict/packet"
)

// martian reports whether routing refuses an IPv4 packet because of its
// addresses: a source that is a group, a broadcast or one of the host's own,
// or addresses of the networks 0 and 127 from outside. What was received on
// the loopback device is exempt. IPv6 has no such test.
// Ref: net/ipv4/route.c, ip_route_input_slow; net/ipv4/fib_frontend.c,
// fib_validate_source.
func (w *Worker) martian() bool {
	if w.view.EtherType != packet.TypeIPv4 || w.meta.IIF.Type == arphrdLoopback {
		return false
	}
	src, dst := w.view.SrcAddr(), w.view.DstAddr()
	if !src.Is4() || !dst.Is4() {
		return false
	}
	if src.IsMulticast() || src == limitedBroadcast {
		return true
	}
	if dst.IsMulticast() {
		return false // has a test of its own
	}
	if dst == limitedBroadcast || src.IsUnspecified() && dst.IsUnspecified() {
		return false
	}
	if src.As4()[0] == 0 || dst.As4()[0] == 0 || src.IsLoopback() || dst.IsLoopback() {
		return true
	}
	return w.engine.options.KnownRoutes && w.engine.host.IsLocal(src)
}

var limitedBroadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})
