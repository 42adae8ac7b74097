package iptables

import (
	"fmt"
	"net/netip"
	"strings"

	"verdict/conntrack"
	"verdict/packet"
)

// NATKind is a way to translate addresses.
type NATKind uint8

// The kinds.
const (
	NoNAT NATKind = iota
	DestinationNAT
	SourceNAT
	Masquerade // source, to the address of the outgoing interface
	Redirect   // destination, to the host itself
)

// NATRequest is what a rule of the table nat asked for. The engine carries it
// out.
type NATRequest struct {
	Kind  NATKind
	Range conntrack.NATRange
}

func init() {
	nat := []string{"nat"}
	flags := []option{
		opt("random", 0, func(x *natTarget, s *setting) { x.random = true }),
		opt("random-fully", 0, func(x *natTarget, s *setting) { x.fully = true }),
		opt("persistent", 0, func(x *natTarget, s *setting) { x.persistent = true }),
	}
	to := func(name string) []option {
		return append([]option{opt(name, 1, (*natTarget).readAddress)}, flags...)
	}
	ports := append([]option{opt("to-ports", 1, (*natTarget).readPorts)}, flags...)
	needsPorts := func(x *natTarget, r *Rule) string {
		if x.hasPort && !hasPorts(r) {
			return "ports need -p tcp, udp, sctp or dccp"
		}
		return ""
	}
	given := finishing(func(x *natTarget, r *Rule, _ family) string {
		if !x.given {
			return "the address is missing"
		}
		return needsPorts(x, r)
	})
	optional := finishing(func(x *natTarget, r *Rule, _ family) string { return needsPorts(x, r) })
	make := func(name string, kind NATKind) func(family) Target {
		return func(f family) Target { return &natTarget{name: name, kind: kind, family: f} }
	}
	registerTarget(
		&extension{name: "DNAT", target: make("DNAT", DestinationNAT), options: to("to-destination"), tables: nat, hooks: atPrerouting | atOutput, finish: given},
		&extension{name: "SNAT", target: make("SNAT", SourceNAT), options: to("to-source"), tables: nat, hooks: atPostrouting | atInput, finish: given},
		&extension{name: "MASQUERADE", target: make("MASQUERADE", Masquerade), options: ports, tables: nat, hooks: atPostrouting, finish: optional},
		&extension{name: "REDIRECT", target: make("REDIRECT", Redirect), options: ports, tables: nat, hooks: atPrerouting | atOutput, finish: optional},
		&extension{name: "NETMAP", target: func(f family) Target { return &netmapTarget{family: f} }, tables: nat, options: []option{
			opt("to", 1, func(x *netmapTarget, s *setting) { x.to = s.network() }),
		}, finish: finishing(func(x *netmapTarget, _ *Rule, _ family) string {
			if !x.to.Addr.IsValid() {
				return "--to is missing"
			}
			return ""
		})},
	)
}

// hasPorts reports whether a rule is for a protocol with ports.
func hasPorts(r *Rule) bool {
	switch r.Header.Protocol {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoSCTP, packet.ProtoDCCP, packet.ProtoICMP, packet.ProtoICMPv6:
		return !r.Header.NotProtocol
	}
	return false
}

// natTarget is -j DNAT, SNAT, MASQUERADE and REDIRECT.
// Ref: xt_nat.c, xt_MASQUERADE.c, xt_REDIRECT.c.
type natTarget struct {
	name                      string
	kind                      NATKind
	family                    family
	low, high                 netip.Addr // invalid: the address stays
	first, last               uint16
	base                      uint16 // of a shift of ports
	hasPort, shift, given     bool
	random, fully, persistent bool
}

// readAddress reads [A[-B]][:p[-q[/base]]]; addresses of IPv6 with ports stand
// in brackets.
func (x *natTarget) readAddress(s *setting) {
	if x.given {
		s.fail("one address is possible; several are written as a range A-B")
		return
	}
	x.given = true
	addresses, ports, hasPort := s.word(0), "", false
	if six(x.family) {
		if inner, ok := strings.CutPrefix(addresses, "["); ok {
			addresses, ports, ok = strings.Cut(inner, "]")
			if !ok {
				s.fail("the bracket is not closed")
				return
			}
			ports, hasPort = strings.CutPrefix(ports, ":")
		}
	} else {
		addresses, ports, hasPort = strings.Cut(addresses, ":")
	}
	if hasPort {
		x.ports(s, ports)
	}
	if addresses == "" {
		return
	}
	low, high, two := strings.Cut(addresses, "-")
	x.low = s.address(low)
	x.high = x.low
	if two {
		x.high = s.address(strings.Trim(high, "[]"))
	}
}

func (x *natTarget) readPorts(s *setting) { x.ports(s, s.word(0)) }

func (x *natTarget) ports(s *setting, text string) {
	text, base, shift := strings.Cut(text, "/")
	low, high, two := strings.Cut(text, "-")
	x.hasPort, x.first = true, s.port(low)
	x.last = x.first
	if two {
		x.last = s.port(high)
	}
	if shift {
		x.base, x.shift = s.port(base), true
	}
	if x.first > x.last {
		s.fail("the range of ports %s is empty", text)
	}
}

// uses says that translation needs connections; the table alone does not.
// Ref: xt_nat.c, xt_nat_checkentry.
func (x *natTarget) uses(*Uses) bool { return true }

func (x *natTarget) Name() string { return x.name }

// address prints the addresses and ports as iptables and nft write them.
func (x *natTarget) address() string {
	text := ""
	if x.low.IsValid() {
		text = x.low.String()
		if x.high != x.low {
			text += "-" + x.high.String()
		}
		if six(x.family) && x.hasPort {
			text = "[" + text + "]"
		}
	}
	if x.hasPort {
		text += ":" + x.portText()
	}
	return text
}

func (x *natTarget) portText() string {
	text := fmt.Sprint(x.first)
	if x.last != x.first {
		text += fmt.Sprintf("-%d", x.last)
	}
	if x.shift {
		text += fmt.Sprintf("/%d", x.base)
	}
	return text
}

func (x *natTarget) appendSave(b []byte) []byte {
	switch x.kind {
	case DestinationNAT:
		b = append(append(b, " --to-destination "...), x.address()...)
	case SourceNAT:
		b = append(append(b, " --to-source "...), x.address()...)
	default:
		if x.hasPort {
			b = append(append(b, " --to-ports "...), x.portText()...)
		}
	}
	if x.random {
		b = append(b, " --random"...)
	}
	if x.fully {
		b = append(b, " --random-fully"...)
	}
	if x.persistent {
		b = append(b, " --persistent"...)
	}
	return b
}

func (x *natTarget) translate(t *translator) bool {
	if x.shift {
		return t.fail("nft has no shift of ports")
	}
	text := map[NATKind]string{DestinationNAT: "dnat", SourceNAT: "snat", Masquerade: "masquerade", Redirect: "redirect"}[x.kind]
	if address := x.address(); address != "" {
		text += " to " + t.bracketed(address)
	}
	var flags []string
	if x.random {
		flags = append(flags, "random")
	}
	if x.fully {
		flags = append(flags, "fully-random")
	}
	if x.persistent {
		flags = append(flags, "persistent")
	}
	if len(flags) > 0 {
		text += " " + strings.Join(flags, ",")
	}
	t.add(text)
	return true
}

// bracketed puts each end of a range of IPv6 addresses into brackets, as nft
// wants it.
func (t *translator) bracketed(address string) string {
	if inner, ports, ok := strings.Cut(strings.TrimPrefix(address, "["), "]"); ok && !t.reference {
		return "[" + strings.ReplaceAll(inner, "-", "]-[") + "]" + ports
	}
	return address
}

func (x *natTarget) apply(m *Machine) action {
	r := conntrack.NATRange{HasAddr: x.low.IsValid(), HasPort: x.hasPort, MinPort: x.first, MaxPort: x.last, BasePort: x.base}
	if x.low.IsValid() {
		r.MinAddr, r.MaxAddr = addrBytes(x.low), addrBytes(x.high)
	}
	if x.random {
		r.Flags |= conntrack.NATRandom
	}
	if x.fully {
		r.Flags |= conntrack.NATFullyRandom
	}
	if x.persistent {
		r.Flags |= conntrack.NATPersistent
	}
	if x.shift {
		r.Flags |= conntrack.NATPortOffset
	}
	m.NAT = NATRequest{x.kind, r}
	return actAccept
}

// netmapTarget is -j NETMAP. Ref: xt_NETMAP.c.
type netmapTarget struct {
	family family
	to     Network
}

func (x *netmapTarget) uses(*Uses) bool { return true }

func (x *netmapTarget) Name() string { return "NETMAP" }

func (x *netmapTarget) appendSave(b []byte) []byte {
	return append(append(b, " --to "...), plainNetwork(x.to)...)
}

func (x *netmapTarget) translate(t *translator) bool {
	return t.fail("nft maps prefixes only from a known prefix")
}

// apply asks for the network's first to last address, the bits in which they
// agree replacing those of the packet.
func (x *netmapTarget) apply(m *Machine) action {
	low, mask := addrBytes(x.to.Addr), addrBytes(x.to.Mask)
	r := conntrack.NATRange{HasAddr: true, MinAddr: low, MaxAddr: low, Flags: conntrack.NATNetmap}
	size := x.to.Addr.BitLen() / 8
	for i := range size {
		r.MaxAddr[i] |= ^mask[i]
	}
	kind := SourceNAT
	if m.pkt.Hook == hookPrerouting || m.pkt.Hook == hookOutput {
		kind = DestinationNAT
	}
	m.NAT = NATRequest{kind, r}
	return actAccept
}
