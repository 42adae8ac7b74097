package catalog

// VXLAN is the VXLAN header, behind UDP.
var VXLAN = &Protocol{
	Name: "vxlan", Base: BaseTunnel, Selector: -1, ChecksumOffset: -1,
	Tunnel: &TunnelHeader{InnerType: 1, HeaderSize: 8, Flags: InnerHeaderSize | InnerLink | InnerNetwork | InnerTransport},
	Fields: []Field{
		{Name: "flags", Type: Integer, Offset: 0, Bits: 8, Order: OrderNetwork},
		{Name: "vni", Type: Integer, Offset: 32, Bits: 24, Order: OrderNetwork},
	},
}

// Geneve is the GENEVE header, behind UDP.
var Geneve = &Protocol{
	Name: "geneve", Base: BaseTunnel, Selector: -1, ChecksumOffset: -1,
	Tunnel: &TunnelHeader{InnerType: 2, HeaderSize: 8, Flags: InnerHeaderSize | InnerLink | InnerNetwork | InnerTransport},
	Fields: []Field{
		{Name: "type", Type: EtherType, Offset: 16, Bits: 16},
		{Name: "vni", Type: Integer, Offset: 32, Bits: 24, Order: OrderNetwork},
	},
}

// GRE is the GRE header; packets inside start with a network header.
var GRE = &Protocol{
	Name: "gre", Base: BaseTransport, Selector: 2, ChecksumOffset: -1,
	Tunnel: &TunnelHeader{InnerType: 3, HeaderSize: 4, Flags: InnerNetwork | InnerTransport},
	Fields: []Field{
		{Name: "flags", Type: Integer, Offset: 0, Bits: 5, Order: OrderNetwork},
		{Name: "version", Type: Integer, Offset: 13, Bits: 3, Order: OrderNetwork},
		{Name: "protocol", Type: EtherType, Offset: 16, Bits: 16},
	},
}

// GRETap is GRE whose packets inside start with an Ethernet header. It has no
// fields of its own.
var GRETap = &Protocol{
	Name: "gretap", Base: BaseTransport, Selector: -1, ChecksumOffset: -1,
	Tunnel: &TunnelHeader{InnerType: 4, HeaderSize: 4, Flags: InnerLink | InnerNetwork | InnerTransport},
}
