package catalog

// ports are the first fields of every protocol with ports.
var (
	sourcePort      = Field{Name: "sport", Type: InetService, Offset: 0, Bits: 16}
	destinationPort = Field{Name: "dport", Type: InetService, Offset: 16, Bits: 16}
)

// TCP is the TCP header.
var TCP = &Protocol{
	Name: "tcp", Base: BaseTransport, Selector: -1, ChecksumOffset: 16, ChecksumType: ChecksumInet,
	Fields: []Field{
		sourcePort, destinationPort,
		{Name: "sequence", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork},
		{Name: "ackseq", Type: Integer, Offset: 64, Bits: 32, Order: OrderNetwork},
		{Name: "doff", Type: Integer, Offset: 96, Bits: 4, Order: OrderNetwork},
		{Name: "reserved", Type: Integer, Offset: 100, Bits: 4, Order: OrderNetwork},
		{Name: "flags", Type: TCPFlag, Offset: 104, Bits: 8},
		{Name: "window", Type: Integer, Offset: 112, Bits: 16, Order: OrderNetwork},
		{Name: "checksum", Type: Integer, Offset: 128, Bits: 16, Order: OrderNetwork},
		{Name: "urgptr", Type: Integer, Offset: 144, Bits: 16, Order: OrderNetwork},
	},
}

// UDP is the UDP header.
var UDP = &Protocol{
	Name: "udp", Base: BaseTransport, Selector: -1, ChecksumOffset: 6, ChecksumType: ChecksumInet,
	Fields: []Field{
		sourcePort, destinationPort,
		{Name: "length", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork},
		{Name: "checksum", Type: Integer, Offset: 48, Bits: 16, Order: OrderNetwork},
	},
}

// UDPLite is the UDP-Lite header. Writes do not update its checksum.
var UDPLite = &Protocol{
	Name: "udplite", Base: BaseTransport, Selector: -1, ChecksumOffset: -1,
	Fields: []Field{
		sourcePort, destinationPort,
		{Name: "csumcov", Type: Integer, Offset: 32, Bits: 16, Order: OrderNetwork},
		{Name: "checksum", Type: Integer, Offset: 48, Bits: 16, Order: OrderNetwork},
	},
}

// DCCP is the DCCP header.
var DCCP = &Protocol{
	Name: "dccp", Base: BaseTransport, Selector: -1, ChecksumOffset: -1,
	Fields: []Field{
		sourcePort, destinationPort,
		{Name: "type", Type: DCCPPktType, Offset: 67, Bits: 4},
	},
}

// SCTP is the common header of SCTP.
var SCTP = &Protocol{
	Name: "sctp", Base: BaseTransport, Selector: -1, ChecksumOffset: 8, ChecksumType: ChecksumSCTP,
	Fields: []Field{
		sourcePort, destinationPort,
		{Name: "vtag", Type: Integer, Offset: 32, Bits: 32, Order: OrderNetwork},
		{Name: "checksum", Type: Integer, Offset: 64, Bits: 32, Order: OrderNetwork},
	},
}

// TH is any transport header that starts with ports.
var TH = &Protocol{
	Name: "th", Base: BaseTransport, Selector: -1, ChecksumOffset: -1,
	Fields: []Field{sourcePort, destinationPort},
}
