package expr

// ConnLimit counts connections.
// Ref: nft_connlimit.c.
type ConnLimit struct {
	Count uint32
	Over  bool
}

// Kind is connlimit.
func (*ConnLimit) Kind() string { return "connlimit" }

// AppendText appends `connlimit count 10 flags 1`.
func (e *ConnLimit) AppendText(b []byte) []byte {
	b = appendNamed(append(b, "connlimit"...), "count", uint64(e.Count))
	var flags uint64
	if e.Over {
		flags = 1
	}
	return appendNamed(b, "flags", flags)
}

// Check refuses arp and netdev tables (EPROTO).
func (*ConnLimit) Check(c *Checker) error { return c.tracked("connlimit") }

// Registers uses none.
func (*ConnLimit) Registers(*Place) RegUse { return RegUse{} }

func parseConnLimit(p *textParser) Expr {
	e := &ConnLimit{}
	p.expect("count")
	e.Count = uint32(p.uint(32))
	e.Over = p.invertFlag()
	return e
}
