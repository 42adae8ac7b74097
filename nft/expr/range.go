package expr

import "syscall"

// Range compares a register with a closed interval, bytewise unsigned; Neq
// inverts. From may be larger than To: then nothing lies inside.
// Ref: nft_range.c.
type Range struct {
	Src      Reg
	Neq      bool
	From, To Value
}

// Kind is range.
func (*Range) Kind() string { return "range" }

// AppendText appends `range eq reg 1 0x0016 0x0017`.
func (e *Range) AppendText(b []byte) []byte {
	op := "range eq "
	if e.Neq {
		op = "range neq "
	}
	b = append(appendReg(append(b, op...), e.Src), ' ')
	b = append(AppendValue(b, e.From), ' ')
	return AppendValue(b, e.To)
}

// Check refuses bounds that are empty (EINVAL), longer than 16 bytes
// (EOVERFLOW) or of different length (EINVAL).
// Ref: nft_range.c, nft_range_init.
func (e *Range) Check(c *Checker) error {
	if err := value("lower bound", e.From, 0); err != nil {
		return err
	}
	if err := value("upper bound", e.To, 0); err != nil {
		return err
	}
	if len(e.From.Bytes) != len(e.To.Bytes) {
		return refuse(syscall.EINVAL, "bounds of %d and %d bytes", len(e.From.Bytes), len(e.To.Bytes))
	}
	return c.load(e.Src, uint32(len(e.From.Bytes)))
}

// Registers reads Src.
func (e *Range) Registers(*Place) RegUse { return reads(e.Src, uint32(len(e.From.Bytes))) }

func parseRange(p *textParser) Expr {
	e := &Range{Neq: p.oneOf("relation", []string{"eq", "neq"}) == 1}
	e.Src = p.reg()
	e.From, e.To = p.values()
	return e
}
