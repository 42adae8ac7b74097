package engine

import (
	"math/bits"
	"net/netip"

	"verdict/host"
	"verdict/packet"
)

// sourceAddress4 chooses an interface's address towards a destination: the
// first global primary one whose network holds the next hop, else the first.
// An interface without address gets that of another one; where the host's
// addresses are not known, the packet's own local address is taken.
// Ref: devinet.c, inet_select_addr.
func (e *Engine) sourceAddress4(d packet.Device, destination netip.Addr) (netip.Addr, bool) {
	i, ok := e.host.ByIndex(int(d.Index))
	if !ok {
		return e.anyLocal(false)
	}
	hop := destination
	if route, ok := e.host.Route(destination); ok && route.Gateway.IsValid() {
		hop = route.Gateway
	}
	var first netip.Addr
	for _, a := range i.Addresses {
		addr := a.Prefix.Addr()
		if !addr.Is4() || a.Scope != host.ScopeGlobal || a.Secondary {
			continue
		}
		if a.Prefix.Masked().Contains(hop) {
			return addr, true
		}
		if !first.IsValid() {
			first = addr
		}
	}
	if first.IsValid() {
		return first, true
	}
	return e.anyLocal(false)
}

// sourceAddress6 chooses an address towards a destination by the rules of
// RFC 6724, those of home addresses and privacy apart.
// Ref: addrconf.c, ipv6_dev_get_saddr; RFC 6724 §5.
func (e *Engine) sourceAddress6(d packet.Device, destination netip.Addr) (netip.Addr, bool) {
	if _, ok := e.host.ByIndex(int(d.Index)); !ok {
		return e.anyLocal(true)
	}
	onLink := destination.IsLinkLocalUnicast() || destination.IsMulticast()
	var best netip.Addr
	var bestScore sourceScore
	for _, i := range e.host.Interfaces() {
		out := uint32(i.Index) == d.Index
		if onLink && !out {
			continue
		}
		for _, a := range i.Addresses {
			addr := a.Prefix.Addr()
			if addr.Is4() || addr.IsLoopback() && addr != destination || a.Tentative {
				continue
			}
			score := scoreSource(&a, destination, out)
			if !best.IsValid() || score.better(&bestScore) {
				best, bestScore = addr, score
			}
		}
	}
	if !best.IsValid() {
		return e.anyLocal(true)
	}
	return best, true
}

// sourceScore holds what the rules say of an address, in their order; higher
// is better.
type sourceScore [6]int

func (s *sourceScore) better(o *sourceScore) bool {
	for i := range s {
		if s[i] != o[i] {
			return s[i] > o[i]
		}
	}
	return false
}

func scoreSource(a *host.Address, destination netip.Addr, out bool) sourceScore {
	addr := a.Prefix.Addr()
	scope := scope6(addr)
	if wanted := scope6(destination); scope >= wanted {
		scope = -scope
	} else {
		scope -= 128
	}
	return sourceScore{
		one(addr == destination), scope, one(!a.Deprecated), one(out),
		one(label6(addr) == label6(destination)), min(commonBits(addr, destination), a.Prefix.Bits()),
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scope6 is an address's scope, with the numbers of multicast scopes.
// Ref: RFC 4291 §2.7; RFC 6724 §3.1.
func scope6(a netip.Addr) int {
	const nodeLocal, linkLocal, siteLocal, global = 1, 2, 5, 14
	b := a.As16()
	switch {
	case a.IsMulticast():
		return int(b[1] & 0xf)
	case a.IsLoopback():
		return nodeLocal
	case a.IsLinkLocalUnicast():
		return linkLocal
	case b[0] == 0xfe && b[1]&0xc0 == 0xc0:
		return siteLocal
	}
	return global
}

// labels6 are the labels of the kernel's default policy, longest prefix first.
// Ref: addrlabel.c, ip6addrlbl_init_table.
var labels6 = []struct {
	prefix netip.Prefix
	label  int
}{
	{netip.MustParsePrefix("::1/128"), 0},
	{netip.MustParsePrefix("::ffff:0:0/96"), 4},
	{netip.MustParsePrefix("::/96"), 3},
	{netip.MustParsePrefix("2001::/32"), 6},
	{netip.MustParsePrefix("2001:10::/28"), 7},
	{netip.MustParsePrefix("3ffe::/16"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
	{netip.MustParsePrefix("fec0::/10"), 11},
	{netip.MustParsePrefix("fc00::/7"), 5},
}

func label6(a netip.Addr) int {
	for _, l := range labels6 {
		if l.prefix.Contains(a) {
			return l.label
		}
	}
	return 1
}

// commonBits is the length of the longest common prefix.
func commonBits(a, b netip.Addr) int {
	x, y := a.As16(), b.As16()
	for i := range x {
		if d := x[i] ^ y[i]; d != 0 {
			return i*8 + bits.LeadingZeros8(d)
		}
	}
	return 128
}

// firstAddress is the address that redirect takes from the incoming interface:
// the first of the family; of IPv6 the first that is neither tentative nor an
// IPv4 address in disguise, and of the destination's scope where that is narrow.
// Ref: nf_nat_redirect.c, nf_nat_redirect_ipv4, nf_nat_redirect_ipv6.
func (e *Engine) firstAddress(d packet.Device, destination netip.Addr) (netip.Addr, bool) {
	six := destination.Is6()
	i, ok := e.host.ByIndex(int(d.Index))
	if !ok || len(i.Addresses) == 0 {
		return e.anyLocal(six)
	}
	for _, a := range i.Addresses {
		addr := a.Prefix.Addr()
		if addr.Is4() == six || six && (a.Tentative || addr.Is4In6()) {
			continue
		}
		if scope := narrowScope6(destination); scope != 0 && scope != narrowScope6(addr) {
			continue
		}
		return addr, true
	}
	return netip.Addr{}, false
}

// narrowScope6 is the scope of an IPv6 address as multicast addresses write it,
// if it is that of a node, a link, or a site; else 0.
// Ref: addrconf_core.c, __ipv6_addr_type.
func narrowScope6(a netip.Addr) uint8 {
	const node, link, site = 1, 2, 5
	b := a.As16()
	switch {
	case a.Is4():
	case a.IsMulticast():
		if scope := b[1] & 15; scope == node || scope == link || scope == site {
			return scope
		}
	case a.IsLoopback():
		return node
	case a.IsLinkLocalUnicast():
		return link
	case b[0] == 0xfe && b[1]&0xc0 == 0xc0:
		return site
	}
	return 0
}

// anyLocal is the first global address of the host, whatever its interface.
func (e *Engine) anyLocal(six bool) (netip.Addr, bool) {
	for _, list := range [][]netip.Addr{e.options.Local, e.host.Addresses()} {
		for _, a := range list {
			if a.Is4() != six && !a.IsLoopback() && !a.IsLinkLocalUnicast() {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}
