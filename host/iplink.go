package host

import "net/netip"

// link reads an item of ip -j link or ip -j addr; an interface may appear in
// both.
func (r *ipReader) link(n *node) {
	name := r.text(n, "ifname")
	place, known := r.seen[name]
	if !known {
		place = len(r.config.Interfaces)
		r.seen[name] = place
		r.config.Interfaces = append(r.config.Interfaces, Interface{Name: name})
	}
	i := &r.config.Interfaces[place]
	i.Index = int(r.number(n, "ifindex", 1<<31-1))
	i.MTU = int(r.number(n, "mtu", 1<<31-1))
	if kind := n.get("link_type"); kind != nil {
		i.Type = r.hardware(kind)
	}
	if group := n.get("group"); group != nil {
		i.Group = r.named(group, "interface group", map[string]uint32{"default": 0})
	}
	if mac := n.get("address"); mac != nil {
		parsed, err := ParseMAC(mac.text)
		i.MAC, i.HasMAC = parsed, err == nil // tunnels print an IP address here
	}
	i.Down = !flagListed(n, "flags", "UP")
	if master := r.text(n, "master"); master != "" {
		i.Master = master
	}
	if lower := r.text(n, "link"); lower != "" {
		i.Lower = lower
	}
	if info := n.get("linkinfo"); info != nil {
		r.linkInfo(info, i)
	}
	if list := n.get("addr_info"); list != nil {
		i.Addresses = nil
		r.list(list, "addr_info", func(n *node) { i.Addresses = append(i.Addresses, r.address(n)) })
	}
}

// hardware reads a link type, a name or, with ip -N, a number; a name that
// ip does not know is printed as [number].
func (r *ipReader) hardware(n *node) uint16 {
	if len(n.text) > 2 && n.text[0] == '[' && n.text[len(n.text)-1] == ']' {
		bare := *n
		bare.text = n.text[1 : len(n.text)-1]
		return r.d.hardwareType(&bare)
	}
	return r.d.hardwareType(n)
}

// named reads a number, or one of a few names that mean the same everywhere.
func (r *ipReader) named(n *node, what string, names map[string]uint32) uint32 {
	value := r.d.numberOrName(n, what, 1<<32-1, names)
	if r.d.err != nil && n.kind == stringNode {
		r.d.err.Reason += " (a name of that machine's own; print numbers with ip -N)"
	}
	return value
}

func (r *ipReader) linkInfo(n *node, i *Interface) {
	if kind := r.text(n, "info_kind"); kind != "" {
		i.Kind = kind
	}
	data := n.get("info_data")
	if data == nil {
		return
	}
	switch i.Kind {
	case "vrf":
		if table := data.get("table"); table != nil {
			i.Table = r.d.table(table)
		}
	case "vlan":
		i.VLAN = uint16(r.number(data, "id", 4095))
	}
}

// address reads an item of addr_info.
func (r *ipReader) address(n *node) Address {
	a := Address{
		Secondary:     r.flag(n, "secondary"),
		Deprecated:    r.flag(n, "deprecated"),
		Tentative:     r.flag(n, "tentative"),
		NoPrefixRoute: r.flag(n, "noprefixroute"),
	}
	bits := int(r.number(n, "prefixlen", 128))
	local := n.get("local")
	if local == nil {
		r.d.failAt(n, "the field \"local\" is missing")
		return a
	}
	address := r.d.address(local, "local")
	if r.d.err != nil {
		return a
	}
	a.Prefix = netip.PrefixFrom(address, min(bits, address.BitLen()))
	if peer := n.get("address"); peer != nil { // the prefix length is the peer's
		other := r.d.address(peer, "address")
		a.Peer, a.Prefix = netip.PrefixFrom(other, bits), netip.PrefixFrom(address, address.BitLen())
	}
	if broadcast := n.get("broadcast"); broadcast != nil {
		a.Broadcast = r.d.address(broadcast, "broadcast")
	}
	if scope := n.get("scope"); scope != nil {
		a.Scope = r.d.scope(scope)
	}
	return a
}
