package expr

// Last remembers when the rule matched last.
// Ref: nft_last.c.
type Last struct {
	Set   bool
	Msecs uint64 // since the last match
}

// Kind is last.
func (*Last) Kind() string { return "last" }

// AppendText appends `last never` or `last 1000`.
func (e *Last) AppendText(b []byte) []byte {
	if !e.Set {
		return append(b, "last never"...)
	}
	return appendUint(append(b, "last "...), e.Msecs)
}

// Check refuses nothing.
func (*Last) Check(*Checker) error { return nil }

// Registers uses none.
func (*Last) Registers(*Place) RegUse { return RegUse{} }

func parseLast(p *textParser) Expr {
	if p.accept("never") {
		return &Last{}
	}
	return &Last{Set: true, Msecs: p.uint(64)}
}
