package build

import (
	"slices"

	"verdict/packet"
)

var tcpHeader = header{
	name: "tcp", rank: rankTransport, protocol: packet.ProtoTCP, items: &tcpOptions,
	template: []byte{0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xfa, 0xf0, 0, 0, 0, 0},
	fields: []field{
		{name: "sport", bit: 0, bits: 16, kind: port, essential: true},
		{name: "dport", bit: 16, bits: 16, kind: port, essential: true},
		{name: "flags", bit: 104, bits: 8, kind: flags, symbols: tcpFlags, essential: true},
		{name: "sequence", bit: 32, bits: 32},
		{name: "ackseq", bit: 64, bits: 32},
		{name: "window", bit: 112, bits: 16},
		{name: "doff", bit: 96, bits: 4},
		{name: "reserved", bit: 100, bits: 4},
		{name: "checksum", bit: 128, bits: 16, hex: true},
		{name: "urgptr", bit: 144, bits: 16},
	},
}

var udpHeader = header{
	name: "udp", rank: rankTransport, protocol: packet.ProtoUDP, tunnels: true,
	template: []byte{0x9c, 0x40, 0, 53, 0, 0, 0, 0},
	fields: []field{
		{name: "sport", bit: 0, bits: 16, kind: port, essential: true},
		{name: "dport", bit: 16, bits: 16, kind: port, essential: true},
		{name: "length", bit: 32, bits: 16},
		{name: "checksum", bit: 48, bits: 16, hex: true},
	},
}

var udpliteHeader = header{
	name: "udplite", rank: rankTransport, protocol: packet.ProtoUDPLite,
	template: []byte{0x9c, 0x40, 0, 80, 0, 0, 0, 0},
	fields: []field{
		{name: "sport", bit: 0, bits: 16, kind: port, essential: true},
		{name: "dport", bit: 16, bits: 16, kind: port, essential: true},
		{name: "csumcov", bit: 32, bits: 16},
		{name: "checksum", bit: 48, bits: 16, hex: true},
	},
}

var sctpHeader = header{
	name: "sctp", rank: rankTransport, protocol: packet.ProtoSCTP, items: &sctpChunks,
	template: []byte{0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0},
	fields: []field{
		{name: "sport", bit: 0, bits: 16, kind: port, essential: true},
		{name: "dport", bit: 16, bits: 16, kind: port, essential: true},
		{name: "vtag", bit: 32, bits: 32},
		{name: "checksum", bit: 64, bits: 32, hex: true},
	},
}

// dccpHeader has long sequence numbers. The part that depends on the type
// follows as data, zeros by default.
var dccpHeader = header{
	name: "dccp", rank: rankTransport, protocol: packet.ProtoDCCP, items: &dccpOptions, data: true,
	template: []byte{0x9c, 0x40, 0, 80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1},
	fields: []field{
		{name: "sport", bit: 0, bits: 16, kind: port, essential: true},
		{name: "dport", bit: 16, bits: 16, kind: port, essential: true},
		{name: "type", bit: 67, bits: 4, symbols: dccpTypes, essential: true},
		{name: "doff", bit: 32, bits: 8},
		{name: "ccval", bit: 40, bits: 4},
		{name: "cscov", bit: 44, bits: 4},
		{name: "checksum", bit: 48, bits: 16, hex: true},
		{name: "reserved", bit: 64, bits: 3},
		{name: "reserved2", bit: 72, bits: 8},
		{name: "sequence", bit: 80, bits: 48},
	},
}

// typeIn tells for which types of message a field has a meaning.
func typeIn(types ...byte) func([]byte) bool {
	return func(b []byte) bool { return slices.Contains(types, b[0]) }
}

var icmpQueries = typeIn(0, 8, 13, 14, 15, 16, 17, 18)

var icmpHeader = header{
	name: "icmp", rank: rankTransport, protocol: packet.ProtoICMP, tunnels: true,
	template: []byte{8, 0, 0, 0, 0, 0, 0, 0},
	fields: []field{
		{name: "type", bit: 0, bits: 8, symbols: icmpTypes, essential: true},
		{name: "code", bit: 8, bits: 8, symbols: icmpCodes},
		{name: "id", bit: 32, bits: 16, only: icmpQueries},
		{name: "sequence", bit: 48, bits: 16, only: icmpQueries},
		{name: "mtu", bit: 48, bits: 16, only: typeIn(3)},
		{name: "gateway", bit: 32, bits: 32, only: typeIn(5)},
		{name: "checksum", bit: 16, bits: 16, hex: true},
	},
}

var (
	icmpv6Targets = typeIn(130, 131, 132, 135, 136, 137)
	icmpv6Queries = typeIn(128, 129)
)

var icmpv6Header = header{
	name: "icmpv6", rank: rankTransport, protocol: packet.ProtoICMPv6, tunnels: true,
	template: []byte{128, 0, 0, 0, 0, 0, 0, 0},
	fields: []field{
		{name: "type", bit: 0, bits: 8, symbols: icmpv6Types, essential: true},
		{name: "code", bit: 8, bits: 8, symbols: icmpv6Codes},
		{name: "id", bit: 32, bits: 16, only: icmpv6Queries},
		{name: "sequence", bit: 48, bits: 16, only: icmpv6Queries},
		{name: "max-delay", bit: 32, bits: 16, only: typeIn(130)},
		{name: "param-problem", alias: "parameter-problem", bit: 32, bits: 32, only: typeIn(4)},
		{name: "mtu", bit: 32, bits: 32},
		{name: "taddr", bit: 64, bits: 128, kind: ipv6Addr, only: icmpv6Targets},
		{name: "daddr", bit: 192, bits: 128, kind: ipv6Addr, only: typeIn(137)},
		{name: "checksum", bit: 16, bits: 16, hex: true},
	},
}

// icmpv6Size is the length of the fixed part of a message.
//
// Ref: RFC 4861 §4, RFC 2710 §3
func icmpv6Size(typ byte) int {
	switch typ {
	case 130, 131, 132, 135, 136:
		return 24
	case 137:
		return 40
	}
	return 8
}

var igmpHeader = header{
	name: "igmp", rank: rankTransport, protocol: packet.ProtoIGMP,
	template: []byte{0x16, 0, 0, 0, 224, 0, 0, 251},
	fields: []field{
		{name: "type", bit: 0, bits: 8, symbols: igmpTypes, essential: true},
		{name: "group", bit: 32, bits: 32, kind: ipv4Addr, essential: true},
		{name: "mrt", bit: 8, bits: 8},
		{name: "checksum", bit: 16, bits: 16, hex: true},
	},
}

var espHeader = header{
	name: "esp", rank: rankTransport, protocol: packet.ProtoESP,
	template: []byte{0, 0, 0, 1, 0, 0, 0, 1},
	fields: []field{
		{name: "spi", bit: 0, bits: 32, essential: true},
		{name: "sequence", bit: 32, bits: 32},
	},
}

var compHeader = header{
	name: "comp", rank: rankTransport, protocol: packet.ProtoIPComp,
	template: []byte{packet.ProtoNoNext, 0, 0, 1},
	fields: []field{
		{name: "cpi", bit: 16, bits: 16, essential: true},
		{name: "nexthdr", bit: 0, bits: 8, symbols: protocols},
		{name: "flags", bit: 8, bits: 8, hex: true},
	},
}

// greHeader is the header without optional parts, unless flags say otherwise:
// then they follow as data.
var greHeader = header{
	name: "gre", rank: rankTransport, protocol: packet.ProtoGRE, data: true, tunnels: true,
	template: []byte{0, 0, 0x08, 0},
	fields: []field{
		{name: "protocol", bit: 16, bits: 16, symbols: etherTypes, hex: true},
		{name: "flags", bit: 0, bits: 5, hex: true},
		{name: "version", bit: 13, bits: 3},
		{name: "reserved", bit: 5, bits: 8},
	},
}

var vxlanHeader = header{
	name: "vxlan", rank: rankTunnel, protocol: -1, tunnels: true,
	template: []byte{8, 0, 0, 0, 0, 0, 0, 0},
	fields: []field{
		{name: "vni", bit: 32, bits: 24, essential: true},
		{name: "flags", bit: 0, bits: 8, hex: true},
		{name: "reserved", bit: 8, bits: 24},
		{name: "reserved2", bit: 56, bits: 8},
	},
}

var geneveHeader = header{
	name: "geneve", rank: rankTunnel, protocol: -1, data: true, tunnels: true,
	template: []byte{0, 0, 0x65, 0x58, 0, 0, 0, 0},
	fields: []field{
		{name: "vni", bit: 32, bits: 24, essential: true},
		{name: "type", bit: 16, bits: 16, symbols: etherTypes, hex: true},
		{name: "version", bit: 0, bits: 2},
		{name: "optlength", bit: 2, bits: 6},
		{name: "flags", bit: 8, bits: 8, hex: true},
		{name: "reserved", bit: 56, bits: 8},
	},
}

// UDP ports of tunnels.
const (
	vxlanPort  = 4789
	genevePort = 6081
)

// headers are all headers that a text can name.
var headers = []*header{
	&etherHeader, &vlanHeader, &arpHeader, &ipHeader, &ip6Header,
	&hopHeader, &destHeader, &routingHeader, &fragmentHeader, &authHeader,
	&tcpHeader, &udpHeader, &udpliteHeader, &sctpHeader, &dccpHeader, &icmpHeader, &icmpv6Header, &igmpHeader,
	&espHeader, &compHeader, &greHeader, &mobilityHeader,
	&vxlanHeader, &geneveHeader,
}

func headerByName(name string) *header {
	i := slices.IndexFunc(headers, func(h *header) bool { return h.name == name })
	if i < 0 {
		return nil
	}
	return headers[i]
}

// headerByProtocol finds an extension or transport header.
func headerByProtocol(protocol uint64) *header {
	i := slices.IndexFunc(headers, func(h *header) bool {
		return h.protocol == int(protocol) && (h.rank == rankExtension || h.rank == rankTransport)
	})
	if i < 0 {
		return nil
	}
	return headers[i]
}

func headerByEtherType(typ uint64) *header {
	i := slices.IndexFunc(headers, func(h *header) bool { return h.rank == rankNetwork && uint64(h.etherType) == typ })
	if i < 0 {
		return nil
	}
	return headers[i]
}
