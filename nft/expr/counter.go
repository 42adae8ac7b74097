package expr

// Counter counts packets and bytes. The values are those it starts from.
// Ref: nft_counter.c.
type Counter struct{ Packets, Bytes uint64 }

// Kind is counter.
func (*Counter) Kind() string { return "counter" }

// AppendText appends `counter pkts 0 bytes 0`. Objects print the same.
func (e *Counter) AppendText(b []byte) []byte {
	b = appendNamed(append(b, "counter"...), "pkts", e.Packets)
	return appendNamed(b, "bytes", e.Bytes)
}

// Check refuses nothing.
func (*Counter) Check(*Checker) error { return nil }

// Registers uses none.
func (*Counter) Registers(*Place) RegUse { return RegUse{} }

func parseCounter(p *textParser) Expr {
	e := &Counter{}
	p.expect("pkts")
	e.Packets = p.uint(64)
	p.expect("bytes")
	e.Bytes = p.uint(64)
	return e
}
