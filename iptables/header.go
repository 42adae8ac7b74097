package iptables

import (
	"net/netip"
	"strconv"
	"strings"

	"verdict/catalog"
	"verdict/packet"
)

// Header is the part of a rule that every rule has: six tests, made together.
// The zero Header matches every packet.
// Ref: ip_tables.c, ip_packet_match; ip6_tables.c, ip6_packet_match.
type Header struct {
	Source, Destination Network
	In, Out             Interface
	Protocol            uint8 // 0: any
	NotProtocol         bool
	// Fragment asks for fragments other than the first, NotFragment for all
	// else (IPv4).
	Fragment, NotFragment bool
}

// Network is an address with a mask, which may have gaps, or its complement.
// The zero Network is no test.
type Network struct {
	Addr, Mask netip.Addr // Addr has no bits outside Mask
	Not        bool
}

// any reports whether every address is in the network, as it is of the zero
// Network and of a zero mask. "! 0.0.0.0/0" matches nothing.
func (n Network) any() bool {
	return !n.Mask.IsValid() || n.Mask.IsUnspecified() && !n.Not
}

// Interface is an interface's name, or the start of it, or the complement.
type Interface struct {
	Name   string
	Prefix bool // written NAME+
	Not    bool
}

func (i Interface) given() bool { return i.Name != "" || i.Prefix }

// bits is the length of the mask, false where it has gaps.
func (n Network) bits() (int, bool) {
	raw := n.Mask.AsSlice()
	length, ended := 0, false
	for _, b := range raw {
		for bit := 7; bit >= 0; bit-- {
			set := b>>bit&1 == 1
			if set && ended {
				return 0, false
			}
			if set {
				length++
			} else {
				ended = true
			}
		}
	}
	return length, true
}

// appendNetwork appends an address as iptables-save does: with its length, or
// with the mask where that has gaps.
func appendNetwork(b []byte, n Network) []byte {
	b = n.Addr.AppendTo(b)
	b = append(b, '/')
	if bits, ok := n.bits(); ok {
		return strconv.AppendInt(b, int64(bits), 10)
	}
	return n.Mask.AppendTo(b)
}

func appendNot(b []byte, not bool) []byte {
	if not {
		return append(b, " !"...)
	}
	return b
}

func appendInterface(b []byte, option string, i Interface) []byte {
	if i.Name == "" {
		return b
	}
	b = append(appendNot(b, i.Not), ' ')
	b = append(append(b, option...), ' ')
	name := i.Name
	if i.Prefix {
		name += "+"
	}
	return appendWord(b, name)
}

func (h *Header) appendSave(b []byte) []byte {
	if !h.Source.any() {
		b = appendNetwork(append(appendNot(b, h.Source.Not), " -s "...), h.Source)
	}
	if !h.Destination.any() {
		b = appendNetwork(append(appendNot(b, h.Destination.Not), " -d "...), h.Destination)
	}
	b = appendInterface(b, "-i", h.In)
	b = appendInterface(b, "-o", h.Out)
	if h.Protocol != 0 {
		b = append(append(appendNot(b, h.NotProtocol), " -p "...), protocolName(h.Protocol)...)
	}
	switch {
	case h.Fragment:
		b = append(b, " -f"...)
	case h.NotFragment:
		b = append(b, " ! -f"...)
	}
	return b
}

// protocolName is the name that iptables prints for a protocol, or its number.
func protocolName(protocol uint8) string {
	switch protocol {
	case packet.ProtoICMPv6:
		return "ipv6-icmp"
	case packet.ProtoMobility:
		return "mobility-header"
	}
	if name, ok := catalog.InetProto.SymbolByValue(uint64(protocol)); ok {
		return name
	}
	return strconv.Itoa(int(protocol))
}

// protocolAliases are names of protocols besides those of the catalog.
var protocolAliases = map[string]uint8{
	"icmpv6": packet.ProtoICMPv6, "ipv6-icmp": packet.ProtoICMPv6, "mh": packet.ProtoMobility, "ipv6-mh": packet.ProtoMobility,
	"mobility-header": packet.ProtoMobility, "all": 0,
}

func protocolByName(word string) (uint8, bool) {
	word = strings.ToLower(word)
	if n, err := strconv.ParseUint(word, 0, 8); err == nil {
		return uint8(n), true
	}
	if n, ok := protocolAliases[word]; ok {
		return n, true
	}
	n, ok := catalog.InetProto.SymbolByName(word)
	return uint8(n), ok
}

// translate adds the header's nft form, in the order of iptables-translate.
func (h *Header) translate(t *translator) {
	t.iface("iifname", h.In)
	t.iface("oifname", h.Out)
	switch {
	case h.Fragment:
		t.add("ip frag-off & 0x1fff != 0")
	case h.NotFragment && t.reference:
		t.add("ip frag-off & 0x1fff 0")
	case h.NotFragment:
		t.add("ip frag-off & 0x1fff == 0")
	}
	if h.Protocol != 0 && !t.impliesProtocol() {
		t.protocol(h)
	}
	t.network("saddr", h.Source)
	t.network("daddr", h.Destination)
}

func (t *translator) protocol(h *Header) {
	key := "ip protocol"
	if t.family == catalog.FamilyIP6 {
		key = "meta l4proto"
	}
	t.addf("%s %s%s", key, t.not(h.NotProtocol), protocolName(h.Protocol))
}

func (t *translator) iface(key string, i Interface) {
	if !i.given() {
		return
	}
	name := strings.ReplaceAll(i.Name, "*", `\*`)
	switch {
	case i.Name == "" && i.Not:
		t.addf(`%s "INVAL/D"`, key) // no interface has such a name
	case i.Name == "":
	case i.Prefix:
		t.addf(`%s %s"%s*"`, key, t.not(i.Not), name)
	default:
		t.addf(`%s %s"%s"`, key, t.not(i.Not), name)
	}
}

func (t *translator) network(field string, n Network) {
	if n.any() {
		return
	}
	bits, ok := n.bits()
	switch {
	case !ok:
		operator := "=="
		if n.Not {
			operator = "!="
		}
		t.addf("%s %s & %s %s %s", t.ip(), field, n.Mask, operator, n.Addr)
	case bits == n.Addr.BitLen():
		t.addf("%s %s %s%s", t.ip(), field, t.not(n.Not), n.Addr)
	default:
		t.addf("%s %s %s%s/%d", t.ip(), field, t.not(n.Not), n.Addr, bits)
	}
}
