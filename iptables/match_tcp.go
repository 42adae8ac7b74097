package iptables

import (
	"fmt"
	"strings"

	"verdict/packet"
)

func init() {
	registerMatch(&extension{name: "tcp", match: newTCP, protocol: []uint8{packet.ProtoTCP}, options: []option{
		optNot("sport source-port", 1, func(x *tcpMatch, s *setting) { x.source = portTest{s.ports(s.word(0)), s.not} }),
		optNot("dport destination-port", 1, func(x *tcpMatch, s *setting) { x.destination = portTest{s.ports(s.word(0)), s.not} }),
		optNot("tcp-flags", 2, func(x *tcpMatch, s *setting) {
			x.mask, x.flags, x.notFlags, x.hasFlags = s.tcpFlags(0), s.tcpFlags(1), s.not, true
		}),
		optNot("syn", 0, func(x *tcpMatch, s *setting) { x.mask, x.flags, x.notFlags, x.hasFlags = 0x17, 0x02, s.not, true }),
		optNot("tcp-option", 1, func(x *tcpMatch, s *setting) { x.option, x.notOption = uint8(s.uint(255)), s.not }),
	}})
	registerMatch(&extension{name: "udp", match: newUDP, protocol: []uint8{packet.ProtoUDP}, options: []option{
		optNot("sport source-port", 1, func(x *udpMatch, s *setting) { x.source = portTest{s.ports(s.word(0)), s.not} }),
		optNot("dport destination-port", 1, func(x *udpMatch, s *setting) { x.destination = portTest{s.ports(s.word(0)), s.not} }),
	}})
}

// portTest is a range of ports, or its complement.
type portTest struct {
	span32
	not bool
}

// allPorts matches every port.
var allPorts = portTest{span32: span32{0, 65535}}

func (p portTest) matches(port uint32) bool { return p.holds(port) != p.not }

func (p portTest) appendSave(b []byte, option string) []byte {
	if p == allPorts {
		return b
	}
	return fmt.Appendf(appendNot(b, p.not), " --%s %s", option, p.text(":"))
}

func (p portTest) translate(t *translator, field string) {
	switch {
	case p == allPorts, p.span32 == allPorts.span32 && t.reference:
	default:
		t.addf("%s %s%s", field, t.not(p.not), p.text("-"))
	}
}

// tcpMatch is -m tcp. Ref: xt_tcpudp.c, tcp_mt.
type tcpMatch struct {
	source, destination portTest
	mask, flags         uint8
	hasFlags, notFlags  bool
	option              uint8 // 0: none
	notOption           bool
}

func newTCP(_ family) Match { return &tcpMatch{source: allPorts, destination: allPorts} }

func (x *tcpMatch) Name() string { return "tcp" }

// tcpFlagNames in the order of iptables-save, with their bits.
var tcpFlagNames = []struct {
	name string
	bit  uint8
}{{"FIN", 1}, {"SYN", 2}, {"RST", 4}, {"PSH", 8}, {"ACK", 16}, {"URG", 32}}

// tcpFlags reads the i-th word as a list of flags.
func (s *setting) tcpFlags(i int) uint8 {
	var out uint8
	for _, part := range strings.Split(s.word(i), ",") {
		switch strings.ToUpper(part) {
		case "ALL":
			out |= 0x3f
			continue
		case "NONE":
			continue
		}
		found := false
		for _, f := range tcpFlagNames {
			if strings.EqualFold(f.name, part) {
				out, found = out|f.bit, true
			}
		}
		if !found {
			s.fail("%s is no TCP flag", part).Hint = "known are FIN, SYN, RST, PSH, ACK, URG, ALL, NONE"
		}
	}
	return out
}

func tcpFlagText(flags uint8, none string) string {
	var list []string
	for _, f := range tcpFlagNames {
		if flags&f.bit != 0 {
			list = append(list, f.name)
		}
	}
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ",")
}

func (x *tcpMatch) appendSave(b []byte) []byte {
	b = x.destination.appendSave(x.source.appendSave(b, "sport"), "dport")
	if x.option != 0 || x.notOption {
		b = fmt.Appendf(appendNot(b, x.notOption), " --tcp-option %d", x.option)
	}
	if x.hasFlags && (x.mask != 0 || x.notFlags) {
		b = fmt.Appendf(appendNot(b, x.notFlags), " --tcp-flags %s %s", tcpFlagText(x.mask, "NONE"), tcpFlagText(x.flags, "NONE"))
	}
	return b
}

func (x *tcpMatch) translate(t *translator) bool {
	x.source.translate(t, "tcp sport")
	x.destination.translate(t, "tcp dport")
	if x.option != 0 {
		what := "exists"
		if x.notOption {
			what = "missing"
		}
		t.addf("tcp option %d %s", x.option, what)
	}
	if x.hasFlags && (x.mask != 0 || x.notFlags) && !t.reference {
		operator := "=="
		if x.notFlags {
			operator = "!="
		}
		t.addf("tcp flags & %s %s %s", flagSet(x.mask), operator, flagSet(x.flags))
	} else if x.hasFlags && (x.mask != 0 || x.notFlags) {
		t.addf("tcp flags %s%s / %s", t.not(x.notFlags), strings.ToLower(tcpFlagText(x.flags, "0x0")), strings.ToLower(tcpFlagText(x.mask, "0x0")))
	}
	return true
}

// flagSet is a set of flags in the form that every version of nft reads.
func flagSet(flags uint8) string {
	text := strings.ToLower(strings.ReplaceAll(tcpFlagText(flags, "0x0"), ",", " | "))
	if strings.Contains(text, "|") {
		return "(" + text + ")"
	}
	return text
}

func (x *tcpMatch) matches(m *Machine) result {
	if m.fragment {
		return truth(false).orDropAt1(m)
	}
	need := 4
	if x.hasFlags {
		need = 14
	}
	h, is := m.transport(20, need)
	if is != resultTrue {
		return is
	}
	if !x.source.matches(uint32(h[0])<<8|uint32(h[1])) || !x.destination.matches(uint32(h[2])<<8|uint32(h[3])) {
		return resultFalse
	}
	if x.hasFlags && (h[13]&x.mask == x.flags) == x.notFlags {
		return resultFalse
	}
	if x.option != 0 {
		return m.tcpOption(x.option, x.notOption)
	}
	return resultTrue
}

// orDropAt1 drops a fragment that overlaps the TCP header.
func (r result) orDropAt1(m *Machine) result {
	if m.fragOff == 1 {
		return resultDrop
	}
	return r
}

// tcpOption looks for an option of a kind. An option of length 0 is taken as
// one byte. Ref: xt_tcpudp.c, tcp_find_option.
func (m *Machine) tcpOption(kind uint8, not bool) result {
	h, is := m.transport(20, 13)
	if is != resultTrue {
		return is
	}
	size := int(h[12]>>4) * 4
	if size < 20 {
		return resultDrop
	}
	if size == 20 {
		return truth(not)
	}
	if h, is = m.transport(size, size); is != resultTrue {
		return is
	}
	for i := 20; i < size; {
		if h[i] == kind {
			return truth(!not)
		}
		if h[i] < 2 || i+1 >= size {
			i++
			continue
		}
		i += max(int(h[i+1]), 1)
	}
	return truth(not)
}

// udpMatch is -m udp. Ref: xt_tcpudp.c, udp_mt.
type udpMatch struct{ source, destination portTest }

func newUDP(_ family) Match { return &udpMatch{allPorts, allPorts} }

func (x *udpMatch) Name() string { return "udp" }

func (x *udpMatch) appendSave(b []byte) []byte {
	return x.destination.appendSave(x.source.appendSave(b, "sport"), "dport")
}

func (x *udpMatch) translate(t *translator) bool {
	x.source.translate(t, "udp sport")
	x.destination.translate(t, "udp dport")
	return true
}

func (x *udpMatch) matches(m *Machine) result {
	h, is := m.transport(8, 4)
	if is != resultTrue {
		return is
	}
	return truth(x.source.matches(uint32(h[0])<<8|uint32(h[1])) && x.destination.matches(uint32(h[2])<<8|uint32(h[3])))
}
