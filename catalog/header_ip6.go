package catalog

// IP6 is the IPv6 header.
var IP6 = &Protocol{
	Name: "ip6", Base: BaseNetwork, Selector: 5, ChecksumOffset: -1,
	Fields: []Field{
		{Name: "version", Type: Integer, Offset: 0, Bits: 4, Order: OrderNetwork},
		{Name: "dscp", Type: DSCP, Offset: 4, Bits: 6},
		{Name: "ecn", Type: ECN, Offset: 10, Bits: 2},
		{Name: "flowlabel", Type: Integer, Offset: 12, Bits: 20, Order: OrderNetwork},
		{Name: "length", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork},
		{Name: "nexthdr", Type: InetProto, Offset: 48, Bits: 8},
		{Name: "hoplimit", Type: Integer, Offset: 56, Bits: 8, Order: OrderNetwork},
		{Name: "saddr", Type: IPv6Addr, Offset: 64, Bits: 128, Pseudo: true},
		{Name: "daddr", Type: IPv6Addr, Offset: 192, Bits: 128, Pseudo: true},
	},
}
