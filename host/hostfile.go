package host

import "net/netip"

// hostFile reads the members of a host file.
func (d *document) hostFile() Config {
	var c Config
	if d.err != nil {
		return c
	}
	// Group names may be used before the list that defines them.
	groups := map[string]uint32{"default": 0}
	if n := d.root.get("interface_groups"); d.root.kind == objectNode && n != nil {
		for name, number := range d.numbers(n, "interface group") {
			groups[name] = number
		}
	}
	d.object(d.root, "a host", fields{
		"interfaces": func(n *node) {
			d.list(n, "interfaces", func(n *node) { c.Interfaces = append(c.Interfaces, d.iface(n, groups)) })
		},
		"interface_groups": func(n *node) { c.InterfaceGroups = d.numbers(n, "interface group") },
		"users":            func(n *node) { c.Users = d.numbers(n, "user") },
		"groups":           func(n *node) { c.Groups = d.numbers(n, "group") },
		"local": func(n *node) {
			d.list(n, "local", func(n *node) { c.Local = append(c.Local, d.address(n, "local address")) })
		},
		"routes": func(n *node) {
			d.list(n, "routes", func(n *node) { c.Routes = append(c.Routes, d.route(n)) })
		},
		"neighbours": func(n *node) {
			d.list(n, "neighbours", func(n *node) { c.Neighbours = append(c.Neighbours, d.neighbour(n)) })
		},
		"fdb": func(n *node) {
			d.list(n, "fdb", func(n *node) { c.FDB = append(c.FDB, d.forwarding(n)) })
		},
		"sysctl": func(n *node) { c.Sysctl = d.settings(n) },
	})
	return c
}

func (d *document) iface(n *node, groups map[string]uint32) Interface {
	i := Interface{}
	d.object(n, "an interface", fields{
		"name":  func(n *node) { i.Name = d.string(n, "name") },
		"index": func(n *node) { i.Index = int(d.number(n, "index", 1<<31-1)) },
		"type":  func(n *node) { i.Type = d.hardwareType(n) },
		"group": func(n *node) { i.Group = d.numberOrName(n, "interface group", 1<<32-1, groups) },
		"kind":  func(n *node) { i.Kind = d.string(n, "kind") },
		"mac":   func(n *node) { i.MAC, i.HasMAC = d.mac(n, "mac"), true },
		"mtu":   func(n *node) { i.MTU = int(d.number(n, "mtu", 1<<31-1)) },
		"up":    func(n *node) { i.Down = !d.bool(n, "up") },
		"master": func(n *node) {
			i.Master = d.string(n, "master")
		},
		"lower": func(n *node) { i.Lower = d.string(n, "lower") },
		"vlan":  func(n *node) { i.VLAN = uint16(d.number(n, "vlan", 4094)) },
		"table": func(n *node) { i.Table = d.table(n) },
		"addresses": func(n *node) {
			d.list(n, "addresses", func(n *node) { i.Addresses = append(i.Addresses, d.ifaceAddress(n)) })
		},
	})
	return i
}

func (d *document) hardwareType(n *node) uint16 {
	names := make(map[string]uint32, len(hardwareTypes))
	for name, number := range hardwareTypes {
		names[name] = uint32(number)
	}
	return uint16(d.numberOrName(n, "interface type", 1<<16-1, names))
}

// ifaceAddress reads "10.0.0.1/24", or an object that says more.
func (d *document) ifaceAddress(n *node) Address {
	var a Address
	if n.kind == stringNode {
		a.Prefix = d.prefix(n, "address")
		a.Scope = naturalScope(a.Prefix.Addr())
		return a
	}
	scope := false
	d.object(n, "an address", fields{
		"address":       func(n *node) { a.Prefix = d.prefix(n, "address") },
		"broadcast":     func(n *node) { a.Broadcast = d.address(n, "broadcast") },
		"peer":          func(n *node) { a.Peer = d.prefix(n, "peer") },
		"scope":         func(n *node) { a.Scope, scope = d.scope(n), true },
		"secondary":     func(n *node) { a.Secondary = d.bool(n, "secondary") },
		"deprecated":    func(n *node) { a.Deprecated = d.bool(n, "deprecated") },
		"tentative":     func(n *node) { a.Tentative = d.bool(n, "tentative") },
		"noprefixroute": func(n *node) { a.NoPrefixRoute = d.bool(n, "noprefixroute") },
	})
	if d.err == nil && !a.Prefix.IsValid() {
		d.failAt(n, "the field \"address\" is missing")
	}
	if !scope {
		a.Scope = naturalScope(a.Prefix.Addr())
	}
	return a
}

// naturalScope is the scope that an address has unless told otherwise.
func naturalScope(address netip.Addr) Scope {
	switch {
	case address.IsLoopback():
		return ScopeHost
	case address.Is6() && address.IsLinkLocalUnicast():
		return ScopeLink
	}
	return ScopeGlobal
}

func (d *document) scope(n *node) Scope {
	names := make(map[string]uint32, len(scopeNames))
	for _, known := range scopeNames {
		names[known.name] = uint32(known.scope)
	}
	return Scope(d.numberOrName(n, "scope", 255, names))
}

func (d *document) table(n *node) uint32 {
	return d.numberOrName(n, "routing table", 1<<32-1, tableNames)
}

func (d *document) route(n *node) Route {
	r := Route{Type: RouteUnicast, Table: TableMain}
	var dst *node
	ipv6 := false
	d.object(n, "a route", fields{
		"dst":      func(n *node) { dst = n },
		"ipv6":     func(n *node) { ipv6 = d.bool(n, "ipv6") },
		"type":     func(n *node) { r.Type = d.routeType(n) },
		"gateway":  func(n *node) { r.Gateway = d.address(n, "gateway") },
		"dev":      func(n *node) { r.Dev = d.string(n, "dev") },
		"prefsrc":  func(n *node) { r.PrefSrc = d.address(n, "prefsrc") },
		"table":    func(n *node) { r.Table = d.table(n) },
		"metric":   func(n *node) { r.Metric = uint32(d.number(n, "metric", 1<<32-1)) },
		"scope":    func(n *node) { r.Scope = d.scope(n) },
		"protocol": func(n *node) { r.Protocol = d.string(n, "protocol") },
		"nexthops": func(n *node) {
			d.list(n, "nexthops", func(n *node) { r.Nexthops = append(r.Nexthops, d.nexthop(n)) })
		},
	})
	if d.err == nil && dst == nil {
		d.failAt(n, "the field \"dst\" is missing")
	}
	if d.err == nil {
		r.Dst = d.destination(dst, ipv6 || routeIs6(&r))
	}
	return r
}

// routeIs6 tells the family of a default route from its other addresses.
func routeIs6(r *Route) bool {
	if len(r.Nexthops) > 0 && r.Nexthops[0].Gateway.Is6() {
		return true
	}
	return r.Gateway.Is6() || r.PrefSrc.Is6()
}

// destination reads a prefix or "default".
func (d *document) destination(n *node, ipv6 bool) netip.Prefix {
	if n.kind == stringNode && n.text == "default" {
		if ipv6 {
			return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		}
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return d.prefix(n, "dst")
}

func (d *document) routeType(n *node) RouteType {
	names := make(map[string]uint32, len(routeTypeNames))
	for number, name := range routeTypeNames {
		names[name] = uint32(number)
	}
	return RouteType(d.numberOrName(n, "route type", uint64(len(routeTypeNames)-1), names))
}

func (d *document) nexthop(n *node) Nexthop {
	var hop Nexthop
	d.object(n, "a next hop", fields{
		"gateway": func(n *node) { hop.Gateway = d.address(n, "gateway") },
		"dev":     func(n *node) { hop.Dev = d.string(n, "dev") },
		"weight":  func(n *node) { hop.Weight = int(d.number(n, "weight", 256)) },
	})
	return hop
}

func (d *document) neighbour(n *node) Neighbour {
	var e Neighbour
	d.object(n, "a neighbour", fields{
		"dst":   func(n *node) { e.Address = d.address(n, "dst") },
		"dev":   func(n *node) { e.Dev = d.string(n, "dev") },
		"mac":   func(n *node) { e.MAC, e.HasMAC = d.mac(n, "mac"), true },
		"state": func(n *node) { e.State = d.string(n, "state") },
	})
	return e
}

func (d *document) forwarding(n *node) ForwardingEntry {
	var e ForwardingEntry
	d.object(n, "a forwarding entry", fields{
		"mac":    func(n *node) { e.MAC = d.mac(n, "mac") },
		"dev":    func(n *node) { e.Dev = d.string(n, "dev") },
		"bridge": func(n *node) { e.Bridge = d.string(n, "bridge") },
		"vlan":   func(n *node) { e.VLAN = uint16(d.number(n, "vlan", 4094)) },
		"state":  func(n *node) { e.State = d.string(n, "state") },
	})
	return e
}

// settings reads an object from names to numbers or strings.
func (d *document) settings(n *node) map[string]string {
	if d.err != nil || !d.want(n, objectNode, "sysctl") {
		return nil
	}
	values := make(map[string]string, len(n.members))
	for i := range n.members {
		m := &n.members[i]
		if m.value.kind != numberNode && m.value.kind != stringNode {
			d.failAt(m.value, "a setting must be a number or a string")
			return nil
		}
		values[m.name] = m.value.text
	}
	return values
}
