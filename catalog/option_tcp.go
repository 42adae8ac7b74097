package catalog

// length is the second byte of every TCP option but eol and nop.
var tcpOptionLength = OptionField{Name: "length", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork}

// sackBlock gives the edges of the n-th block of a SACK option, from 0.
func sackBlock(n int) []OptionField {
	return []OptionField{
		tcpOptionLength,
		{Name: "left", Type: Integer, Offset: 16 + 64*n, Bits: 32, Order: OrderNetwork},
		{Name: "right", Type: Integer, Offset: 48 + 64*n, Bits: 32, Order: OrderNetwork},
	}
}

// TCPOptions lists the TCP options. sack and sack0 are the same; listings say
// sack, and sack1 to sack3 for the blocks after the first. echo has the kind
// of timestamp, as nft has it.
// Ref: IANA, TCP Option Kind Numbers.
var TCPOptions = []*Option{
	{Name: "eol", Kind: 0, RoutingType: -1},
	{Name: "nop", Kind: 1, RoutingType: -1},
	{Name: "maxseg", Kind: 2, RoutingType: -1, Fields: []OptionField{
		tcpOptionLength,
		{Name: "size", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
	}},
	{Name: "window", Kind: 3, RoutingType: -1, Fields: []OptionField{
		tcpOptionLength,
		{Name: "count", Type: Integer, Offset: 16, Bits: 8, Order: OrderNetwork},
	}},
	{Name: "sack-perm", Kind: 4, RoutingType: -1, Fields: []OptionField{tcpOptionLength}},
	{Name: "sack", Kind: 5, RoutingType: -1, Fields: sackBlock(0)},
	{Name: "sack0", Kind: 5, RoutingType: -1, Fields: sackBlock(0)},
	{Name: "sack1", Kind: 5, RoutingType: -1, Fields: sackBlock(1)},
	{Name: "sack2", Kind: 5, RoutingType: -1, Fields: sackBlock(2)},
	{Name: "sack3", Kind: 5, RoutingType: -1, Fields: sackBlock(3)},
	{Name: "timestamp", Kind: 8, RoutingType: -1, Fields: []OptionField{
		tcpOptionLength,
		{Name: "tsval", Type: Integer, Offset: 16, Bits: 32, Order: OrderNetwork},
		{Name: "tsecr", Type: Integer, Offset: 48, Bits: 32, Order: OrderNetwork},
	}},
	{Name: "echo", Kind: 8, RoutingType: -1, Fields: []OptionField{tcpOptionLength}},
	{Name: "md5sig", Kind: 19, RoutingType: -1, Fields: []OptionField{tcpOptionLength}},
	{Name: "mptcp", Kind: 30, RoutingType: -1, Fields: []OptionField{
		tcpOptionLength,
		{Name: "subtype", Type: MPTCPSubtype, Offset: 16, Bits: 4, Order: OrderNetwork},
	}},
	{Name: "fastopen", Kind: 34, RoutingType: -1, Fields: []OptionField{tcpOptionLength}},
}
