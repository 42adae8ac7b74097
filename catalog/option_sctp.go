package catalog

func sctpChunk(name string, kind uint8, fields ...OptionField) *Option {
	header := []OptionField{
		{Name: "type", Type: Integer, Offset: 0, Bits: 8, Order: OrderNetwork},
		{Name: "flags", Type: Integer, Offset: 8, Bits: 8, Order: OrderNetwork},
		{Name: "length", Type: Integer, Offset: 16, Bits: 16, Order: OrderNetwork},
	}
	return &Option{Name: name, Kind: kind, RoutingType: -1, Fields: append(header, fields...)}
}

func sctpField(name string, offset, bits int) OptionField {
	return OptionField{Name: name, Type: Integer, Offset: offset, Bits: bits, Order: OrderNetwork}
}

// sctpInit are the fields that init and init-ack share.
var sctpInit = []OptionField{
	sctpField("init-tag", 32, 32), sctpField("a-rwnd", 64, 32),
	sctpField("num-outbound-streams", 96, 16), sctpField("num-inbound-streams", 112, 16),
	sctpField("initial-tsn", 128, 32),
}

// SCTPChunks lists the SCTP chunks.
// Ref: RFC 9260; RFC 3758 forward-tsn; RFC 5061 asconf.
var SCTPChunks = []*Option{
	sctpChunk("data", 0, sctpField("tsn", 32, 32), sctpField("stream", 64, 16), sctpField("ssn", 80, 16), sctpField("ppid", 96, 32)),
	sctpChunk("init", 1, sctpInit...),
	sctpChunk("init-ack", 2, sctpInit...),
	sctpChunk("sack", 3, sctpField("cum-tsn-ack", 32, 32), sctpField("a-rwnd", 64, 32),
		sctpField("num-gap-ack-blocks", 96, 16), sctpField("num-dup-tsns", 112, 16)),
	sctpChunk("heartbeat", 4),
	sctpChunk("heartbeat-ack", 5),
	sctpChunk("abort", 6),
	sctpChunk("shutdown", 7, sctpField("cum-tsn-ack", 32, 32)),
	sctpChunk("shutdown-ack", 8),
	sctpChunk("error", 9),
	sctpChunk("cookie-echo", 10),
	sctpChunk("cookie-ack", 11),
	sctpChunk("ecne", 12, sctpField("lowest-tsn", 32, 32)),
	sctpChunk("cwr", 13, sctpField("lowest-tsn", 32, 32)),
	sctpChunk("shutdown-complete", 14),
	sctpChunk("asconf-ack", 128, sctpField("seqno", 32, 32)),
	sctpChunk("forward-tsn", 192, sctpField("new-cum-tsn", 32, 32)),
	sctpChunk("asconf", 193, sctpField("seqno", 32, 32)),
}
