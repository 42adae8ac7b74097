package iptables

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/packet"
)

func init() {
	six := catalog.FamilyIP6
	registerMatch(
		&extension{name: "frag", family: six, match: func(family) Match { return &fragMatch{id: span32{0, 1<<32 - 1}} }, options: []option{
			optNot("fragid", 1, func(x *fragMatch, s *setting) { x.id, x.not = s.numbers(s.word(0), 1<<32-1), s.not }),
			opt("fraglen", 1, func(x *fragMatch, s *setting) { x.length, x.hasLength = uint32(s.uint(1<<32-1)), true }),
			opt("fragres", 0, func(x *fragMatch, s *setting) { x.reserved = true }),
			opt("fragfirst", 0, func(x *fragMatch, s *setting) { x.first = true }),
			opt("fragmore", 0, func(x *fragMatch, s *setting) { x.more = true }),
			opt("fraglast", 0, func(x *fragMatch, s *setting) { x.last = true }),
		}, finish: finishing(func(x *fragMatch, _ *Rule, _ family) string {
			if x.more && x.last {
				return "--fragmore and --fraglast exclude each other"
			}
			return ""
		})},
		&extension{name: "ah", family: six, match: func(family) Match { return &ah6Match{spi: span32{0, 1<<32 - 1}} }, options: []option{
			optNot("ahspi", 1, func(x *ah6Match, s *setting) { x.spi, x.notSPI = s.numbers(s.word(0), 1<<32-1), s.not }),
			optNot("ahlen", 1, func(x *ah6Match, s *setting) {
				x.length, x.notLength, x.hasLength = uint32(s.uint(1<<32-1)), s.not, true
			}),
			opt("ahres", 0, func(x *ah6Match, s *setting) { x.reserved = true }),
		}},
		&extension{name: "mh", family: six, protocol: []uint8{packet.ProtoMobility}, match: func(family) Match { return &mhMatch{kinds: span32{0, 255}} }, options: []option{
			optNot("mh-type", 1, func(x *mhMatch, s *setting) { x.kinds, x.not = s.numbers(s.word(0), 255), s.not }),
		}},
		&extension{name: "rt", family: six, match: func(family) Match { return &rtMatch{left: span32{0, 1<<32 - 1}} }, options: []option{
			optNot("rt-type", 1, func(x *rtMatch, s *setting) { x.kind, x.notKind, x.hasKind = uint8(s.uint(255)), s.not, true }),
			optNot("rt-segsleft", 1, func(x *rtMatch, s *setting) {
				x.left, x.notLeft, x.hasLeft = s.numbers(s.word(0), 1<<32-1), s.not, true
			}),
			optNot("rt-len", 1, func(x *rtMatch, s *setting) {
				x.length, x.notLength, x.hasLength = uint32(s.uint(1<<32-1)), s.not, true
			}),
		}},
		&extension{name: "hbh", family: six, match: func(family) Match { return &optionsMatch{name: "hbh", next: packet.ProtoHopByHop} }, options: optionsOptions("hbh")},
		&extension{name: "dst", family: six, match: func(family) Match { return &optionsMatch{name: "dst", next: packet.ProtoDestOpts} }, options: optionsOptions("dst")},
		&extension{name: "ipv6header", family: six, match: made[headersMatch](), options: []option{
			optNot("header", 1, (*headersMatch).read),
			opt("soft", 0, func(x *headersMatch, s *setting) { x.soft = true }),
		}, finish: finishing(func(x *headersMatch, _ *Rule, _ family) string { return needed(x.headers != 0, "--header") })},
	)
}

// find6 looks for an extension header from the start of the chain on and gives
// where it is. A header that is not there is resultFalse, a broken chain drops.
// Ref: exthdrs_core.c, ipv6_find_hdr.
func (m *Machine) find6(wanted uint8) (int, result) {
	v := m.pkt.View
	data := v.Packet()
	at, next := v.NetOff+40, m.network()[6]
	for next != wanted {
		if !isExtension(next) || next == packet.ProtoNoNext {
			return 0, resultFalse
		}
		size, is := m.extensionLen(at, next)
		if is != resultTrue {
			return 0, is
		}
		if next == packet.ProtoFragment && (data[at+2] != 0 || data[at+3]&0xf8 != 0) {
			return 0, resultFalse // what follows is not in this fragment
		}
		next = data[at]
		at += size
	}
	return at, resultTrue
}

// extensionLen is the length of the extension header at an offset.
func (m *Machine) extensionLen(at int, kind uint8) (int, result) {
	h, is := m.bytes(at, 8, 2)
	if is != resultTrue {
		return 0, is
	}
	switch kind {
	case packet.ProtoFragment:
		if _, is := m.bytes(at, 8, 8); is != resultTrue {
			return 0, is
		}
		return 8, resultTrue
	case packet.ProtoAH:
		return (int(h[1]) + 2) * 4, resultTrue
	}
	return (int(h[1]) + 1) * 8, resultTrue
}

// fragMatch is -m frag. Ref: ip6t_frag.c.
type fragMatch struct {
	id              span32
	not             bool
	length          uint32
	hasLength       bool
	reserved, first bool
	more, last      bool
}

func (x *fragMatch) Name() string { return "frag" }

func (x *fragMatch) allIDs() bool { return x.id == span32{0, 1<<32 - 1} && !x.not }

func (x *fragMatch) appendSave(b []byte) []byte {
	if !x.allIDs() {
		b = fmt.Appendf(appendNot(b, x.not), " --fragid %s", x.id.text(":"))
	}
	if x.hasLength {
		b = fmt.Appendf(b, " --fraglen %d", x.length)
	}
	for _, o := range []struct {
		set  bool
		name string
	}{{x.reserved, "fragres"}, {x.first, "fragfirst"}, {x.more, "fragmore"}, {x.last, "fraglast"}} {
		if o.set {
			b = append(append(b, " --"...), o.name...)
		}
	}
	return b
}

func (x *fragMatch) translate(t *translator) bool {
	before := len(t.parts)
	if !x.allIDs() {
		t.addf("frag id %s%s", t.not(x.not), x.id.text("-"))
	}
	if x.reserved {
		t.add("frag reserved 1")
	}
	if x.first {
		t.add("frag frag-off 0")
	}
	if x.more {
		t.add("frag more-fragments 1")
	}
	if x.last {
		t.add("frag more-fragments 0")
	}
	if len(t.parts) == before && !t.reference {
		t.add("exthdr frag exists")
	}
	return true
}

func (x *fragMatch) matches(m *Machine) result {
	at, is := m.find6(packet.ProtoFragment)
	if is != resultTrue {
		return is
	}
	h, is := m.bytes(at, 8, 8)
	if is != resultTrue {
		return is
	}
	offset, more := uint32(h[2])<<8|uint32(h[3]), h[3]&1 != 0
	return truth(x.id.holds(beUint32(h[4:])) != x.not && (!x.reserved || h[1] != 0 || h[3]&6 != 0) &&
		(!x.first || offset&^7 == 0) && (!x.more || more) && (!x.last || !more))
}

// ah6Match is -m ah of IPv6. Ref: ip6t_ah.c.
type ah6Match struct {
	spi                  span32
	notSPI               bool
	length               uint32
	hasLength, notLength bool
	reserved             bool
}

func (x *ah6Match) Name() string { return "ah" }

func (x *ah6Match) allSPIs() bool { return x.spi == span32{0, 1<<32 - 1} && !x.notSPI }

func (x *ah6Match) appendSave(b []byte) []byte {
	if !x.allSPIs() {
		b = fmt.Appendf(appendNot(b, x.notSPI), " --ahspi %s", x.spi.text(":"))
	}
	if x.hasLength {
		b = fmt.Appendf(appendNot(b, x.notLength), " --ahlen %d", x.length)
	}
	if x.reserved {
		b = append(b, " --ahres"...)
	}
	return b
}

func (x *ah6Match) translate(t *translator) bool {
	if !t.reference {
		return t.fail("nft reads an authentication header only where the transport header is")
	}
	if !x.allSPIs() {
		t.addf("ah spi %s%s", t.not(x.notSPI), x.spi.text("-"))
	}
	if x.hasLength {
		t.addf("ah hdrlength %s%d", t.not(x.notLength), x.length)
	}
	if x.reserved {
		t.add("ah reserved 1")
	}
	return true
}

func (x *ah6Match) matches(m *Machine) result {
	at, is := m.find6(packet.ProtoAH)
	if is != resultTrue {
		return is
	}
	h, is := m.bytes(at, 12, 8)
	if is != resultTrue {
		return is
	}
	size := (uint32(h[1]) + 2) * 4
	return truth(x.spi.holds(beUint32(h[4:])) != x.notSPI && (!x.hasLength || (size == x.length) != x.notLength) &&
		(!x.reserved || h[2] == 0 && h[3] == 0))
}

// mhMatch is -m mh. Ref: xt_mh.c.
type mhMatch struct {
	kinds span32
	not   bool
}

func (x *mhMatch) all() bool { return x.kinds == span32{0, 255} && !x.not }

func (x *mhMatch) Name() string { return "mh" }

func (x *mhMatch) appendSave(b []byte) []byte {
	if x.all() {
		return b
	}
	return fmt.Appendf(appendNot(b, x.not), " --mh-type %s", x.kinds.text(":"))
}

func (x *mhMatch) translate(t *translator) bool {
	if !x.all() {
		t.addf("mh type %s%s", t.not(x.not), x.kinds.text("-"))
	}
	return true
}

func (x *mhMatch) matches(m *Machine) result {
	h, is := m.transport(6, 3)
	if is != resultTrue {
		return is
	}
	if h[0] != packet.ProtoNoNext {
		return resultDrop
	}
	return truth(x.kinds.holds(uint32(h[2])) != x.not)
}

// rtMatch is -m rt. Ref: ip6t_rt.c.
type rtMatch struct {
	kind                 uint8
	hasKind, notKind     bool
	left                 span32
	hasLeft, notLeft     bool
	length               uint32
	hasLength, notLength bool
}

func (x *rtMatch) Name() string { return "rt" }

func (x *rtMatch) appendSave(b []byte) []byte {
	if x.hasKind {
		b = fmt.Appendf(appendNot(b, x.notKind), " --rt-type %d", x.kind)
	}
	if x.hasLeft {
		b = fmt.Appendf(appendNot(b, x.notLeft), " --rt-segsleft %s", x.left.text(":"))
	}
	if x.hasLength {
		b = fmt.Appendf(appendNot(b, x.notLength), " --rt-len %d", x.length)
	}
	return b
}

func (x *rtMatch) translate(t *translator) bool {
	if x.hasKind {
		t.addf("rt type %s%d", t.not(x.notKind), x.kind)
	}
	if x.hasLeft {
		t.addf("rt seg-left %s%s", t.not(x.notLeft), x.left.text("-"))
	}
	if x.hasLength {
		length := x.length
		if !t.reference {
			if length < 8 || length%8 != 0 {
				return t.fail("no routing header has this length")
			}
			length = length/8 - 1
		}
		t.addf("rt hdrlength %s%d", t.not(x.notLength), length)
	}
	return true
}

func (x *rtMatch) matches(m *Machine) result {
	at, is := m.find6(packet.ProtoRouting)
	if is != resultTrue {
		return is
	}
	h, is := m.bytes(at, 4, 4)
	if is != resultTrue {
		return is
	}
	size := (int(h[1]) + 1) * 8
	if at+size > m.pkt.View.End {
		return resultFalse
	}
	return truth((!x.hasKind || (h[2] == x.kind) != x.notKind) && (!x.hasLeft || x.left.holds(uint32(h[3])) != x.notLeft) &&
		(!x.hasLength || (uint32(size) == x.length) != x.notLength))
}

// optionsMatch is -m hbh and -m dst: options headers. Ref: ip6t_hbh.c.
type optionsMatch struct {
	name                 string
	next                 uint8
	length               uint32
	hasLength, notLength bool
	kinds                []uint8
	lengths              []int // -1: any
}

func optionsOptions(name string) []option {
	return []option{
		optNot(name+"-len", 1, func(x *optionsMatch, s *setting) {
			x.length, x.notLength, x.hasLength = uint32(s.uint(1<<32-1)), s.not, true
		}),
		opt(name+"-opts", 1, func(x *optionsMatch, s *setting) {
			for _, part := range strings.Split(s.word(0), ",") {
				kind, length, two := strings.Cut(part, ":")
				x.kinds = append(x.kinds, uint8(s.number(kind, 255)))
				n := -1
				if two {
					n = int(s.number(length, 255))
				}
				x.lengths = append(x.lengths, n)
			}
			if len(x.kinds) > 16 {
				s.fail("at most 16 options are possible")
			}
		}),
	}
}

func (x *optionsMatch) Name() string { return x.name }

func (x *optionsMatch) appendSave(b []byte) []byte {
	if x.hasLength {
		b = fmt.Appendf(appendNot(b, x.notLength), " --%s-len %d", x.name, x.length)
	}
	for i, kind := range x.kinds {
		if i == 0 {
			b = fmt.Appendf(b, " --%s-opts ", x.name)
		} else {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d", kind)
		if x.lengths[i] >= 0 {
			b = fmt.Appendf(b, ":%d", x.lengths[i])
		}
	}
	return b
}

func (x *optionsMatch) translate(t *translator) bool {
	length := x.length
	switch {
	case len(x.kinds) > 0, t.reference && (x.name == "dst" || !x.hasLength):
		return t.fail("nft does not read these options")
	case !x.hasLength:
		t.addf("exthdr %s exists", x.name)
		return true
	case !t.reference && (length < 8 || length%8 != 0):
		return t.fail("no such header has this length")
	case !t.reference:
		length = length/8 - 1
	}
	t.addf("%s hdrlength %s%d", x.name, t.not(x.notLength), length)
	return true
}

func (x *optionsMatch) matches(m *Machine) result {
	at, is := m.find6(x.next)
	if is != resultTrue {
		return is
	}
	h, is := m.bytes(at, 2, 2)
	if is != resultTrue {
		return is
	}
	size := (int(h[1]) + 1) * 8
	if at+size > m.pkt.View.End {
		return resultFalse
	}
	if x.hasLength && (uint32(size) == x.length) == x.notLength {
		return resultFalse
	}
	if len(x.kinds) == 0 {
		return resultTrue
	}
	if h, is = m.bytes(at, size, size); is != resultTrue {
		return is
	}
	return truth(x.follow(h[2:size]))
}

// follow compares the options in order from the first on.
func (x *optionsMatch) follow(options []byte) bool {
	for i, kind := range x.kinds {
		if len(options) == 0 || options[0] != kind {
			return false
		}
		if kind == 0 { // one byte of padding
			options = options[1:]
			continue
		}
		if len(options) < 2 || x.lengths[i] >= 0 && int(options[1]) != x.lengths[i] {
			return false
		}
		n := int(options[1]) + 2
		if n > len(options) {
			return false
		}
		options = options[n:]
	}
	return true
}

// headersMatch is -m ipv6header. Ref: ip6t_ipv6header.c.
type headersMatch struct {
	headers uint8
	not     bool
	soft    bool
}

// headerNames in the order of iptables-save, with the bits of the kernel and
// the names that may be written.
var headerNames = []struct {
	bit   uint8
	long  string
	short string
	next  uint8
}{
	{0x80, "hop-by-hop", "hop", packet.ProtoHopByHop}, {0x20, "ipv6-route", "route", packet.ProtoRouting},
	{0x10, "ipv6-frag", "frag", packet.ProtoFragment}, {0x04, "esp", "esp", packet.ProtoESP}, {0x08, "ah", "auth", packet.ProtoAH},
	{0x02, "ipv6-nonxt", "none", packet.ProtoNoNext}, {0x40, "ipv6-opts", "dst", packet.ProtoDestOpts}, {0x01, "protocol", "prot", 255},
}

func (x *headersMatch) read(s *setting) {
	x.not = s.not
	for _, part := range strings.Split(s.word(0), ",") {
		found := false
		for _, h := range headerNames {
			if part == h.long || part == h.short || fmt.Sprint(h.next) == part {
				x.headers |= h.bit
				found = true
			}
		}
		if !found {
			s.fail("%s is no extension header", part)
			return
		}
	}
}

func (x *headersMatch) Name() string { return "ipv6header" }

func (x *headersMatch) appendSave(b []byte) []byte {
	var list []string
	for _, h := range headerNames {
		if x.headers&h.bit != 0 {
			list = append(list, h.long)
		}
	}
	b = fmt.Appendf(appendNot(b, x.not), " --header %s", strings.Join(list, ","))
	if x.soft {
		b = append(b, " --soft"...)
	}
	return b
}

func (x *headersMatch) translate(t *translator) bool {
	return t.fail("nft has no test of the set of extension headers")
}

func (x *headersMatch) matches(m *Machine) result {
	v := m.pkt.View
	at, next := v.NetOff+40, m.network()[6]
	var present uint8
	for isExtension(next) || next == packet.ProtoESP {
		for _, h := range headerNames {
			if h.next == next {
				present |= h.bit
			}
		}
		if next == packet.ProtoNoNext || next == packet.ProtoESP {
			break
		}
		size, is := m.extensionLen(at, next)
		if is != resultTrue {
			if is == resultDrop {
				return resultFalse
			}
			return is
		}
		next = v.Packet()[at]
		at += size
		if at > v.End {
			break
		}
	}
	if next != packet.ProtoNoNext && next != packet.ProtoESP {
		present |= 1
	}
	if x.soft {
		return truth((present&x.headers == x.headers) != x.not)
	}
	return truth((present == x.headers) != x.not)
}
