package host

import "net/netip"

// AddrType classifies an address as `fib daddr type` does: for IPv4 by table
// local alone, for IPv6 by the route to it. An index other than 0 asks about
// one interface only, as `fib daddr . iif type` does.
//
// Ref: net/ipv4/fib_frontend.c, inet_dev_addr_type;
// net/ipv6/netfilter/nft_fib_ipv6.c, __nft_fib6_eval_type
func (h *Host) AddrType(address netip.Addr, index int) RouteType {
	return h.AddrTypeFor(0, address, index)
}

// AddrTypeFor is AddrType for a packet of an interface, whose VRF counts where
// index is 0.
func (h *Host) AddrTypeFor(of int, address netip.Addr, index int) RouteType {
	address = plain(address)
	if address.Is4() {
		return h.addrType4(address, index)
	}
	return h.addrType6(address, index, of)
}

func (h *Host) addrType4(address netip.Addr, index int) RouteType {
	switch {
	case address == netip.IPv4Unspecified() || address == limitedBroadcast:
		return RouteBroadcast
	case address.IsMulticast():
		return RouteMulticast
	}
	table := TableLocal
	if vrf := h.vrfTable(index); vrf != 0 {
		table = vrf
	}
	route := h.lookup(table, address, 0)
	if route == nil || index != 0 && route.Interface != index {
		return RouteUnicast
	}
	return route.Type
}

func (h *Host) addrType6(address netip.Addr, index, of int) RouteType {
	if index != 0 {
		of = index
	}
	route, found := h.RouteFor(of, address, 0)
	if address.IsLinkLocalUnicast() && index != 0 && h.vrfTable(index) == 0 {
		route, found = h.RouteVia(address, index)
	}
	switch {
	case !found:
		return RouteUnreachable
	case route.Type == RouteBlackhole || route.Type == RouteUnreachable || route.Type == RouteProhibit || route.Type == RouteThrow:
		return route.Type
	case route.Type == RouteAnycast:
		return RouteAnycast
	case route.Type == RouteLocal && (index == 0 || h.hasAddress(index, address)):
		return RouteLocal
	case address.IsMulticast():
		return RouteMulticast
	}
	return RouteUnicast
}

// hasAddress says whether an address is configured on an interface.
func (h *Host) hasAddress(index int, address netip.Addr) bool {
	i, ok := h.byIndex[index]
	if !ok {
		return false
	}
	for n := range i.Addresses {
		if i.Addresses[n].Prefix.Addr() == address {
			return true
		}
	}
	return false
}

// vrfTable returns the table of the VRF that an interface is, or belongs to;
// 0 when there is none.
func (h *Host) vrfTable(index int) uint32 {
	i, ok := h.byIndex[index]
	if ok && i.Kind != "vrf" && i.MasterIndex != 0 {
		i, ok = h.byIndex[i.MasterIndex]
	}
	if ok && i.Kind == "vrf" {
		return i.Table
	}
	return 0
}
