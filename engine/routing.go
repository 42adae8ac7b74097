package engine

import (
	"net/netip"

	"verdict/host"
	"verdict/packet"
)

// wayKind says where a routing decision leads.
type wayKind uint8

const (
	wayRefused wayKind = iota // nowhere
	wayDeliver                // to the host itself
	wayForward                // out of a device
)

// way is a routing decision.
type way struct {
	kind   wayKind
	route  host.RouteType // what the destination is
	out    *device
	hop    netip.Addr // the neighbour that gets the packet
	reason string     // why it is refused
	// answers says that an ICMP error with this code tells the sender of a
	// refused packet: destination unreachable.
	answers bool
	code    uint8
}

func refused(reason string) way { return way{reason: reason} }

// ICMP codes of destination unreachable.
const (
	unreachableNet      = 0
	unreachableHost     = 1
	unreachableProtocol = 2
	unreachablePort     = 3
	unreachableFragment = 4
	unreachableFiltered = 13

	unreachable6NoRoute    = 0
	unreachable6Prohibited = 1
	unreachable6Scope      = 2
	unreachable6Port       = 4
)

// inputWay decides where a received packet goes.
func (e *Engine) inputWay(source, destination netip.Addr, d *device) way {
	if destination.Is4() {
		return e.inputWay4(source, destination, d)
	}
	return e.inputWay6(destination, d)
}

var loopbackNet = netip.MustParsePrefix("127.0.0.0/8")

// inputWay4 decides for IPv4.
// Ref: net/ipv4/route.c, ip_route_input_slow, ip_route_input_rcu.
func (e *Engine) inputWay4(source, destination netip.Addr, d *device) way {
	if destination.IsMulticast() {
		return e.inputGroup4(source, destination)
	}
	switch {
	case source.IsMulticast(), source == limitedBroadcast:
		return refused("its source address can be no sender's")
	case destination == limitedBroadcast, source == netip.IPv4Unspecified() && destination == netip.IPv4Unspecified():
		return e.fromOutside(source, way{kind: wayDeliver, route: host.RouteBroadcast})
	case source == netip.IPv4Unspecified(), destination == netip.IPv4Unspecified():
		return refused("an address of it is 0.0.0.0")
	case !d.loopback && (loopbackNet.Contains(source) || loopbackNet.Contains(destination)):
		return refused("an address of it is a loopback address")
	}
	route, ok := e.host.Route(destination)
	if !ok {
		return way{reason: "there is no route to its destination", answers: true, code: unreachableNet}
	}
	switch route.Type {
	case host.RouteUnicast:
		if forwards, known := e.host.Sysctl("net/ipv4/ip_forward"); known && forwards == "0" {
			return refused("the host does not forward")
		}
		return e.fromOutside(source, e.along(route, destination))
	case host.RouteLocal, host.RouteBroadcast:
		return e.fromOutside(source, way{kind: wayDeliver, route: route.Type})
	}
	return refusing4(route.Type)
}

// refusing4 is the way of a route that refuses.
func refusing4(t host.RouteType) way {
	w := way{route: t, reason: "its route is " + t.String()}
	switch t {
	case host.RouteUnreachable:
		w.answers, w.code = true, unreachableHost
	case host.RouteProhibit:
		w.answers, w.code = true, unreachableFiltered
	}
	return w
}

// fromOutside refuses what claims to come from the host itself.
// Ref: net/ipv4/fib_frontend.c, fib_validate_source.
func (e *Engine) fromOutside(source netip.Addr, w way) way {
	if source != netip.IPv4Unspecified() && e.isLocal(source) {
		return refused("its source is an address of the host itself")
	}
	return w
}

// inputGroup4 delivers packets of the groups that the host is in.
// Ref: net/ipv4/route.c, ip_route_input_mc.
func (e *Engine) inputGroup4(source, destination netip.Addr) way {
	if destination != netip.AddrFrom4([4]byte{224, 0, 0, 1}) || source.IsMulticast() || source == limitedBroadcast || loopbackNet.Contains(source) {
		return refused("the host is not in its group")
	}
	return e.fromOutside(source, way{kind: wayDeliver, route: host.RouteMulticast})
}

// along is the way of a unicast route.
func (e *Engine) along(route host.Route, destination netip.Addr) way {
	i, ok := e.host.ByIndex(route.Interface)
	if !ok {
		return refused("its route has no device")
	}
	hop := destination
	if route.Gateway.IsValid() {
		hop = route.Gateway
	}
	return way{kind: wayForward, route: route.Type, out: e.device(i.Name), hop: hop}
}

// inputWay6 decides for IPv6.
// Ref: net/ipv6/route.c, ip6_route_input; ip6_input.c, ip6_mc_input.
func (e *Engine) inputWay6(destination netip.Addr, d *device) way {
	if destination.IsMulticast() {
		if !e.inGroup6(destination, d) {
			return refused("the host is not in its group")
		}
		return way{kind: wayDeliver, route: host.RouteMulticast}
	}
	bound := 0
	if destination.IsLinkLocalUnicast() {
		bound = int(d.meta.Index)
	}
	route, ok := e.host.RouteVia(destination, bound)
	if !ok {
		return way{reason: "there is no route to its destination", answers: true, code: unreachable6NoRoute}
	}
	switch route.Type {
	case host.RouteUnicast:
		if forwards, known := e.host.Sysctl("net/ipv6/conf/all/forwarding"); known && forwards == "0" {
			return refused("the host does not forward")
		}
		return e.along(route, destination)
	case host.RouteLocal, host.RouteAnycast:
		return way{kind: wayDeliver, route: route.Type}
	}
	return refusing6(route.Type)
}

// refusing6 is the way of a route that refuses.
func refusing6(t host.RouteType) way {
	w := way{route: t, reason: "its route is " + t.String()}
	switch t {
	case host.RouteUnreachable, host.RouteThrow:
		w.answers, w.code = true, unreachable6NoRoute
	case host.RouteProhibit:
		w.answers, w.code = true, unreachable6Prohibited
	}
	return w
}

// inGroup6 reports whether the host is in a multicast group: all nodes, all
// routers, and the solicited-node groups of its addresses.
// Ref: RFC 4291 §2.8.
func (e *Engine) inGroup6(group netip.Addr, d *device) bool {
	b := group.As16()
	for _, known := range [...]string{"ff02::1", "ff01::1", "ff02::2", "ff01::2", "ff05::2"} {
		if group == netip.MustParseAddr(known) {
			return true
		}
	}
	solicited := [13]byte{0: 0xff, 1: 0x02, 11: 1, 12: 0xff}
	if [13]byte(b[:13]) != solicited {
		return false
	}
	i, ok := e.host.ByIndex(int(d.meta.Index))
	if !ok {
		return false
	}
	for _, a := range i.Addresses {
		addr := a.Prefix.Addr()
		if !addr.Is6() {
			continue
		}
		own := addr.As16()
		anycast := a.Prefix.Masked().Addr().As16()
		if [3]byte(own[13:]) == [3]byte(b[13:]) || [3]byte(anycast[13:]) == [3]byte(b[13:]) {
			return true
		}
	}
	return false
}

// outputWay decides where a packet of the host itself goes.
// Ref: net/ipv4/route.c, ip_route_output_key_hash_rcu; net/ipv6/route.c,
// ip6_route_output_flags.
func (e *Engine) outputWay(destination netip.Addr, bound int) way {
	if destination == limitedBroadcast {
		return way{kind: wayForward, route: host.RouteBroadcast, hop: destination}
	}
	if !destination.Is6() || !(destination.IsLinkLocalUnicast() || destination.IsMulticast()) {
		bound = 0
	}
	route, ok := e.host.RouteVia(destination, bound)
	if !ok {
		return way{reason: "there is no route to its destination", answers: true}
	}
	return e.follow(route, destination)
}

// cloneWay is the way of a clone to a gateway: where a device is named, by that
// one alone. Where no route leads to the gateway by it, IPv4 takes the packet's
// own destination for a neighbour.
// Ref: net/ipv4/route.c, ip_route_output_key_hash_rcu; net/ipv6/route.c,
// ip6_route_output_flags_noref.
func (e *Engine) cloneWay(gateway, destination netip.Addr, index uint32) way {
	i, found := e.host.ByIndex(int(index))
	if !found {
		return e.outputWay(gateway, 0)
	}
	if route, ok := e.host.RouteVia(gateway, i.Index); ok {
		return e.follow(route, gateway)
	}
	if gateway.Is6() {
		return refused("no route leads to the gateway by that device")
	}
	return way{kind: wayForward, route: host.RouteUnicast, out: e.device(i.Name), hop: destination}
}

// follow is the way along a route of a packet that the host sends.
func (e *Engine) follow(route host.Route, destination netip.Addr) way {
	switch route.Type {
	case host.RouteUnicast, host.RouteMulticast, host.RouteBroadcast:
		return e.along(route, destination)
	case host.RouteLocal, host.RouteAnycast:
		return way{kind: wayForward, route: route.Type, out: e.device("lo"), hop: destination}
	}
	return refused("its route is " + route.Type.String())
}

// rxDevice is the device that the packet came in by.
func (w *Worker) rxDevice() *device { return w.engine.device(w.meta.IIF.Name.String()) }

// noDevice tells whether the packet has no incoming device: the host sent it.
func (w *Worker) noDevice() bool { return w.meta.IIF == packet.Device{} }
