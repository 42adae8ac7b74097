package expr

import "syscall"

// Numgen makes numbers from Offset to Offset+Mod-1, counting or random.
// Ref: nft_numgen.c.
type Numgen struct {
	Random      bool
	Mod, Offset uint32
	Dst         Reg
}

// Kind is numgen.
func (*Numgen) Kind() string { return "numgen" }

// AppendText appends `numgen reg 1 = inc mod 2`, perhaps with ` offset 100`.
func (e *Numgen) AppendText(b []byte) []byte {
	b = appendReg(append(b, "numgen "...), e.Dst)
	how := " = inc"
	if e.Random {
		how = " = random"
	}
	return appendModulus(append(b, how...), e.Mod, e.Offset)
}

func appendModulus(b []byte, mod, offset uint32) []byte {
	b = appendNamed(b, "mod", uint64(mod))
	if offset != 0 {
		b = appendNamed(b, "offset", uint64(offset))
	}
	return b
}

// Check refuses a modulus of 0 (ERANGE) and results that do not fit into 32
// bits (EOVERFLOW).
// Ref: nft_numgen.c, nft_ng_inc_init, nft_ng_random_init.
func (e *Numgen) Check(c *Checker) error {
	if err := checkModulus(e.Mod, e.Offset); err != nil {
		return err
	}
	return c.store(e.Dst, 4)
}

func checkModulus(mod, offset uint32) error {
	if mod == 0 {
		return refuse(syscall.ERANGE, "modulus 0")
	}
	if offset+mod-1 < offset {
		return refuse(syscall.EOVERFLOW, "offset %d plus modulus %d does not fit into 32 bits", offset, mod)
	}
	return nil
}

// Registers writes Dst.
func (e *Numgen) Registers(*Place) RegUse { return writes(e.Dst, 4) }

func parseNumgen(p *textParser) Expr {
	e := &Numgen{Dst: p.reg()}
	p.expect("=")
	e.Random = p.oneOf("generator", []string{"inc", "random"}) == 1
	e.Mod, e.Offset = p.modulus()
	return e
}

// modulus reads `mod M` and perhaps `offset N`.
func (p *textParser) modulus() (mod, offset uint32) {
	p.expect("mod")
	mod = uint32(p.uint(32))
	n, _ := p.named("offset", 32)
	return mod, uint32(n)
}
