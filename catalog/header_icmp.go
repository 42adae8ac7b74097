package catalog

// The ICMP types that carry the fields behind the checksum.
var (
	icmpEcho     = []uint8{0, 8}
	icmpRedirect = []uint8{5}
	icmpUnreach  = []uint8{3}

	icmpv6Echo      = []uint8{128, 129}
	icmpv6Param     = []uint8{4}
	icmpv6TooBig    = []uint8{2}
	icmpv6MLDQuery  = []uint8{130}
	icmpv6Target    = []uint8{130, 131, 132, 135, 136, 137}
	icmpv6Redirects = []uint8{137}
)

// ICMP is the ICMP header. What lies behind the checksum depends on the type.
var ICMP = &Protocol{
	Name: "icmp", Base: BaseTransport, Selector: -1, ChecksumOffset: 2, ChecksumType: ChecksumInet,
	Fields: []Field{
		{Name: "type", Type: ICMPType, Offset: 0, Bits: 8},
		{Name: "code", Type: ICMPCode, Offset: 8, Bits: 8},
		{Name: "checksum", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
		{Name: "id", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork, IcmpTypes: icmpEcho},
		{Name: "sequence", Type: Integer, Offset: 48, Bits: 16, Order: OrderNetwork, IcmpTypes: icmpEcho},
		{Name: "gateway", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork, IcmpTypes: icmpRedirect},
		{Name: "mtu", Type: Integer, Offset: 48, Bits: 16, Order: OrderNetwork, IcmpTypes: icmpUnreach},
	},
}

// ICMPv6 is the ICMPv6 header. What lies behind the checksum depends on the
// type.
var ICMPv6 = &Protocol{
	Name: "icmpv6", Base: BaseTransport, Selector: -1, ChecksumOffset: 2, ChecksumType: ChecksumInet,
	Fields: []Field{
		{Name: "type", Type: ICMPv6Type, Offset: 0, Bits: 8},
		{Name: "code", Type: ICMPv6Code, Offset: 8, Bits: 8},
		{Name: "checksum", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
		{Name: "param-problem", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork, IcmpTypes: icmpv6Param},
		{Name: "mtu", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork, IcmpTypes: icmpv6TooBig},
		{Name: "id", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork, IcmpTypes: icmpv6Echo},
		{Name: "sequence", Type: Integer, Offset: 48, Bits: 16, Order: OrderNetwork, IcmpTypes: icmpv6Echo},
		{Name: "max-delay", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork, IcmpTypes: icmpv6MLDQuery},
		{Name: "taddr", Type: IPv6Addr, Offset: 64, Bits: 128, IcmpTypes: icmpv6Target},
		{Name: "daddr", Type: IPv6Addr, Offset: 192, Bits: 128, IcmpTypes: icmpv6Redirects},
	},
}

// IGMP is the IGMP header.
var IGMP = &Protocol{
	Name: "igmp", Base: BaseTransport, Selector: -1, ChecksumOffset: 2, ChecksumType: ChecksumInet,
	Fields: []Field{
		{Name: "type", Type: IGMPType, Offset: 0, Bits: 8},
		{Name: "mrt", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "checksum", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
		{Name: "group", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork},
	},
}
