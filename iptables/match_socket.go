package iptables

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/packet"
)

func init() {
	registerMatch(
		&extension{name: "owner", match: made[ownerMatch](), options: []option{
			optNot("uid-owner", 1, func(x *ownerMatch, s *setting) { x.user, x.notUser, x.hasUser = s.owners(), s.not, true }),
			optNot("gid-owner", 1, func(x *ownerMatch, s *setting) { x.group, x.notGroup, x.hasGroup = s.owners(), s.not, true }),
			optNot("socket-exists", 0, func(x *ownerMatch, s *setting) { x.exists, x.notExists = true, s.not }),
			opt("suppl-groups", 0, func(x *ownerMatch, s *setting) { x.supplementary = true }),
		}, hooks: atOutput | atPostrouting, finish: finishing(func(x *ownerMatch, _ *Rule, _ family) string {
			return needed(x.hasUser || x.hasGroup || x.exists, "--uid-owner, --gid-owner or --socket-exists")
		})},
		&extension{name: "socket", match: made[socketMatch](), options: []option{
			opt("transparent", 0, func(x *socketMatch, s *setting) { x.transparent = true }),
			opt("nowildcard", 0, func(x *socketMatch, s *setting) { x.wildcard = true }),
			opt("restore-skmark", 0, func(x *socketMatch, s *setting) { x.restore = true }),
		}, hooks: atPrerouting | atInput},
		&extension{name: "physdev", match: made[physdevMatch](), options: []option{
			optNot("physdev-in", 1, func(x *physdevMatch, s *setting) { x.in = s.interfaceName() }),
			optNot("physdev-out", 1, func(x *physdevMatch, s *setting) { x.out = s.interfaceName() }),
			optNot("physdev-is-in", 0, func(x *physdevMatch, s *setting) { x.isIn, x.notIsIn = true, s.not }),
			optNot("physdev-is-out", 0, func(x *physdevMatch, s *setting) { x.isOut, x.notIsOut = true, s.not }),
			optNot("physdev-is-bridged", 0, func(x *physdevMatch, s *setting) { x.bridged, x.notBridged = true, s.not }),
		}, finish: finishing(func(x *physdevMatch, _ *Rule, _ family) string {
			return needed(x.in.given() || x.out.given() || x.isIn || x.isOut || x.bridged, "an option")
		})},
		&extension{name: "nfacct", match: made[nfacctMatch](), options: []option{
			opt("nfacct-name", 1, func(x *nfacctMatch, s *setting) {
				if x.name = s.word(0); len(x.name) > 31 || x.name == "" {
					s.fail("the name has 1 to 31 bytes")
				}
			}),
		}, finish: finishing(func(x *nfacctMatch, _ *Rule, _ family) string { return needed(x.name != "", "--nfacct-name") })},
	)
}

// owners reads a number or a range A-B of users or groups.
func (s *setting) owners() span32 {
	low, high, two := strings.Cut(s.word(0), "-")
	r := span32{low: uint32(s.number(low, 1<<32-2))}
	r.high = r.low
	if two {
		r.high = uint32(s.number(high, 1<<32-2))
	}
	if r.low > r.high {
		s.fail("the range %s is empty", s.word(0))
	}
	return r
}

// ownerMatch is -m owner. Ref: xt_owner.c.
type ownerMatch struct {
	user, group        span32
	hasUser, notUser   bool
	hasGroup, notGroup bool
	exists, notExists  bool
	supplementary      bool
}

func (x *ownerMatch) uses(u *Uses) bool {
	u.Owner = true
	return false
}

func (x *ownerMatch) Name() string { return "owner" }

func (x *ownerMatch) appendSave(b []byte) []byte {
	if x.exists {
		b = append(appendNot(b, x.notExists), " --socket-exists"...)
	}
	if x.hasUser {
		b = append(append(appendNot(b, x.notUser), " --uid-owner "...), x.user.text("-")...)
	}
	if x.hasGroup {
		b = append(append(appendNot(b, x.notGroup), " --gid-owner "...), x.group.text("-")...)
	}
	if x.supplementary {
		b = append(b, " --suppl-groups"...)
	}
	return b
}

func (x *ownerMatch) translate(t *translator) bool {
	switch {
	case x.exists, x.supplementary, x.hasUser && x.hasGroup && t.reference:
		return t.fail("nft asks for the owner of a socket only by one number")
	case !t.reference && (x.notUser || x.notGroup):
		return t.fail("nft breaks off for packets without socket, the table matches them")
	}
	if x.hasUser {
		t.addf("skuid %s%s", t.not(x.notUser), x.user.text("-"))
	}
	if x.hasGroup {
		t.addf("skgid %s%s", t.not(x.notGroup), x.group.text("-"))
	}
	return true
}

func (x *ownerMatch) matches(m *Machine) result {
	meta := m.pkt.Meta
	if meta.Has&(packet.HasSKUID|packet.HasSKGID) == 0 { // no socket
		return truth((!x.hasUser || x.notUser) && (!x.hasGroup || x.notGroup) && (!x.exists || x.notExists))
	}
	if x.exists && x.notExists {
		return resultFalse
	}
	if x.hasUser && x.user.holds(meta.SKUID) == x.notUser {
		return resultFalse
	}
	return truth(!x.hasGroup || x.group.holds(meta.SKGID) != x.notGroup)
}

// socketMatch is -m socket. No packet's socket is known, so that it matches
// nothing. Ref: xt_socket.c.
type socketMatch struct{ transparent, wildcard, restore bool }

func (x *socketMatch) uses(u *Uses) bool {
	u.Sockets = true
	return false
}

func (x *socketMatch) Name() string { return "socket" }

func (x *socketMatch) appendSave(b []byte) []byte {
	if x.transparent {
		b = append(b, " --transparent"...)
	}
	if x.wildcard {
		b = append(b, " --nowildcard"...)
	}
	if x.restore {
		b = append(b, " --restore-skmark"...)
	}
	return b
}

func (x *socketMatch) translate(t *translator) bool {
	switch {
	case t.reference:
		return false
	case x.wildcard && x.transparent:
		t.add("socket transparent 1")
	case x.wildcard:
		t.add("socket wildcard le 1")
	case x.transparent:
		t.add("socket wildcard 0 socket transparent 1")
	default:
		t.add("socket wildcard 0")
	}
	if x.restore {
		t.add("meta mark set socket mark")
	}
	return true
}

func (x *socketMatch) matches(*Machine) result { return resultFalse }

// interfaceName reads NAME or NAME+.
func (s *setting) interfaceName() Interface {
	name, prefix := strings.CutSuffix(s.word(0), "+")
	if len(s.word(0)) > maxName || s.word(0) == "" {
		s.fail("the name of an interface has 1 to %d bytes", maxName)
	}
	return Interface{Name: name, Prefix: prefix, Not: s.not}
}

// physdevMatch is -m physdev: the bridge ports of a packet that went through a
// bridge. Packets of the IP hooks here never have any.
// Ref: xt_physdev.c.
type physdevMatch struct {
	in, out             Interface
	isIn, notIsIn       bool
	isOut, notIsOut     bool
	bridged, notBridged bool
}

func (x *physdevMatch) Name() string { return "physdev" }

func (x *physdevMatch) appendSave(b []byte) []byte {
	if x.isIn {
		b = append(appendNot(b, x.notIsIn), " --physdev-is-in"...)
	}
	b = appendInterface(b, "--physdev-in", x.in)
	if x.isOut {
		b = append(appendNot(b, x.notIsOut), " --physdev-is-out"...)
	}
	b = appendInterface(b, "--physdev-out", x.out)
	if x.bridged {
		b = append(appendNot(b, x.notBridged), " --physdev-is-bridged"...)
	}
	return b
}

func (x *physdevMatch) translate(t *translator) bool {
	return t.fail("nft does not know the bridge ports of routed packets")
}

func (x *physdevMatch) matches(*Machine) result {
	return truth(!(x.in.given() && !x.in.Not || x.out.given() && !x.out.Not || x.isIn && !x.notIsIn ||
		x.isOut && !x.notIsOut || x.bridged && !x.notBridged))
}

// nfacctMatch is -m nfacct: it counts in an object outside the table, and
// matches every packet where that has no quota, as none has here.
// Ref: xt_nfacct.c, nfnetlink_acct.c.
type nfacctMatch struct{ name string }

func (x *nfacctMatch) Name() string { return "nfacct" }

func (x *nfacctMatch) appendSave(b []byte) []byte {
	return appendWord(append(b, " --nfacct-name "...), x.name)
}

// translate counts in a named counter, which the reference does not know.
func (x *nfacctMatch) translate(t *translator) bool {
	if t.reference {
		return false
	}
	name := x.name
	if !isWord(name) {
		return t.fail("nft has no counter with the name of the nfacct object")
	}
	t.extra = append(t.extra, fmt.Sprintf("add counter %s %s %s", t.ip(), t.in.Name, name))
	t.addf(`counter name "%s"`, name)
	return true
}

func (x *nfacctMatch) matches(*Machine) result { return resultTrue }

func init() {
	spiMatch := func(name, flag, nft string, protocol uint8, offset, header int) *extension {
		return &extension{name: name, protocol: []uint8{protocol}, match: func(family) Match {
			return &spiRange{name: name, option: flag, nft: nft, offset: offset, header: header, span32: span32{0, 1<<32 - 1}}
		}, options: []option{optNot(flag, 1, func(x *spiRange, s *setting) { x.span32, x.not = s.numbers(s.word(0), 1<<32-1), s.not })}}
	}
	registerMatch(spiMatch("esp", "espspi", "esp spi", packet.ProtoESP, 0, 8))
	ah := spiMatch("ah", "ahspi", "ah spi", packet.ProtoAH, 4, 12)
	ah.family = catalog.FamilyIP
	registerMatch(ah)
	ipcomp := spiMatch("ipcomp", "ipcompspi", "comp cpi", packet.ProtoIPComp, 2, 4)
	registerMatch(ipcomp)
}

// spiRange is -m esp, -m ah (IPv4) and -m ipcomp: a range of security parameter
// indexes. Ref: xt_esp.c, ipt_ah.c, xt_ipcomp.c.
type spiRange struct {
	name, option, nft string
	offset, header    int
	span32
	not bool
}

func (x *spiRange) full() bool { return x.span32 == span32{0, 1<<32 - 1} && !x.not }

func (x *spiRange) Name() string { return x.name }

func (x *spiRange) appendSave(b []byte) []byte {
	if x.full() {
		return b
	}
	return fmt.Appendf(appendNot(b, x.not), " --%s %s", x.option, x.text(":"))
}

func (x *spiRange) translate(t *translator) bool {
	if !x.full() {
		t.addf("%s %s%s", x.nft, t.not(x.not), x.text("-"))
	}
	return true
}

func (x *spiRange) matches(m *Machine) result {
	size := 4
	if x.name == "ipcomp" {
		size = 2
	}
	h, is := m.transport(x.header, x.offset+size)
	if is != resultTrue {
		return is
	}
	n := uint32(0)
	for _, c := range h[x.offset : x.offset+size] {
		n = n<<8 | uint32(c)
	}
	return truth(x.holds(n) != x.not)
}
