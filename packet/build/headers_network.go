package build

import "verdict/packet"

var etherHeader = header{
	name: "ether", rank: rankEther, protocol: -1,
	template: []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 0},
	fields: []field{
		{name: "daddr", bit: 0, bits: 48, kind: etherAddr},
		{name: "saddr", bit: 48, bits: 48, kind: etherAddr},
		{name: "type", bit: 96, bits: 16, symbols: etherTypes, hex: true},
	},
}

// vlanHeader follows the type field of the link header: its own type field is
// that of what follows.
var vlanHeader = header{
	name: "vlan", rank: rankVLAN, protocol: -1, etherType: packet.TypeVLAN,
	template: make([]byte, 4),
	fields: []field{
		{name: "id", bit: 4, bits: 12, essential: true},
		{name: "pcp", bit: 0, bits: 3},
		{name: "dei", alias: "cfi", bit: 3, bits: 1},
		{name: "type", bit: 16, bits: 16, symbols: etherTypes, hex: true},
	},
}

var arpHeader = header{
	name: "arp", rank: rankNetwork, protocol: -1, etherType: packet.TypeARP,
	template: []byte{0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2},
	fields: []field{
		{name: "operation", bit: 48, bits: 16, symbols: arpOperations, essential: true},
		{name: "saddr ip", bit: 112, bits: 32, kind: ipv4Addr, essential: true},
		{name: "daddr ip", bit: 192, bits: 32, kind: ipv4Addr, essential: true},
		{name: "saddr ether", bit: 64, bits: 48, kind: etherAddr},
		{name: "daddr ether", bit: 144, bits: 48, kind: etherAddr},
		{name: "htype", bit: 0, bits: 16},
		{name: "ptype", bit: 16, bits: 16, symbols: etherTypes, hex: true},
		{name: "hlen", bit: 32, bits: 8},
		{name: "plen", bit: 40, bits: 8},
	},
}

var ipHeader = header{
	name: "ip", rank: rankNetwork, protocol: packet.ProtoIPIP, etherType: packet.TypeIPv4, items: &ipOptions,
	template: []byte{0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 0, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2},
	fields: []field{
		{name: "saddr", bit: 96, bits: 32, kind: ipv4Addr, essential: true},
		{name: "daddr", bit: 128, bits: 32, kind: ipv4Addr, essential: true},
		{name: "protocol", bit: 72, bits: 8, symbols: protocols},
		{name: "ttl", bit: 64, bits: 8},
		{name: "dscp", bit: 8, bits: 6, symbols: dscpNames},
		{name: "ecn", bit: 14, bits: 2, symbols: ecnNames},
		{name: "id", bit: 32, bits: 16},
		{name: "frag-off", bit: 48, bits: 16, hex: true},
		{name: "version", bit: 0, bits: 4},
		{name: "hdrlength", bit: 4, bits: 4},
		{name: "length", bit: 16, bits: 16},
		{name: "checksum", bit: 80, bits: 16, hex: true},
	},
}

var ip6Header = header{
	name: "ip6", rank: rankNetwork, protocol: packet.ProtoIPv6, etherType: packet.TypeIPv6,
	template: []byte{
		0x60, 0, 0, 0, 0, 0, 0, 64,
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	},
	fields: []field{
		{name: "saddr", bit: 64, bits: 128, kind: ipv6Addr, essential: true},
		{name: "daddr", bit: 192, bits: 128, kind: ipv6Addr, essential: true},
		{name: "nexthdr", bit: 48, bits: 8, symbols: protocols},
		{name: "hoplimit", bit: 56, bits: 8},
		{name: "dscp", bit: 4, bits: 6, symbols: dscpNames},
		{name: "ecn", bit: 10, bits: 2, symbols: ecnNames},
		{name: "flowlabel", bit: 12, bits: 20},
		{name: "version", bit: 0, bits: 4},
		{name: "length", bit: 32, bits: 16},
	},
}

// optionsHeader describes hop-by-hop and destination options, by default one
// option that pads.
func optionsHeader(name string, protocol int) header {
	return header{
		name: name, rank: rankExtension, protocol: protocol, data: true,
		template: []byte{0, 0},
		fields: []field{
			{name: "nexthdr", bit: 0, bits: 8, symbols: protocols},
			{name: "hdrlength", bit: 8, bits: 8},
		},
	}
}

var (
	hopHeader  = optionsHeader("hbh", packet.ProtoHopByHop)
	destHeader = optionsHeader("dst", packet.ProtoDestOpts)
)

var routingHeader = header{
	name: "rt", rank: rankExtension, protocol: packet.ProtoRouting, data: true,
	template: make([]byte, 4),
	fields: []field{
		{name: "type", bit: 16, bits: 8, essential: true},
		{name: "seg-left", bit: 24, bits: 8, essential: true},
		{name: "nexthdr", bit: 0, bits: 8, symbols: protocols},
		{name: "hdrlength", bit: 8, bits: 8},
	},
}

var fragmentHeader = header{
	name: "frag", rank: rankExtension, protocol: packet.ProtoFragment,
	template: make([]byte, 8),
	fields: []field{
		{name: "frag-off", bit: 16, bits: 13, essential: true},
		{name: "more-fragments", bit: 31, bits: 1, essential: true},
		{name: "id", bit: 32, bits: 32, essential: true},
		{name: "nexthdr", bit: 0, bits: 8, symbols: protocols},
		{name: "reserved", bit: 8, bits: 8},
		{name: "reserved2", bit: 29, bits: 2},
	},
}

var mobilityHeader = header{
	name: "mh", rank: rankTransport, protocol: packet.ProtoMobility, data: true,
	template: []byte{packet.ProtoNoNext, 0, 0, 0, 0, 0},
	fields: []field{
		{name: "type", bit: 16, bits: 8, symbols: mobilityTypes, essential: true},
		{name: "nexthdr", bit: 0, bits: 8, symbols: protocols},
		{name: "hdrlength", bit: 8, bits: 8},
		{name: "reserved", bit: 24, bits: 8},
		{name: "checksum", bit: 32, bits: 16, hex: true},
	},
}

// authHeader is followed by 12 bytes of authentication data by default.
var authHeader = header{
	name: "ah", rank: rankExtension, protocol: packet.ProtoAH, data: true,
	template: []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1},
	fields: []field{
		{name: "spi", bit: 32, bits: 32, essential: true},
		{name: "sequence", bit: 64, bits: 32},
		{name: "nexthdr", bit: 0, bits: 8, symbols: protocols},
		{name: "hdrlength", bit: 8, bits: 8},
		{name: "reserved", bit: 16, bits: 16},
	},
}
