package render

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/packet"
)

// describe prints a packet as the packet lines of `nft monitor trace` do:
// interfaces, link, network and transport header, each field by its name.
func describe(v *packet.View, m *packet.Meta) string {
	var b strings.Builder
	if m.IIF.Exists() {
		fmt.Fprintf(&b, "iif %q ", m.IIF.Name)
	}
	if m.OIF.Exists() {
		fmt.Fprintf(&b, "oif %q ", m.OIF.Name)
	}
	if v.MacLen >= 14 {
		fields(&b, v, packet.BaseLink, "ether", "saddr", "daddr")
	}
	switch v.EtherType {
	case packet.TypeIPv4:
		fields(&b, v, packet.BaseNetwork, "ip", "saddr", "daddr", "dscp", "ecn", "ttl", "id", "length")
	case packet.TypeIPv6:
		fields(&b, v, packet.BaseNetwork, "ip6", "saddr", "daddr", "dscp", "ecn", "hoplimit", "flowlabel", "nexthdr", "length")
	case packet.TypeARP:
		fields(&b, v, packet.BaseNetwork, "arp", "htype", "ptype", "hlen", "plen", "operation")
	}
	transport(&b, v)
	return b.String()
}

func transport(b *strings.Builder, v *packet.View) {
	if !v.HasTransport() {
		return
	}
	switch v.L4Proto {
	case packet.ProtoTCP:
		fields(b, v, packet.BaseTransport, "tcp", "sport", "dport", "flags", "window")
	case packet.ProtoUDP:
		fields(b, v, packet.BaseTransport, "udp", "sport", "dport", "length")
	case packet.ProtoICMP:
		fields(b, v, packet.BaseTransport, "icmp", "type", "code", "id", "sequence")
	case packet.ProtoICMPv6:
		fields(b, v, packet.BaseTransport, "icmpv6", "type", "code", "id", "sequence")
	case packet.ProtoSCTP:
		fields(b, v, packet.BaseTransport, "sctp", "sport", "dport", "vtag")
	}
}

// fields appends fields of a header that the packet holds.
func fields(b *strings.Builder, v *packet.View, base packet.Base, header string, names ...string) {
	p := catalog.ProtocolByName(header)
	if p == nil {
		return
	}
	for _, name := range names {
		f := p.FieldByName(name)
		if f == nil {
			continue
		}
		value, ok := load(v, base, f)
		if !ok {
			continue
		}
		fmt.Fprintf(b, "%s %s %s ", header, name, format(f, value))
	}
}
