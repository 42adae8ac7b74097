package engine

import (
	"encoding/binary"
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
	s, d := ipv4Number(src), ipv4Number(dst)
	switch {
	case s>>28 == ipv4Group || s == ipv4Broadcast:
		return true
	case d>>28 == ipv4Group:
		return false // has a test of its own
	case d == ipv4Broadcast || s|d == 0:
		return false
	case s>>24 == 0 || d>>24 == 0 || s>>24 == ipv4Loopback || d>>24 == ipv4Loopback:
		return true
	}
	return w.engine.options.KnownRoutes && w.engine.host.IsLocal(src)
}

// Of addresses as numbers: the first four bits of groups, the limited
// broadcast, and the first byte of loopback addresses.
const (
	ipv4Group     = 0xe
	ipv4Broadcast = 0xffffffff
	ipv4Loopback  = 127
)

func ipv4Number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

var limitedBroadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})
