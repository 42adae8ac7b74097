package expr

import "syscall"

// Byteorder swaps between host and network order.
// Ref: nft_byteorder.c.
type Byteorder struct {
	Src, Dst  Reg
	ToHost    bool // ntoh; else hton (the same operation, another text)
	Len, Size uint32
}

// Kind is byteorder.
func (*Byteorder) Kind() string { return "byteorder" }

// AppendText appends `byteorder reg 1 = hton(reg 1, 4, 4)`.
func (e *Byteorder) AppendText(b []byte) []byte {
	b = appendReg(append(b, "byteorder "...), e.Dst)
	op := " = hton("
	if e.ToHost {
		op = " = ntoh("
	}
	b = appendReg(append(b, op...), e.Src)
	b = appendUint(append(b, ", "...), uint64(e.Size))
	b = appendUint(append(b, ", "...), uint64(e.Len))
	return append(b, ')')
}

// Check refuses sizes other than 2, 4 and 8 (EINVAL), lengths above 255
// (ERANGE) or other than the size (EOPNOTSUPP), and registers that overlap in
// part (EINVAL).
// Ref: nft_byteorder.c, nft_byteorder_init.
func (e *Byteorder) Check(c *Checker) error {
	if e.Size > 255 || e.Len > 255 {
		return refuse(syscall.ERANGE, "size %d and length %d must not be larger than 255", e.Size, e.Len)
	}
	if e.Size != 2 && e.Size != 4 && e.Size != 8 {
		return refuse(syscall.EINVAL, "numbers of %d bytes", e.Size)
	}
	if e.Len != e.Size {
		return refuse(syscall.EOPNOTSUPP, "length %d differs from size %d", e.Len, e.Size)
	}
	if err := c.load(e.Src, e.Len); err != nil {
		return err
	}
	if overlap(e.Src, e.Dst, e.Len) {
		return refuse(syscall.EINVAL, "registers %d and %d overlap", e.Src, e.Dst)
	}
	return c.store(e.Dst, e.Len)
}

// Registers reads Src and writes Dst.
func (e *Byteorder) Registers(*Place) RegUse { return readsWrites(e.Src, e.Len, e.Dst, e.Len) }

func parseByteorder(p *textParser) Expr {
	e := &Byteorder{Dst: p.reg()}
	p.expect("=")
	e.ToHost = p.oneOf("operation", []string{"hton", "ntoh"}) == 1
	p.expect("(")
	e.Src = p.reg()
	p.expect(",")
	e.Size = uint32(p.uint(32))
	p.expect(",")
	e.Len = uint32(p.uint(32))
	p.expect(")")
	return e
}
