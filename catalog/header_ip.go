package catalog

// IP is the IPv4 header.
var IP = &Protocol{
	Name: "ip", Base: BaseNetwork, Selector: 8, ChecksumOffset: 10, ChecksumType: ChecksumInet,
	Fields: []Field{
		{Name: "version", Type: Integer, Offset: 0, Bits: 4, Order: OrderNetwork},
		{Name: "hdrlength", Type: Integer, Offset: 4, Bits: 4, Order: OrderNetwork},
		{Name: "dscp", Type: DSCP, Offset: 8, Bits: 6},
		{Name: "ecn", Type: ECN, Offset: 14, Bits: 2},
		{Name: "length", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
		{Name: "id", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork},
		{Name: "frag-off", Type: Integer, Offset: 48, Bits: 16, Order: OrderNetwork, Form: FormHex},
		{Name: "ttl", Type: Integer, Offset: 64, Bits: 8, Order: OrderNetwork},
		{Name: "protocol", Type: InetProto, Offset: 72, Bits: 8},
		{Name: "checksum", Type: Integer, Offset: 80, Bits: 16, Order: OrderNetwork},
		{Name: "saddr", Type: IPv4Addr, Offset: 96, Bits: 32, Pseudo: true},
		{Name: "daddr", Type: IPv4Addr, Offset: 128, Bits: 32, Pseudo: true},
	},
}
