package catalog

// Ether is the Ethernet header.
var Ether = &Protocol{
	Name: "ether", Base: BaseLink, Selector: 2, ChecksumOffset: -1,
	Fields: []Field{
		{Name: "daddr", Type: EtherAddr, Offset: 0, Bits: 48},
		{Name: "saddr", Type: EtherAddr, Offset: 48, Bits: 48},
		{Name: "type", Type: EtherType, Offset: 96, Bits: 16},
	},
}

// VLAN is the 802.1Q header, counted from behind the Ethernet addresses and
// type.
var VLAN = &Protocol{
	Name: "vlan", Base: BaseLink, Selector: 4, ChecksumOffset: -1,
	Fields: []Field{
		{Name: "pcp", Type: Integer, Offset: 0, Bits: 3, Order: OrderNetwork},
		{Name: "dei", Type: Integer, Offset: 3, Bits: 1, Order: OrderNetwork},
		{Name: "cfi", Type: Integer, Offset: 3, Bits: 1, Order: OrderNetwork},
		{Name: "id", Type: Integer, Offset: 4, Bits: 12, Order: OrderNetwork},
		{Name: "type", Type: EtherType, Offset: 16, Bits: 16},
	},
}

// ARP is the ARP header, with the addresses of ARP for IPv4 over Ethernet.
var ARP = &Protocol{
	Name: "arp", Base: BaseNetwork, Selector: -1, ChecksumOffset: -1,
	Fields: []Field{
		{Name: "htype", Type: Integer, Offset: 0, Bits: 16, Order: OrderNetwork},
		{Name: "ptype", Type: EtherType, Offset: 16, Bits: 16},
		{Name: "hlen", Type: Integer, Offset: 32, Bits: 8, Order: OrderNetwork},
		{Name: "plen", Type: Integer, Offset: 40, Bits: 8, Order: OrderNetwork},
		{Name: "operation", Type: ARPOp, Offset: 48, Bits: 16},
		{Name: "saddr ether", Type: EtherAddr, Offset: 64, Bits: 48},
		{Name: "saddr ip", Type: IPv4Addr, Offset: 112, Bits: 32},
		{Name: "daddr ether", Type: EtherAddr, Offset: 144, Bits: 48},
		{Name: "daddr ip", Type: IPv4Addr, Offset: 192, Bits: 32},
	},
}
