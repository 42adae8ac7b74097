package host

import (
	"fmt"
	"net/netip"
)

// route reads an item of ip -j route, or of ip -6 -j route.
func (r *ipReader) route(n *node, ipv6 bool) {
	if tos := n.get("tos"); tos != nil {
		r.d.failAt(tos, "routes by type of service are not supported")
		return
	}
	if flagListed(n, "flags", "dead") {
		return // the kernel passes over it while its device is down
	}
	route := Route{Type: RouteUnicast, Table: TableMain, Dev: r.text(n, "dev"),
		Metric: uint32(r.number(n, "metric", 1<<32-1)), Protocol: r.text(n, "protocol"), Gateway: r.gateway(n)}
	if kind := n.get("type"); kind != nil {
		route.Type = r.d.routeType(kind)
	}
	if table := n.get("table"); table != nil {
		route.Table = r.named(table, "routing table", tableNames)
	}
	if scope := n.get("scope"); scope != nil {
		route.Scope = r.d.scope(scope)
	}
	if source := n.get("prefsrc"); source != nil {
		route.PrefSrc = r.d.address(source, "prefsrc")
	}
	// "via" stands for a gateway of the other family, which only IPv4 has.
	crossed := n.get("via") != nil
	if hops := n.get("nexthops"); hops != nil {
		r.list(hops, "nexthops", func(n *node) {
			crossed = crossed || n.get("via") != nil
			if !flagListed(n, "flags", "dead") {
				route.Nexthops = append(route.Nexthops,
					Nexthop{Gateway: r.gateway(n), Dev: r.text(n, "dev"), Weight: int(r.number(n, "weight", 256))})
			}
		})
	}
	dst := n.get("dst")
	if dst == nil {
		r.d.failAt(n, "the field \"dst\" is missing")
	}
	if r.d.err != nil {
		return
	}
	// Only IPv6 routes have a router preference.
	route.Dst = r.d.destination(dst, ipv6 || n.get("pref") != nil || !crossed && routeIs6(&route))
	r.add(&route)
}

// gateway reads the next hop, which may be of the other family.
func (r *ipReader) gateway(n *node) netip.Addr {
	if gateway := n.get("gateway"); gateway != nil {
		return r.d.address(gateway, "gateway")
	}
	if via := n.get("via"); via != nil {
		if other := via.get("host"); other != nil {
			return r.d.address(other, "via")
		}
	}
	return netip.Addr{}
}

// add keeps a route unless an overlapping output has given it before.
func (r *ipReader) add(route *Route) {
	key := fmt.Sprint(*route)
	if r.routes[key] || r.d.err != nil {
		return
	}
	r.routes[key] = true
	if route.Table == TableMain {
		r.mainGiven[familyIndex(route.Dst.Addr())] = true
	}
	r.config.Routes = append(r.config.Routes, *route)
}

func familyIndex(address netip.Addr) int {
	if address.Is4() {
		return 0
	}
	return 1
}

// markPrefixRoutes keeps New from making routes to connected networks that
// the given tables do not have.
func (r *ipReader) markPrefixRoutes() {
	present := make(map[routeKey]bool)
	for i := range r.config.Routes {
		route := &r.config.Routes[i]
		present[routeKey{route.Dst, route.Dev, 0}] = true
	}
	for i := range r.config.Interfaces {
		dev := &r.config.Interfaces[i]
		for n := range dev.Addresses {
			a := &dev.Addresses[n]
			network := a.Prefix.Masked()
			if a.Peer.IsValid() {
				network = a.Peer.Masked()
			}
			if r.mainGiven[familyIndex(network.Addr())] && !present[routeKey{network, dev.Name, 0}] {
				a.NoPrefixRoute = true
			}
		}
	}
}
