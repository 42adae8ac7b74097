package iptables

import (
	"fmt"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/diag"
	"verdict/packet"
)

func init() {
	registerMatch(
		&extension{name: "icmp", family: catalog.FamilyIP, protocol: []uint8{packet.ProtoICMP},
			match:   func(family) Match { return &icmpMatch{names: icmpNames} },
			options: []option{optNot("icmp-type", 1, (*icmpMatch).read)},
			finish:  finishing(func(x *icmpMatch, _ *Rule, _ family) string { return x.missing("--icmp-type") })},
		&extension{name: "icmp6", family: catalog.FamilyIP6, protocol: []uint8{packet.ProtoICMPv6},
			match:   func(family) Match { return &icmpMatch{names: icmpv6Names, six: true} },
			options: []option{optNot("icmpv6-type", 1, (*icmpMatch).read)},
			finish:  finishing(func(x *icmpMatch, _ *Rule, _ family) string { return x.missing("--icmpv6-type") })},
	)
}

// icmpMatch is -m icmp and -m icmp6. Ref: xt_tcpudp.c, ip_tables.c, icmp_match.
type icmpMatch struct {
	names []icmpName
	six   bool
	kind  uint8 // 255 in IPv4: any
	codes span32
	not   bool
	given bool
}

// icmpName is a name of iptables for a type, or for a type and one code.
type icmpName struct {
	name string
	kind uint8
	code int // -1: all
	nft  string
}

var icmpNames = []icmpName{
	{"any", 255, -1, ""}, {"echo-reply", 0, -1, "echo-reply"}, {"pong", 0, -1, "echo-reply"},
	{"destination-unreachable", 3, -1, "destination-unreachable"},
	{"network-unreachable", 3, 0, ""}, {"host-unreachable", 3, 1, ""}, {"protocol-unreachable", 3, 2, ""}, {"port-unreachable", 3, 3, ""},
	{"fragmentation-needed", 3, 4, ""}, {"source-route-failed", 3, 5, ""}, {"network-unknown", 3, 6, ""}, {"host-unknown", 3, 7, ""},
	{"network-prohibited", 3, 9, ""}, {"host-prohibited", 3, 10, ""}, {"TOS-network-unreachable", 3, 11, ""}, {"TOS-host-unreachable", 3, 12, ""},
	{"communication-prohibited", 3, 13, ""}, {"host-precedence-violation", 3, 14, ""}, {"precedence-cutoff", 3, 15, ""},
	{"source-quench", 4, -1, "source-quench"}, {"redirect", 5, -1, "redirect"},
	{"network-redirect", 5, 0, ""}, {"host-redirect", 5, 1, ""}, {"TOS-network-redirect", 5, 2, ""}, {"TOS-host-redirect", 5, 3, ""},
	{"echo-request", 8, -1, "echo-request"}, {"ping", 8, -1, "echo-request"},
	{"router-advertisement", 9, -1, "router-advertisement"}, {"router-solicitation", 10, -1, "router-solicitation"},
	{"time-exceeded", 11, -1, "time-exceeded"}, {"ttl-exceeded", 11, -1, "time-exceeded"},
	{"ttl-zero-during-transit", 11, 0, ""}, {"ttl-zero-during-reassembly", 11, 1, ""},
	{"parameter-problem", 12, -1, "parameter-problem"}, {"ip-header-bad", 12, 0, ""}, {"required-option-missing", 12, 1, ""},
	{"timestamp-request", 13, -1, "timestamp-request"}, {"timestamp-reply", 14, -1, "timestamp-reply"},
	{"address-mask-request", 17, -1, "address-mask-request"}, {"address-mask-reply", 18, -1, "address-mask-reply"},
}

var icmpv6Names = []icmpName{
	{"destination-unreachable", 1, -1, "destination-unreachable"},
	{"no-route", 1, 0, ""}, {"communication-prohibited", 1, 1, ""}, {"beyond-scope", 1, 2, ""}, {"address-unreachable", 1, 3, ""},
	{"port-unreachable", 1, 4, ""}, {"failed-policy", 1, 5, ""}, {"reject-route", 1, 6, ""},
	{"packet-too-big", 2, -1, "packet-too-big"},
	{"time-exceeded", 3, -1, "time-exceeded"}, {"ttl-exceeded", 3, -1, "time-exceeded"},
	{"ttl-zero-during-transit", 3, 0, ""}, {"ttl-zero-during-reassembly", 3, 1, ""},
	{"parameter-problem", 4, -1, "parameter-problem"}, {"bad-header", 4, 0, ""}, {"unknown-header-type", 4, 1, ""}, {"unknown-option", 4, 2, ""},
	{"echo-request", 128, -1, "echo-request"}, {"ping", 128, -1, "echo-request"}, {"echo-reply", 129, -1, "echo-reply"}, {"pong", 129, -1, "echo-reply"},
	{"mld-listener-query", 130, -1, "mld-listener-query"}, {"mld-listener-report", 131, -1, "mld-listener-report"},
	{"mld-listener-done", 132, -1, "mld-listener-done"}, {"mld-listener-reduction", 132, -1, "mld-listener-done"},
	{"router-solicitation", 133, -1, "nd-router-solicit"}, {"router-advertisement", 134, -1, "nd-router-advert"},
	{"neighbour-solicitation", 135, -1, "nd-neighbor-solicit"}, {"neighbor-solicitation", 135, -1, "nd-neighbor-solicit"},
	{"neighbour-advertisement", 136, -1, "nd-neighbor-advert"}, {"neighbor-advertisement", 136, -1, "nd-neighbor-advert"},
	{"redirect", 137, -1, "nd-redirect"},
}

func (x *icmpMatch) missing(option string) string {
	if x.given {
		return ""
	}
	return option + " is missing"
}

// read takes a name, which may be shortened, or TYPE[/CODE].
func (x *icmpMatch) read(s *setting) {
	x.not, x.given, x.codes = s.not, true, span32{0, 255}
	word := s.word(0)
	if n := x.byName(strings.ToLower(word)); n != nil {
		x.kind = n.kind
		if n.code >= 0 {
			x.codes = span32{uint32(n.code), uint32(n.code)}
		}
		return
	}
	kind, code, two := strings.Cut(word, "/")
	n, err := strconv.ParseUint(kind, 0, 8)
	if err != nil {
		d := s.fail("%s is no ICMP type", diag.Printable(word))
		var known []string
		for _, candidate := range x.names {
			known = append(known, candidate.name)
		}
		if near := diag.Nearest(word, known); near != "" {
			d.Hint = "did you mean " + near + "?"
		}
		return
	}
	x.kind = uint8(n)
	if two {
		c := uint32(s.number(code, 255))
		x.codes = span32{c, c}
	}
}

// byName finds a name or the only one that starts so.
func (x *icmpMatch) byName(word string) *icmpName {
	var found *icmpName
	for i := range x.names {
		n := strings.ToLower(x.names[i].name)
		switch {
		case n == word:
			return &x.names[i]
		case strings.HasPrefix(n, word) && word != "":
			if found != nil {
				return nil
			}
			found = &x.names[i]
		}
	}
	return found
}

func (x *icmpMatch) Name() string {
	if x.six {
		return "icmp6"
	}
	return "icmp"
}

func (x *icmpMatch) any() bool { return x.kind == 255 && !x.six && x.codes == span32{0, 255} }

func (x *icmpMatch) appendSave(b []byte) []byte {
	option := "icmp-type"
	if x.six {
		option = "icmpv6-type"
	}
	b = fmt.Appendf(appendNot(b, x.not), " --%s ", option)
	if x.any() {
		return append(b, "any"...)
	}
	b = fmt.Appendf(b, "%d", x.kind)
	if x.codes.low == x.codes.high {
		b = fmt.Appendf(b, "/%d", x.codes.low)
	}
	return b
}

func (x *icmpMatch) translate(t *translator) bool {
	protocol := "icmp"
	if x.six {
		protocol = "icmpv6"
	}
	switch {
	case x.any() && x.not && !t.reference:
		return t.fail("the rule never matches")
	case x.any():
		t.add("ip protocol icmp")
		return true
	case x.codes != span32{0, 255} && t.reference:
		return false
	}
	name := strconv.Itoa(int(x.kind))
	for _, n := range x.names {
		if n.kind == x.kind && n.nft != "" {
			name = n.nft
			break
		}
	}
	if x.codes == (span32{0, 255}) {
		t.addf("%s type %s%s", protocol, t.not(x.not), name)
		return true
	}
	if x.not {
		t.addf("%s type . %s code != { %s . %d }", protocol, protocol, name, x.codes.low)
		return true
	}
	t.addf("%s type %s %s code %d", protocol, name, protocol, x.codes.low)
	return true
}

func (x *icmpMatch) matches(m *Machine) result {
	h, is := m.transport(4, 2)
	if is != resultTrue {
		return is
	}
	match := x.kind == h[0] && x.codes.holds(uint32(h[1])) || x.kind == 255 && !x.six
	return truth(match != x.not)
}
