package iptables

import (
	"fmt"
	"strings"

	"verdict/packet"
)

func init() {
	registerMatch(&extension{name: "multiport", match: made[multiportMatch](), options: []option{
		optNot("sports source-ports", 1, func(x *multiportMatch, s *setting) { x.read(s, "sports") }),
		optNot("dports destination-ports", 1, func(x *multiportMatch, s *setting) { x.read(s, "dports") }),
		optNot("ports", 1, func(x *multiportMatch, s *setting) { x.read(s, "ports") }),
	}, finish: finishing(func(x *multiportMatch, r *Rule, _ family) string {
		switch r.Header.Protocol {
		case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoUDPLite, packet.ProtoSCTP, packet.ProtoDCCP:
		default:
			return "it needs -p tcp, udp, udplite, sctp or dccp"
		}
		switch {
		case r.Header.NotProtocol:
			return "the protocol must not be inverted"
		case x.which == "":
			return "one of --sports, --dports, --ports is missing"
		}
		x.protocol = r.Header.Protocol
		return ""
	})})
}

// multiportMatch is -m multiport. Ref: xt_multiport.c.
type multiportMatch struct {
	which    string // sports, dports, ports
	items    []span32
	not      bool
	protocol uint8
}

// maxPortSlots is how many ports a list holds; a range takes two.
const maxPortSlots = 15

func (x *multiportMatch) read(s *setting, which string) {
	if x.which != "" {
		s.fail("one list of ports is possible in each multiport match")
		return
	}
	x.which, x.not = which, s.not
	slots := 0
	for _, part := range strings.Split(s.word(0), ",") {
		r := s.ports(part)
		slots++
		if strings.Contains(part, ":") {
			slots++
		}
		x.items = append(x.items, r)
	}
	if slots > maxPortSlots {
		s.fail("the list has room for %d ports, a range counting as two", maxPortSlots)
	}
}

func (x *multiportMatch) Name() string { return "multiport" }

func (x *multiportMatch) list(separator, between string) string {
	var out []string
	for _, r := range x.items {
		out = append(out, r.text(between))
	}
	return strings.Join(out, separator)
}

func (x *multiportMatch) appendSave(b []byte) []byte {
	return fmt.Appendf(appendNot(b, x.not), " --%s %s", x.which, x.list(",", ":"))
}

func (x *multiportMatch) translate(t *translator) bool {
	protocol := protocolName(x.protocol)
	if x.which == "ports" {
		return x.translateBoth(t, protocol)
	}
	key := protocol + " " + strings.TrimSuffix(x.which, "s")
	if len(x.items) > 1 {
		t.addf("%s %s{ %s }", key, t.not(x.not), x.list(", ", "-"))
	} else {
		t.addf("%s %s%s", key, t.not(x.not), x.list("", "-"))
	}
	return true
}

// translateBoth asks for either port. The reference loses the inversion, and
// takes a range for its two bounds.
func (x *multiportMatch) translateBoth(t *translator, protocol string) bool {
	var pairs []string
	for _, r := range x.items {
		bounds := []string{r.text("-")}
		if t.reference && r.low != r.high {
			bounds = []string{fmt.Sprint(r.low), fmt.Sprint(r.high)}
		}
		for _, text := range bounds {
			pairs = append(pairs, "0-65535 . "+text, text+" . 0-65535")
		}
	}
	if x.not && !t.reference {
		list := x.list(", ", "-")
		t.addf("%s sport != { %s } %s dport != { %s }", protocol, list, protocol, list)
		return true
	}
	if len(x.items) > 1 && !t.reference {
		return t.fail("nft refuses overlapping ranges of pairs of ports")
	}
	if !t.reference {
		text := x.items[0].text("-")
		pairs = beside(x.items[0], text)
	}
	t.addf("%s sport . %s dport { %s }", protocol, protocol, strings.Join(pairs, ", "))
	return true
}

// beside lists pairs of ports of which one is in a range, without overlap.
func beside(r span32, text string) []string {
	pairs := []string{"0-65535 . " + text}
	if r.low > 0 {
		pairs = append(pairs, fmt.Sprintf("%s . 0-%d", text, r.low-1))
	}
	if r.high < 65535 {
		pairs = append(pairs, fmt.Sprintf("%s . %d-65535", text, r.high+1))
	}
	return pairs
}

func (x *multiportMatch) matches(m *Machine) result {
	h, is := m.transport(4, 4)
	if is != resultTrue {
		return is
	}
	source, destination := uint32(h[0])<<8|uint32(h[1]), uint32(h[2])<<8|uint32(h[3])
	found := false
	for _, r := range x.items {
		switch x.which {
		case "sports":
			found = r.holds(source)
		case "dports":
			found = r.holds(destination)
		default:
			found = r.holds(source) || r.holds(destination)
		}
		if found {
			break
		}
	}
	return truth(found != x.not)
}
