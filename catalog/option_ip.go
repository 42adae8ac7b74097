package catalog

func ipRouteOption(name string, kind uint8) *Option {
	return &Option{Name: name, Kind: kind, RoutingType: -1, Fields: []OptionField{
		{Name: "type", Type: Integer, Offset: 0, Bits: 8, Order: OrderNetwork},
		{Name: "length", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "ptr", Type: Integer, Offset: 16, Bits: 8, Order: OrderNetwork},
		{Name: "addr", Type: IPv4Addr, Offset: 24, Bits: 32},
	}}
}

// IPOptions lists the IPv4 options: loose and strict source route, record
// route, router alert.
// Ref: RFC 791, RFC 2113.
var IPOptions = []*Option{
	ipRouteOption("lsrr", 131),
	ipRouteOption("rr", 7),
	ipRouteOption("ssrr", 137),
	{Name: "ra", Kind: 148, RoutingType: -1, Fields: []OptionField{
		{Name: "type", Type: Integer, Offset: 0, Bits: 8, Order: OrderNetwork},
		{Name: "length", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "value", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
	}},
}
