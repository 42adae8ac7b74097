package expr

import (
	"encoding/binary"
	"fmt"
	"syscall"
)

// BitwiseOp is the operation of a Bitwise. Ref: enum nft_bitwise_ops.
type BitwiseOp uint8

// The operations.
const (
	BitwiseMaskXor BitwiseOp = iota
	BitwiseLshift
	BitwiseRshift
	BitwiseAnd
	BitwiseOr
	BitwiseXor
)

var bitwiseSigns = [...]string{"&", "<<", ">>", "&", "|", "^"}

// Bitwise computes on Len bytes: (Src & Mask) ^ Xor, a shift by Shift bits,
// or Src op Data / Src op Src2.
// Ref: nft_bitwise.c.
type Bitwise struct {
	Src, Dst  Reg
	Len       uint32
	Op        BitwiseOp
	Mask, Xor Value  // BitwiseMaskXor
	Shift     uint32 // shifts
	Data      Value  // and, or, xor with a constant
	Src2      Reg    // and, or, xor with a register
	HasSrc2   bool
}

// Kind is bitwise.
func (*Bitwise) Kind() string { return "bitwise" }

// AppendText appends `bitwise reg 1 = ( reg 1 & 0x0000000f ) ^ 0x00000000`
// and the like.
func (e *Bitwise) AppendText(b []byte) []byte {
	b = appendReg(append(b, "bitwise "...), e.Dst)
	b = appendReg(append(b, " = ( "...), e.Src)
	sign := "?"
	if int(e.Op) < len(bitwiseSigns) {
		sign = bitwiseSigns[e.Op]
	}
	b = append(append(append(b, ' '), sign...), ' ')
	switch {
	case e.Op == BitwiseMaskXor:
		b = append(AppendValue(b, e.Mask), " ) ^ "...)
		return AppendValue(b, e.Xor)
	case e.Op == BitwiseLshift || e.Op == BitwiseRshift:
		b = AppendValue(b, Value{Bytes: binary.BigEndian.AppendUint32(nil, e.Shift)})
	case e.HasSrc2:
		b = appendReg(b, e.Src2)
	default:
		b = AppendValue(b, e.Data)
	}
	return append(b, " )"...)
}

// Check refuses lengths above 255 (ERANGE), constants of another length
// (EINVAL; EOVERFLOW above 16 bytes), shifts outside 1 to 31 (EINVAL), and,
// or and xor with no or two operands (EINVAL), unknown operations
// (EOPNOTSUPP), and registers that overlap in part (EINVAL). The destination
// counts as written when Src2 is checked, so a Src2 that is the destination
// need not have been written before.
// Ref: nft_bitwise.c, nft_bitwise_init.
func (e *Bitwise) Check(c *Checker) error {
	if e.Len > 255 {
		return refuse(syscall.ERANGE, "length %d is larger than 255", e.Len)
	}
	if err := c.load(e.Src, e.Len); err != nil {
		return err
	}
	if err := c.store(e.Dst, e.Len); err != nil {
		return err
	}
	if overlap(e.Src, e.Dst, e.Len) {
		return refuse(syscall.EINVAL, "registers %d and %d overlap", e.Src, e.Dst)
	}
	switch e.Op {
	case BitwiseMaskXor:
		if err := value("mask", e.Mask, int(e.Len)); err != nil {
			return err
		}
		return value("xor", e.Xor, int(e.Len))
	case BitwiseLshift, BitwiseRshift:
		if e.Shift == 0 || e.Shift >= 32 {
			return refuse(syscall.EINVAL, "shift by %d bits", e.Shift)
		}
		return nil
	case BitwiseAnd, BitwiseOr, BitwiseXor:
		return e.checkOperand(c)
	}
	return refuse(syscall.EOPNOTSUPP, "unknown operation %d", e.Op)
}

func (e *Bitwise) checkOperand(c *Checker) error {
	switch {
	case e.HasSrc2 == (len(e.Data.Bytes) > 0):
		return refuse(syscall.EINVAL, "needs either a constant or a second register")
	case !e.HasSrc2:
		return value("constant", e.Data, int(e.Len))
	}
	if err := c.load(e.Src2, e.Len); err != nil {
		return err
	}
	if overlap(e.Src2, e.Dst, e.Len) {
		return refuse(syscall.EINVAL, "registers %d and %d overlap", e.Src2, e.Dst)
	}
	return nil
}

// Registers reads Src, perhaps Src2, and writes Dst.
func (e *Bitwise) Registers(*Place) RegUse {
	u := readsWrites(e.Src, e.Len, e.Dst, e.Len)
	if e.HasSrc2 {
		u.addRead(e.Src2, e.Len)
	}
	return u
}

func parseBitwise(p *textParser) Expr {
	e := &Bitwise{Dst: p.reg(), Len: 4}
	p.expect("=", "(")
	e.Src = p.reg()
	sign := p.oneOf("operator", bitwiseSigns[1:])
	e.Op = BitwiseOp(sign + 1)
	switch {
	case e.Op == BitwiseLshift || e.Op == BitwiseRshift:
		e.Shift = uint32(p.uint(32))
	case p.peek() == "reg":
		e.Src2, e.HasSrc2 = p.reg(), true
	default:
		e.Data = p.value()
		e.Len = uint32(len(e.Data.Bytes))
	}
	p.expect(")")
	if e.Op == BitwiseAnd && !e.HasSrc2 && p.accept("^") {
		start := p.space()
		e.Op, e.Mask, e.Data = BitwiseMaskXor, e.Data, Value{}
		if e.Xor = p.value(); len(e.Xor.Bytes) != len(e.Mask.Bytes) {
			p.failAt(start, "mask and xor differ in length")
		}
	}
	return e
}

// String names the operation.
func (op BitwiseOp) String() string {
	names := [...]string{"mask-xor", "lshift", "rshift", "and", "or", "xor"}
	if int(op) < len(names) {
		return names[op]
	}
	return fmt.Sprintf("operation %d", uint8(op))
}
