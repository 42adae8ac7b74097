package host

import (
	"fmt"
	"net/netip"
)

// RouteType is the kind of a route, with the kernel's RTN_ numbers; they are
// the values of the address types that fib expressions return, too.
type RouteType uint8

const (
	RouteUnspec      RouteType = iota
	RouteUnicast               // to a gateway or a connected network
	RouteLocal                 // an address of the host itself
	RouteBroadcast             // a broadcast address of a connected network
	RouteAnycast               // accepted as local, never a source
	RouteMulticast             // a multicast group
	RouteBlackhole             // discarded silently
	RouteUnreachable           // refused as unreachable
	RouteProhibit              // refused as prohibited
	RouteThrow                 // the search goes on in the next table
)

var routeTypeNames = [...]string{"unspec", "unicast", "local", "broadcast", "anycast", "multicast",
	"blackhole", "unreachable", "prohibit", "throw"}

// String returns the name that the ip command uses.
func (t RouteType) String() string {
	if int(t) < len(routeTypeNames) {
		return routeTypeNames[t]
	}
	return fmt.Sprint(uint8(t))
}

// Numbers of the tables that every host has, in which look-ups search them:
// local, main, default.
const (
	TableDefault uint32 = 253
	TableMain    uint32 = 254
	TableLocal   uint32 = 255
)

var tableNames = map[string]uint32{"default": TableDefault, "main": TableMain, "local": TableLocal}

// Route is one entry of a routing table.
type Route struct {
	Dst     netip.Prefix // where it leads; 0.0.0.0/0 and ::/0 are the defaults
	Type    RouteType    // zero means RouteUnicast
	Table   uint32       // zero means TableMain
	Metric  uint32       // of routes with equal Dst the lowest wins
	Gateway netip.Addr   // next hop; invalid on connected networks
	// Dev names the device packets leave by, empty for routes without one;
	// Interface is its index, which New fills in.
	Dev       string
	Interface int
	PrefSrc   netip.Addr // preferred source address, if any
	Scope     Scope
	Protocol  string // who made it: "kernel", "static", ...
	// Nexthops are the ways of a multipath route; Gateway, Dev and Interface
	// are then those of the first.
	Nexthops []Nexthop
}

// Nexthop is one way of a multipath route.
type Nexthop struct {
	Gateway   netip.Addr
	Dev       string
	Interface int
	Weight    int // share of the traffic, at least 1
}

// Uses says whether the route, or one way of a multipath route, leaves by an
// interface.
func (r *Route) Uses(index int) bool {
	if len(r.Nexthops) == 0 {
		return r.Interface == index
	}
	for i := range r.Nexthops {
		if r.Nexthops[i].Interface == index {
			return true
		}
	}
	return false
}

// Route finds the route to an address as the kernel does for a host without
// policy routing: the longest prefix in table local, then main, then default;
// of equal prefixes the one with the lowest metric, of equal metrics the one
// listed first. Routes that refuse (blackhole, unreachable, prohibit) are
// found, and returned with their type. Cost: one probe for each prefix length
// in use.
//
// Ref: fib_trie.c, fib_table_lookup; fib_rules.c
func (h *Host) Route(dst netip.Addr) (Route, bool) { return h.RouteVia(dst, 0) }

// RouteVia is Route among the routes that leave by one interface; 0 admits
// all of them.
func (h *Host) RouteVia(dst netip.Addr, index int) (Route, bool) {
	dst = plain(dst)
	for _, table := range [...]uint32{TableLocal, TableMain, TableDefault} {
		route := h.lookup(table, dst, index)
		if route != nil && route.Type != RouteThrow {
			return *route, true
		}
	}
	return Route{}, false
}

// RouteFor is RouteVia for a packet of an interface: where that is a VRF, or
// belongs to one, the VRF's table is searched ahead of main, as the kernel's
// rule for all VRFs says. Interface 0 is none.
//
// Ref: net/core/fib_rules.c, fib_rule_match; net/l3mdev/l3mdev.c
func (h *Host) RouteFor(interfaceIndex int, dst netip.Addr, index int) (Route, bool) {
	table := h.vrfTable(interfaceIndex)
	if table == 0 {
		return h.RouteVia(dst, index)
	}
	dst = plain(dst)
	for _, table := range [...]uint32{TableLocal, table, TableMain, TableDefault} {
		route := h.lookup(table, dst, index)
		if route != nil && route.Type != RouteThrow {
			return *route, true
		}
	}
	return Route{}, false
}

// RouteIn is Route in a single table, which is how a VRF searches its own. A
// throw route is found as such.
func (h *Host) RouteIn(table uint32, dst netip.Addr) (Route, bool) {
	if route := h.lookup(table, plain(dst), 0); route != nil {
		return *route, true
	}
	return Route{}, false
}

// plain strips what a packet's address does not have: a zone, and the IPv6
// form of an IPv4 address.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// IsLocal says whether packets to an address are for the host itself: the
// address is one of its own, or lies in a prefix that is local, as 127.0.0.0/8
// is. Anycast addresses count as local.
func (h *Host) IsLocal(address netip.Addr) bool {
	route := h.lookup(TableLocal, plain(address), 0)
	return route != nil && (route.Type == RouteLocal || route.Type == RouteAnycast)
}

// LocalType4 is the type of the route to an IPv4 address, as a number, in table
// local: what the address is to the host itself. RouteUnspec if it is nothing.
// Most addresses cost one look at memory.
func (h *Host) LocalType4(address uint32) RouteType {
	if h.local == nil {
		return RouteUnspec
	}
	if route := h.local.v4.lookup4(address, 0); route != nil {
		return route.Type
	}
	return RouteUnspec
}

// IsBroadcast says whether an address is 255.255.255.255 or a broadcast
// address of a connected network.
func (h *Host) IsBroadcast(address netip.Addr) bool {
	address = plain(address)
	if address == limitedBroadcast {
		return true
	}
	route := h.lookup(TableLocal, address, 0)
	return route != nil && route.Type == RouteBroadcast
}

var limitedBroadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})
