package host

import "net/netip"

// ipv6Metric is the metric of the kernel's own IPv6 routes.
//
// Ref: include/net/ip6_route.h, IP6_RT_PRIO_ADDRCONF
const ipv6Metric = 256

// kernelRoutes returns the routes that the kernel makes for the addresses of
// interfaces, as far as the configuration does not give them itself.
//
// Ref: net/ipv4/fib_frontend.c, fib_add_ifaddr; net/ipv6/addrconf.c
func (h *Host) kernelRoutes() []Route {
	d := derivation{host: h, present: make(map[routeKey]bool), given: make(map[localKey]bool)}
	for i := range h.config.Routes {
		route := &h.config.Routes[i]
		table := route.Table
		if table == 0 {
			table = TableMain
		}
		if table == TableLocal || route.Type == RouteLocal {
			d.given[localKey{table, route.Dst.Addr().Is4()}] = true
		}
		d.present[routeKey{route.Dst.Masked(), route.Dev, table}] = true
	}
	for _, i := range h.interfaces {
		d.localTable, d.mainTable = TableLocal, TableMain
		if vrf := h.vrfTable(i.Index); vrf != 0 {
			d.localTable, d.mainTable = vrf, vrf
		}
		for n := range i.Addresses {
			d.address(i, &i.Addresses[n])
		}
	}
	for _, address := range h.config.Local {
		address = plain(address)
		d.add(Route{Dst: netip.PrefixFrom(address, address.BitLen()), Type: RouteLocal, Table: TableLocal,
			Dev: "lo", Interface: loopbackIndex, Scope: ScopeHost})
	}
	return d.routes
}

// routeKey tells routes apart, localKey the local tables of both families.
type routeKey struct {
	dst   netip.Prefix
	dev   string
	table uint32
}

type localKey struct {
	table uint32
	ipv4  bool
}

// derivation collects the routes for the addresses of one interface after
// the other.
type derivation struct {
	host                  *Host
	given                 map[localKey]bool // local tables that the configuration gives
	present               map[routeKey]bool // routes that exist already
	localTable, mainTable uint32
	routes                []Route
}

func (d *derivation) address(i *Interface, a *Address) {
	if a.Prefix.Addr().Is4() {
		d.ipv4(i, a)
	} else if !i.Down {
		d.ipv6(i, a)
	}
}

func (d *derivation) ipv4(i *Interface, a *Address) {
	address := a.Prefix.Addr()
	d.local(RouteLocal, netip.PrefixFrom(address, 32), i, address, 0)
	if i.Down {
		return
	}
	network := a.Prefix.Masked()
	if a.Peer.IsValid() {
		network = a.Peer.Masked()
	}
	if a.Broadcast.IsValid() && a.Broadcast != limitedBroadcast {
		d.local(RouteBroadcast, netip.PrefixFrom(a.Broadcast, 32), i, address, 0)
	}
	if a.Secondary || network.Addr() == netip.IPv4Unspecified() || network == netip.PrefixFrom(address, 32) {
		return
	}
	if i.Type == typeLoopback {
		d.local(RouteLocal, network, i, address, 0)
	} else if !a.NoPrefixRoute {
		d.network(Route{Dst: network, Dev: i.Name, Interface: i.Index, PrefSrc: address, Scope: ScopeLink})
	}
	if network.Bits() < 31 {
		if last := lastAddress4(network); last != a.Broadcast {
			d.local(RouteBroadcast, netip.PrefixFrom(last, 32), i, address, 0)
		}
	}
}

func (d *derivation) ipv6(i *Interface, a *Address) {
	if a.Tentative {
		return
	}
	address := a.Prefix.Addr()
	d.local(RouteLocal, netip.PrefixFrom(address, 128), i, netip.Addr{}, 0)
	if i.Type == typeLoopback {
		return
	}
	network := a.Prefix.Masked()
	if a.Peer.IsValid() {
		network = a.Peer.Masked()
	}
	if !a.NoPrefixRoute {
		d.network(Route{Dst: network, Dev: i.Name, Interface: i.Index, Metric: ipv6Metric})
	}
	if network.Bits() < 127 && d.host.config.Sysctl["net/ipv6/conf/all/forwarding"] == "1" {
		d.local(RouteAnycast, netip.PrefixFrom(network.Addr(), 128), i, netip.Addr{}, 0)
	}
	d.local(RouteMulticast, multicast6, i, netip.Addr{}, ipv6Metric)
}

var multicast6 = netip.MustParsePrefix("ff00::/8")

// local adds a route to the local table unless that table is given.
func (d *derivation) local(kind RouteType, dst netip.Prefix, i *Interface, source netip.Addr, metric uint32) {
	if d.given[localKey{d.localTable, dst.Addr().Is4()}] {
		return
	}
	scope := ScopeGlobal
	switch {
	case dst.Addr().Is6():
	case kind == RouteLocal:
		scope = ScopeHost
	default:
		scope = ScopeLink
	}
	d.add(Route{Dst: dst, Type: kind, Table: d.localTable, Metric: metric, Dev: i.Name, Interface: i.Index,
		PrefSrc: source, Scope: scope, Protocol: "kernel"})
}

// network adds the route to a connected network.
func (d *derivation) network(r Route) {
	r.Type, r.Table, r.Protocol = RouteUnicast, d.mainTable, "kernel"
	d.add(r)
}

// add adds a route unless it exists.
func (d *derivation) add(r Route) {
	key := routeKey{r.Dst, r.Dev, r.Table}
	if d.present[key] {
		return
	}
	d.present[key] = true
	d.routes = append(d.routes, r)
}

// lastAddress4 returns the broadcast address of an IPv4 network.
func lastAddress4(network netip.Prefix) netip.Addr {
	octets := network.Masked().Addr().As4()
	for bit := network.Bits(); bit < 32; bit++ {
		octets[bit/8] |= 0x80 >> (bit % 8)
	}
	return netip.AddrFrom4(octets)
}
