package iptables

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"verdict/conntrack"
)

func init() {
	registerMatch(
		&extension{name: "connbytes", match: func(family) Match { return &connbytesMatch{direction: -1, mode: -1} }, options: []option{
			optNot("connbytes", 1, (*connbytesMatch).read),
			opt("connbytes-dir", 1, func(x *connbytesMatch, s *setting) { x.direction = s.choice(s.word(0), connDirections, "direction") }),
			opt("connbytes-mode", 1, func(x *connbytesMatch, s *setting) { x.mode = s.choice(s.word(0), connModes, "mode") }),
		}, finish: finishing(func(x *connbytesMatch, _ *Rule, _ family) string {
			switch {
			case !x.given:
				return "--connbytes is missing"
			case x.direction < 0:
				return "--connbytes-dir is missing"
			case x.mode < 0:
				return "--connbytes-mode is missing"
			}
			return ""
		})},
		&extension{name: "connlimit", match: func(f family) Match { return &connlimitMatch{bits: zeroAddr(f).BitLen(), family: f} }, options: []option{
			opt("connlimit-upto", 1, func(x *connlimitMatch, s *setting) { x.limit, x.given = uint32(s.uint(1<<32-1)), true }),
			opt("connlimit-above", 1, func(x *connlimitMatch, s *setting) { x.limit, x.above, x.given = uint32(s.uint(1<<32-1)), true, true }),
			opt("connlimit-mask", 1, func(x *connlimitMatch, s *setting) { x.bits = int(s.uint(uint64(zeroAddr(x.family).BitLen()))) }),
			opt("connlimit-saddr", 0, func(x *connlimitMatch, s *setting) { x.destination = false }),
			opt("connlimit-daddr", 0, func(x *connlimitMatch, s *setting) { x.destination = true }),
		}, finish: finishing(func(x *connlimitMatch, _ *Rule, _ family) string {
			return needed(x.given, "--connlimit-upto or --connlimit-above")
		})},
		&extension{name: "helper", match: made[helperMatch](), options: []option{
			optNot("helper", 1, func(x *helperMatch, s *setting) { x.name, x.not, x.given = s.word(0), s.not, true }),
		}, finish: finishing(func(x *helperMatch, _ *Rule, _ family) string { return needed(x.given, "--helper") })},
		&extension{name: "cluster", match: made[clusterMatch](), options: []option{
			opt("cluster-total-nodes", 1, func(x *clusterMatch, s *setting) { x.total = uint32(s.uint(32)) }),
			optNot("cluster-local-node", 1, func(x *clusterMatch, s *setting) {
				if n := s.uint(32); n > 0 {
					x.nodes, x.not = 1<<(n-1), s.not
				}
			}),
			optNot("cluster-local-nodemask", 1, func(x *clusterMatch, s *setting) { x.nodes, x.not = uint32(s.uint(1<<32-1)), s.not }),
			opt("cluster-hash-seed", 1, func(x *clusterMatch, s *setting) { x.seed, x.given = uint32(s.uint(1<<32-1)), true }),
		}, finish: finishing(func(x *clusterMatch, _ *Rule, _ family) string {
			return needed(x.given && x.total > 0 && x.nodes != 0 && uint64(x.nodes) < 1<<x.total, "a node below the number of nodes, or the seed,")
		})},
	)
}

var (
	connDirections = []string{"original", "reply", "both"}
	connModes      = []string{"packets", "bytes", "avgpkt"}
)

// connbytesMatch is -m connbytes. Ref: xt_connbytes.c.
type connbytesMatch struct {
	low, high       uint64
	not, given      bool
	direction, mode int
}

func (x *connbytesMatch) read(s *setting) {
	low, high, two := strings.Cut(s.word(0), ":")
	x.high, x.not, x.given = 1<<64-1, s.not, true
	if low != "" {
		x.low = s.number(low, 1<<64-1)
	}
	if two && high != "" {
		x.high = s.number(high, 1<<64-1)
	}
	if x.low > x.high {
		s.fail("the range %s is empty", s.word(0))
	}
}

func (x *connbytesMatch) uses(*Uses) bool { return true }

func (x *connbytesMatch) Name() string { return "connbytes" }

func (x *connbytesMatch) span(separator string) string {
	if x.high == 1<<64-1 {
		return fmt.Sprint(x.low)
	}
	return fmt.Sprintf("%d%s%d", x.low, separator, x.high)
}

func (x *connbytesMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --connbytes %s --connbytes-mode %s --connbytes-dir %s", x.span(":"), connModes[x.mode], connDirections[x.direction])
}

func (x *connbytesMatch) translate(t *translator) bool {
	key := "ct "
	if x.direction < 2 {
		key += connDirections[x.direction] + " "
	}
	key += connModes[x.mode]
	switch {
	case x.high != 1<<64-1:
		t.addf("%s %s%d-%d", key, t.not(x.not), x.low, x.high)
	case x.not:
		t.addf("%s lt %d", key, x.low)
	default:
		t.addf("%s ge %d", key, x.low)
	}
	return true
}

func (x *connbytesMatch) matches(m *Machine) result {
	a := m.pkt.CT
	if a.Unknown() {
		return resultCut
	}
	c := a.Conn
	if c == nil || c.Packets[0]+c.Packets[1] == 0 { // no accounting
		return resultFalse
	}
	packets, size := c.Packets[0]+c.Packets[1], c.Bytes[0]+c.Bytes[1]
	if x.direction < 2 {
		packets, size = c.Packets[x.direction], c.Bytes[x.direction]
	}
	value := packets
	switch {
	case x.mode == 1:
		value = size
	case x.mode == 2 && packets == 0:
		value = 0
	case x.mode == 2:
		value = size / packets
	}
	return truth((value >= x.low && value <= x.high) != x.not)
}

// connlimitMatch is -m connlimit. Ref: xt_connlimit.c, nf_conncount.c.
type connlimitMatch struct {
	limit       uint32
	above       bool
	bits        int
	destination bool
	given       bool
	family      family
}

func (x *connlimitMatch) uses(*Uses) bool { return true }

func (x *connlimitMatch) Name() string { return "connlimit" }

func (x *connlimitMatch) side() (how, field, option string) {
	how, field, option = "upto", "saddr", "saddr"
	if x.above {
		how = "above"
	}
	if x.destination {
		field, option = "daddr", "daddr"
	}
	return how, field, option
}

func (x *connlimitMatch) appendSave(b []byte) []byte {
	how, _, option := x.side()
	return fmt.Appendf(b, " --connlimit-%s %d --connlimit-mask %d --connlimit-%s", how, x.limit, x.bits, option)
}

func (x *connlimitMatch) translate(t *translator) bool {
	_, field, _ := x.side()
	key := t.ip() + " " + field
	if x.bits != zeroAddr(x.family).BitLen() {
		key += " and " + lengthMask(x.family, x.bits).String()
	}
	over := ""
	if x.above {
		over = "over "
	}
	kind := "ipv4_addr"
	if six(t.family) && !t.reference {
		kind = "ipv6_addr"
	}
	name := fmt.Sprintf("connlimit%d", t.sets)
	t.sets++
	t.extra = append(t.extra, fmt.Sprintf("add set %s %s %s { type %s; flags dynamic; }", t.ip(), t.in.Name, name, kind))
	t.addf("add @%s { %s ct count %s%d }", name, key, over, x.limit)
	return true
}

// connCounts counts by masked address and zone.
type connCounts map[connKey]*conntrack.ConnList

type connKey struct {
	address netip.Addr
	zone    uint16
}

func (x *connlimitMatch) newState(*Machine) any { return connCounts{} }

func (x *connlimitMatch) matches(m *Machine) result {
	counts := m.own().(connCounts)
	a := m.pkt.CT
	if a.Unknown() {
		return resultCut
	}
	address := m.pkt.View.SrcAddr()
	if x.destination {
		address = m.pkt.View.DstAddr()
	}
	key := connKey{address: maskAddr(address, lengthMask(x.family, x.bits))}
	if a.Conn != nil {
		key.zone = a.Conn.Zone.For(a.Info.Direction())
	}
	list := counts[key]
	if list == nil {
		list = &conntrack.ConnList{}
		counts[key] = list
	}
	packet := conntrack.Packet{View: m.pkt.View, Attachment: a, Family: m.pkt.Family, Now: m.Now}
	n, is := list.Visit(m.Conns, &packet)
	if is == conntrack.Drop || n == 0 {
		return resultDrop
	}
	return truth((uint32(n) > x.limit) == x.above)
}

// helperMatch is -m helper. Ref: xt_helper.c.
type helperMatch struct {
	name       string
	not, given bool
}

func (x *helperMatch) uses(*Uses) bool { return true }

func (x *helperMatch) Name() string { return "helper" }

func (x *helperMatch) appendSave(b []byte) []byte {
	return appendQuoted(append(appendNot(b, x.not), " --helper "...), x.name)
}

func (x *helperMatch) translate(t *translator) bool {
	switch {
	case x.name == "" && !t.reference:
		return t.fail("nft cannot ask for any helper")
	case x.not && !t.reference:
		return t.fail("nft breaks off for packets without helper, the table matches them")
	}
	t.addf(`ct helper %s"%s"`, t.not(x.not), x.name)
	return true
}

func (x *helperMatch) matches(m *Machine) result {
	a := m.pkt.CT
	switch {
	case a.Unknown():
		return resultCut
	case a.Conn == nil || a.Conn.Master == nil || a.Conn.Master.Helper == "":
		return truth(x.not)
	case x.name == "":
		return truth(!x.not)
	}
	return truth(strings.HasPrefix(x.name, a.Conn.Master.Helper) != x.not)
}

// clusterMatch is -m cluster. Ref: xt_cluster.c.
type clusterMatch struct {
	total, nodes, seed uint32
	not, given         bool
}

func (x *clusterMatch) uses(*Uses) bool { return true }

func (x *clusterMatch) Name() string { return "cluster" }

func (x *clusterMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --cluster-local-nodemask 0x%08x --cluster-total-nodes %d --cluster-hash-seed 0x%08x", x.nodes, x.total, x.seed)
}

func (x *clusterMatch) translate(t *translator) bool {
	if !t.reference {
		return t.fail("the reference's form sets the packet's type even where the rule does not match")
	}
	var nodes []string
	for i := range 32 {
		if x.nodes>>i&1 == 1 {
			nodes = append(nodes, strconv.Itoa(i))
		}
	}
	text := fmt.Sprintf("jhash ct original saddr mod %d seed 0x%08x ", x.total, x.seed)
	switch {
	case len(nodes) == 1 && x.not:
		text += "!= " + strconv.Itoa(int(x.nodes))
	case len(nodes) == 1:
		text += "eq " + strconv.Itoa(int(x.nodes))
	default:
		text += t.not(x.not) + "{ " + strings.Join(nodes, ", ") + " }"
	}
	t.add(text + " meta pkttype set host")
	return true
}

func (x *clusterMatch) matches(m *Machine) result {
	a := m.pkt.CT
	if a.Unknown() {
		return resultCut
	}
	if a.Conn == nil {
		return resultFalse
	}
	c := a.Conn
	if c.Master != nil {
		c = c.Master
	}
	source := c.Tuples[conntrack.Original].Src
	var hash uint32
	if six(m.pkt.Family) {
		hash = jhashWords(source[:], x.seed)
	} else {
		hash = jhashOne(binary.LittleEndian.Uint32(source[:]), x.seed)
	}
	node := uint32(uint64(hash) * uint64(x.total) >> 32)
	hostPacket(m)
	return truth((x.nodes>>node&1 == 1) != x.not)
}
