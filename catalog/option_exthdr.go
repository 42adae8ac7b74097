package catalog

// Exthdrs lists the IPv6 extension headers. hbh, rt, frag, dst and mh are
// headers of their own; rt0, rt2 and srh are routing headers of one type.
var Exthdrs = []*Option{
	{Name: "hbh", Kind: 0, RoutingType: -1, Fields: []OptionField{
		{Name: "nexthdr", Type: InetProto, Offset: 0, Bits: 8},
		{Name: "hdrlength", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
	}},
	{Name: "rt", Kind: 43, RoutingType: -1, Fields: []OptionField{
		{Name: "nexthdr", Type: InetProto, Offset: 0, Bits: 8},
		{Name: "hdrlength", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "type", Type: Integer, Offset: 16, Bits: 8, Order: OrderNetwork},
		{Name: "seg-left", Type: Integer, Offset: 24, Bits: 8, Order: OrderNetwork},
	}},
	{Name: "rt0", Kind: 43, RoutingType: 0, Fields: []OptionField{
		{Name: "addr", Type: IPv6Addr, Offset: 64, Bits: 128, Step: 128, Indices: 16},
	}},
	{Name: "rt2", Kind: 43, RoutingType: 2, Fields: []OptionField{
		{Name: "addr", Type: IPv6Addr, Offset: 64, Bits: 128},
	}},
	{Name: "srh", Kind: 43, RoutingType: 4, Fields: []OptionField{
		{Name: "last-entry", Type: Integer, Offset: 32, Bits: 8, Order: OrderNetwork},
		{Name: "flags", Type: Integer, Offset: 40, Bits: 8, Order: OrderNetwork},
		{Name: "tag", Type: Integer, Offset: 48, Bits: 16, Order: OrderNetwork},
		{Name: "sid", Type: IPv6Addr, Offset: 64, Bits: 128, Step: 128, Indices: 16},
	}},
	{Name: "frag", Kind: 44, RoutingType: -1, Fields: []OptionField{
		{Name: "nexthdr", Type: InetProto, Offset: 0, Bits: 8},
		{Name: "reserved", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "frag-off", Type: Integer, Offset: 16, Bits: 13, Order: OrderNetwork},
		{Name: "reserved2", Type: Integer, Offset: 29, Bits: 2, Order: OrderNetwork},
		{Name: "more-fragments", Type: Integer, Offset: 31, Bits: 1, Order: OrderNetwork},
		{Name: "id", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork},
	}},
	{Name: "dst", Kind: 60, RoutingType: -1, Fields: []OptionField{
		{Name: "nexthdr", Type: InetProto, Offset: 0, Bits: 8},
		{Name: "hdrlength", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
	}},
	{Name: "mh", Kind: 135, RoutingType: -1, Fields: []OptionField{
		{Name: "nexthdr", Type: InetProto, Offset: 0, Bits: 8},
		{Name: "hdrlength", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "type", Type: MHType, Offset: 16, Bits: 8},
		{Name: "reserved", Type: Integer, Offset: 24, Bits: 8, Order: OrderNetwork},
		{Name: "checksum", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork},
	}},
}
