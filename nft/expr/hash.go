package expr

import "syscall"

// Hash hashes a register (jenkins) or the flow (symmetric).
// Ref: nft_hash.c.
type Hash struct {
	Symmetric         bool
	Src, Dst          Reg
	Len               uint32
	Seed, Mod, Offset uint32
	HasSeed           bool
}

// Kind is hash.
func (*Hash) Kind() string { return "hash" }

// AppendText appends `hash reg 1 = jhash(reg 2, 8, 0x0) % mod 2` or
// `hash reg 1 = symhash() % mod 2`.
func (e *Hash) AppendText(b []byte) []byte {
	b = appendReg(append(b, "hash "...), e.Dst)
	if e.Symmetric {
		b = append(b, " = symhash()"...)
	} else {
		b = appendReg(append(b, " = jhash("...), e.Src)
		b = appendUint(append(b, ", "...), uint64(e.Len))
		b = appendHex(append(b, ", "...), uint64(e.Seed))
		b = append(b, ')')
	}
	return appendModulus(append(b, " %"...), e.Mod, e.Offset)
}

// Check refuses lengths of 0 or above 255 (ERANGE), a modulus of 0 (ERANGE)
// and results that do not fit into 32 bits (EOVERFLOW).
// Ref: nft_hash.c, nft_jhash_init, nft_symhash_init.
func (e *Hash) Check(c *Checker) error {
	if !e.Symmetric {
		if e.Len == 0 || e.Len > 255 {
			return refuse(syscall.ERANGE, "hash over %d bytes", e.Len)
		}
		if err := c.load(e.Src, e.Len); err != nil {
			return err
		}
	}
	if err := checkModulus(e.Mod, e.Offset); err != nil {
		return err
	}
	return c.store(e.Dst, 4)
}

// Registers reads Src for jenkins and writes Dst.
func (e *Hash) Registers(*Place) RegUse {
	if e.Symmetric {
		return writes(e.Dst, 4)
	}
	return readsWrites(e.Src, e.Len, e.Dst, 4)
}

func parseHash(p *textParser) Expr {
	e := &Hash{Dst: p.reg()}
	p.expect("=")
	e.Symmetric = p.oneOf("hash", []string{"jhash", "symhash"}) == 1
	p.expect("(")
	if !e.Symmetric {
		e.Src = p.reg()
		p.expect(",")
		e.Len = uint32(p.uint(32))
		p.expect(",")
		e.Seed = uint32(p.uint(32))
		e.HasSeed = e.Seed != 0
	}
	p.expect(")", "%")
	e.Mod, e.Offset = p.modulus()
	return e
}
