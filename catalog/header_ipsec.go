package catalog

// AH is the authentication header of IPsec.
var AH = &Protocol{
	Name: "ah", Base: BaseTransport, Selector: 0, ChecksumOffset: -1,
	Fields: []Field{
		{Name: "nexthdr", Type: InetProto, Offset: 0, Bits: 8},
		{Name: "hdrlength", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "reserved", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
		{Name: "spi", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork},
		{Name: "sequence", Type: Integer, Offset: 64, Bits: 32, Order: OrderNetwork},
	},
}

// ESP is the ESP header of IPsec.
var ESP = &Protocol{
	Name: "esp", Base: BaseTransport, Selector: -1, ChecksumOffset: -1,
	Fields: []Field{
		{Name: "spi", Type: Integer, Offset: 0, Bits: 32, Order: OrderNetwork},
		{Name: "sequence", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork},
	},
}

// Comp is the IP payload compression header.
var Comp = &Protocol{
	Name: "comp", Base: BaseTransport, Selector: 0, ChecksumOffset: -1,
	Fields: []Field{
		{Name: "nexthdr", Type: InetProto, Offset: 0, Bits: 8},
		{Name: "flags", Type: Bitmask, Offset: 8, Bits: 8, Order: OrderNetwork, Form: FormHex},
		{Name: "cpi", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
	},
}
