package iptables

import (
	"fmt"
	"net/netip"
	"strings"

	"verdict/catalog"
	"verdict/host"
	"verdict/packet"
)

const (
	hookOutput     = catalog.HookOutput
	hookPrerouting = catalog.HookPrerouting
	hookInput      = catalog.HookInput
	hookForward    = catalog.HookForward
)

func init() {
	registerMatch(
		&extension{name: "iprange", match: made[iprangeMatch](), options: []option{
			optNot("src-range", 1, func(x *iprangeMatch, s *setting) { x.source = s.addressRange() }),
			optNot("dst-range", 1, func(x *iprangeMatch, s *setting) { x.destination = s.addressRange() }),
		}, finish: finishing(func(x *iprangeMatch, _ *Rule, _ family) string {
			return needed(x.source.given || x.destination.given, "--src-range or --dst-range")
		})},
		&extension{name: "mac", match: made[macMatch](), options: []option{
			optNot("mac-source", 1, (*macMatch).read),
		}, hooks: atPrerouting | atInput | atForward, finish: finishing(func(x *macMatch, _ *Rule, _ family) string { return needed(x.given, "--mac-source") })},
		&extension{name: "addrtype", match: made[addrtypeMatch](), options: []option{
			optNot("src-type", 1, func(x *addrtypeMatch, s *setting) { x.source, x.notSource = s.addressTypes(), s.not }),
			optNot("dst-type", 1, func(x *addrtypeMatch, s *setting) { x.destination, x.notDestination = s.addressTypes(), s.not }),
			opt("limit-iface-in", 0, func(x *addrtypeMatch, s *setting) { x.in = true }),
			opt("limit-iface-out", 0, func(x *addrtypeMatch, s *setting) { x.out = true }),
		}, finish: finishing(func(x *addrtypeMatch, _ *Rule, _ family) string {
			switch {
			case x.source == 0 && x.destination == 0:
				return "--src-type or --dst-type is missing"
			case x.in && x.out:
				return "--limit-iface-in and --limit-iface-out exclude each other"
			}
			return ""
		})},
		&extension{name: "rpfilter", match: made[rpfilterMatch](), options: []option{
			opt("loose", 0, func(x *rpfilterMatch, s *setting) { x.loose = true }),
			opt("validmark", 0, func(x *rpfilterMatch, s *setting) { x.mark = true }),
			opt("accept-local", 0, func(x *rpfilterMatch, s *setting) { x.local = true }),
			opt("invert", 0, func(x *rpfilterMatch, s *setting) { x.not = true }),
		}, tables: []string{"raw", "mangle"}, hooks: atPrerouting},
		&extension{name: "pkttype", match: made[pkttypeMatch](), options: []option{
			optNot("pkt-type", 1, func(x *pkttypeMatch, s *setting) {
				x.kind, x.not, x.given = s.choice(s.word(0), pktTypes, "packet type"), s.not, true
			}),
		}, finish: finishing(func(x *pkttypeMatch, _ *Rule, _ family) string { return needed(x.given, "--pkt-type") })},
	)
}

// addressRange is an inclusive range of addresses.
type addressRange struct {
	low, high netip.Addr
	not       bool
	given     bool
}

func (s *setting) addressRange() addressRange {
	low, high, two := strings.Cut(s.word(0), "-")
	r := addressRange{low: s.address(low), not: s.not, given: true}
	r.high = r.low
	if two {
		r.high = s.address(high)
	}
	return r
}

func (r addressRange) holds(a netip.Addr) bool { return !a.Less(r.low) && !r.high.Less(a) }

// iprangeMatch is -m iprange. Ref: xt_iprange.c.
type iprangeMatch struct{ source, destination addressRange }

func (x *iprangeMatch) Name() string { return "iprange" }

func (x *iprangeMatch) appendSave(b []byte) []byte {
	for i, r := range []addressRange{x.source, x.destination} {
		if r.given {
			b = fmt.Appendf(appendNot(b, r.not), " --%s-range %s-%s", []string{"src", "dst"}[i], r.low, r.high)
		}
	}
	return b
}

func (x *iprangeMatch) translate(t *translator) bool {
	for i, r := range []addressRange{x.source, x.destination} {
		if !r.given {
			continue
		}
		field := []string{"saddr", "daddr"}[i]
		switch {
		case t.reference || r.low.Less(r.high):
			t.addf("%s %s %s%s-%s", t.ip(), field, t.not(r.not), r.low, r.high)
		case r.low == r.high:
			t.addf("%s %s %s%s", t.ip(), field, t.not(r.not), r.low)
		case r.not: // a reversed range holds nothing
		default:
			return t.fail("the range is reversed, so that the rule never matches")
		}
	}
	return true
}

func (x *iprangeMatch) matches(m *Machine) result {
	if x.source.given && x.source.holds(m.pkt.View.SrcAddr()) == x.source.not {
		return resultFalse
	}
	return truth(!x.destination.given || x.destination.holds(m.pkt.View.DstAddr()) != x.destination.not)
}

// macMatch is -m mac. Ref: xt_mac.c.
type macMatch struct {
	address host.MAC
	not     bool
	given   bool
}

func (x *macMatch) read(s *setting) {
	x.not, x.given = s.not, true
	parts := strings.Split(s.word(0), ":")
	if len(parts) != 6 {
		s.fail("%s is no MAC address", s.word(0))
		return
	}
	for i, p := range parts {
		x.address[i] = byte(s.number("0x"+p, 255))
	}
}

func (x *macMatch) text() string {
	a := x.address
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5])
}

func (x *macMatch) Name() string { return "mac" }

func (x *macMatch) appendSave(b []byte) []byte {
	return append(append(appendNot(b, x.not), " --mac-source "...), x.text()...)
}

func (x *macMatch) translate(t *translator) bool {
	t.addf("ether saddr %s%s", t.not(x.not), x.text())
	return true
}

// arphrdEther is the type of Ethernet devices.
const arphrdEther = 1

func (x *macMatch) matches(m *Machine) result {
	if m.pkt.Meta.IIF.Type != arphrdEther {
		return resultFalse
	}
	var source [6]byte
	switch m.pkt.View.Load(packet.BaseLink, 6, 6, source[:]) {
	case packet.Break:
		return resultFalse
	case packet.Cut:
		return resultCut
	}
	return truth((source == [6]byte(x.address)) != x.not)
}

// addrTypes are the types of addresses by the kernel's numbers.
var addrTypes = []string{"UNSPEC", "UNICAST", "LOCAL", "BROADCAST", "ANYCAST", "MULTICAST", "BLACKHOLE", "UNREACHABLE", "PROHIBIT", "THROW", "NAT", "XRESOLVE"}

func (s *setting) addressTypes() uint16 {
	var bits uint16
	for _, i := range s.list(addrTypes, "type of address") {
		bits |= 1 << i
	}
	return bits
}

// addrtypeMatch is -m addrtype. Ref: xt_addrtype.c.
type addrtypeMatch struct {
	source, destination       uint16 // bits by type
	notSource, notDestination bool
	in, out                   bool
}

func (x *addrtypeMatch) uses(u *Uses) bool {
	u.Routes = true
	return false
}

func (x *addrtypeMatch) Name() string { return "addrtype" }

func (x *addrtypeMatch) appendSave(b []byte) []byte {
	if x.source != 0 {
		b = fmt.Appendf(appendNot(b, x.notSource), " --src-type %s", strings.Join(chosen(uint32(x.source), addrTypes), ","))
	}
	if x.destination != 0 {
		b = fmt.Appendf(appendNot(b, x.notDestination), " --dst-type %s", strings.Join(chosen(uint32(x.destination), addrTypes), ","))
	}
	if x.in {
		b = append(b, " --limit-iface-in"...)
	}
	if x.out {
		b = append(b, " --limit-iface-out"...)
	}
	return b
}

// translate writes one test for each side; the reference forgets the second.
func (x *addrtypeMatch) translate(t *translator) bool {
	sides := []struct {
		field string
		bits  uint16
		not   bool
	}{{"saddr", x.source, x.notSource}, {"daddr", x.destination, x.notDestination}}
	for _, s := range sides {
		if s.bits == 0 {
			continue
		}
		key := "fib " + s.field
		if x.in {
			key += " . iif"
		}
		if x.out {
			key += " . oif"
		}
		names := lower(chosen(uint32(s.bits), addrTypes))
		text := names[0]
		if len(names) > 1 {
			text = "{ " + strings.Join(names, ", ") + " }"
		}
		t.addf("%s type %s%s", key, t.not(s.not), text)
		if t.reference {
			break
		}
	}
	return true
}

func (x *addrtypeMatch) matches(m *Machine) result {
	device := 0
	switch {
	case x.in:
		device = int(m.pkt.Meta.IIF.Index)
	case x.out:
		device = int(m.pkt.Meta.OIF.Index)
	}
	if x.source != 0 && x.holds(m, m.pkt.View.SrcAddr(), device, x.source) == x.notSource {
		return resultFalse
	}
	return truth(x.destination == 0 || x.holds(m, m.pkt.View.DstAddr(), device, x.destination) != x.notDestination)
}

func (x *addrtypeMatch) holds(m *Machine, a netip.Addr, device int, bits uint16) bool {
	kind := m.Host.AddrType(a, device)
	if a.Is6() && a.IsUnspecified() {
		kind = host.RouteUnspec
	}
	return bits>>kind&1 == 1
}

// rpfilterMatch is -m rpfilter. Ref: ipt_rpfilter.c, ip6t_rpfilter.c.
type rpfilterMatch struct{ loose, mark, local, not bool }

func (x *rpfilterMatch) uses(u *Uses) bool {
	u.Routes = true
	return false
}

func (x *rpfilterMatch) Name() string { return "rpfilter" }

func (x *rpfilterMatch) appendSave(b []byte) []byte {
	for _, o := range []struct {
		set  bool
		name string
	}{{x.loose, "loose"}, {x.mark, "validmark"}, {x.local, "accept-local"}, {x.not, "invert"}} {
		if o.set {
			b = append(append(b, " --"...), o.name...)
		}
	}
	return b
}

func (x *rpfilterMatch) translate(t *translator) bool {
	if x.local {
		return t.fail("nft's fib has no counterpart of --accept-local")
	}
	key := "fib saddr"
	if x.mark {
		key += " . mark"
	}
	if !x.loose {
		key += " . iif"
	}
	if x.not {
		t.addf("%s oif 0", key)
	} else {
		t.addf("%s oif != 0", key)
	}
	return true
}

func (x *rpfilterMatch) matches(m *Machine) result { return truth(x.passes(m) != x.not) }

func (x *rpfilterMatch) passes(m *Machine) bool {
	meta := m.pkt.Meta
	if meta.IIF.Type == arphrdLoopback || meta.PktType == packet.PktLoopback {
		return true
	}
	source, destination := m.pkt.View.SrcAddr(), m.pkt.View.DstAddr()
	if source.Is4() && source.As4()[0] == 0 && (destination == limitedBroadcast || destination.IsLinkLocalMulticast()) {
		return true
	}
	if source.IsMulticast() && source.Is6() {
		return true
	}
	bound := 0
	if source.Is6() && source.IsLinkLocalUnicast() {
		bound = int(meta.IIF.Index)
	}
	route, ok := m.Host.RouteVia(source, bound)
	switch {
	case !ok:
		return false
	case route.Type == host.RouteUnicast:
		return x.loose || route.Uses(int(meta.IIF.Index))
	case route.Type == host.RouteLocal && x.local:
		return x.loose || route.Uses(int(meta.IIF.Index))
	}
	return false
}

const arphrdLoopback = 772

var limitedBroadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// pktTypes are those of -m pkttype, with the kernel's numbers 0, 1, 2.
var pktTypes = []string{"unicast", "broadcast", "multicast"}

// pkttypeMatch is -m pkttype. Ref: xt_pkttype.c.
type pkttypeMatch struct {
	kind  int
	not   bool
	given bool
}

func (x *pkttypeMatch) Name() string { return "pkttype" }

func (x *pkttypeMatch) appendSave(b []byte) []byte {
	return append(append(appendNot(b, x.not), " --pkt-type "...), pktTypes[max(x.kind, 0)]...)
}

func (x *pkttypeMatch) translate(t *translator) bool {
	t.addf("pkttype %s%s", t.not(x.not), pktTypes[max(x.kind, 0)])
	return true
}

func (x *pkttypeMatch) matches(m *Machine) result {
	kind := m.pkt.Meta.PktType
	if kind == packet.PktLoopback {
		kind = packet.PktBroadcast
		if six(m.pkt.Family) || m.pkt.View.DstAddr().IsMulticast() {
			kind = packet.PktMulticast
		}
	}
	return truth((int(kind) == x.kind) != x.not)
}
