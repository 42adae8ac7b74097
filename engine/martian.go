package engine

import "net/netip"

// martian reports whether routing refuses an IPv4 packet because of its
// addresses: a source that is a group, a broadcast or one of the host's own,
// the address 0.0.0.0, or addresses of the network 127 from outside. What was
// received on the loopback device is exempt. IPv6 has no such test.
// Ref: net/ipv4/route.c, ip_route_input_slow; net/ipv4/fib_frontend.c,
// fib_validate_source.
func (w *Worker) martian() bool {
	s, d, ok := w.view.Addresses4()
	if !ok || w.meta.IIF.Type == arphrdLoopback {
		return false
	}
	switch {
	case s>>28 == ipv4Group || s == ipv4Broadcast:
		return true
	case d>>28 == ipv4Group:
		return false // has a test of its own
	case d == ipv4Broadcast || s|d == 0:
		return false
	case s == 0 || d == 0 || s>>24 == ipv4Loopback || d>>24 == ipv4Loopback:
		return true
	}
	return w.engine.options.KnownRoutes && w.engine.host.IsLocal(w.view.SrcAddr())
}

// Of addresses as numbers: the first four bits of groups, the limited
// broadcast, and the first byte of loopback addresses.
const (
	ipv4Group     = 0xe
	ipv4Broadcast = 0xffffffff
	ipv4Loopback  = 127
)

var limitedBroadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})
