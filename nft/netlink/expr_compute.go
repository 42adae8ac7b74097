package netlink

import (
	"verdict/nft/expr"
)

// Expressions that work on registers: bitwise, byteorder, cmp, range,
// immediate, lookup, numgen, hash.

func (w *encoder) computing(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Bitwise:
		w.bitwise(e)
	case *expr.Byteorder:
		w.reg(1, e.Src)
		w.reg(2, e.Dst)
		w.u32(3, bit(!e.ToHost))
		w.u32(4, e.Len)
		w.u32(5, e.Size)
	case *expr.Cmp:
		w.reg(1, e.Src)
		w.u32(2, uint32(e.Op))
		w.value(3, e.Value)
	case *expr.Range:
		w.reg(1, e.Src)
		w.u32(2, bit(e.Neq))
		w.value(3, e.From)
		w.value(4, e.To)
	case *expr.Immediate:
		w.reg(1, e.Dst)
		w.data(2, &e.Data)
	case *expr.Lookup:
		w.str(1, e.Set)
		w.reg(2, e.Src)
		w.regIf(3, e.Dst, e.HasDst)
		w.setID(4, e.SetID)
		if e.Invert {
			w.u32(5, 1)
		}
	case *expr.Numgen:
		w.reg(1, e.Dst)
		w.u32(2, e.Mod)
		w.u32(3, bit(e.Random))
		w.u32(4, e.Offset)
	case *expr.Hash:
		w.hash(e)
	default:
		return false
	}
	return true
}

// setID appends a set's number within the batch.
func (w *builder) setID(t uint16, id uint32) {
	if id != 0 {
		w.u32(t, id)
	}
}

// Numbers of bitwise.
const (
	bitwiseSrc  = 1
	bitwiseDst  = 2
	bitwiseLen  = 3
	bitwiseMask = 4
	bitwiseXor  = 5
	bitwiseOp   = 6
	bitwiseData = 7
	bitwiseSrc2 = 8
)

func (w *encoder) bitwise(e *expr.Bitwise) {
	w.reg(bitwiseSrc, e.Src)
	w.reg(bitwiseDst, e.Dst)
	w.u32(bitwiseLen, e.Len)
	w.u32(bitwiseOp, uint32(e.Op))
	switch {
	case e.Op == expr.BitwiseMaskXor:
		w.value(bitwiseMask, e.Mask)
		w.value(bitwiseXor, e.Xor)
	case e.Op == expr.BitwiseLshift || e.Op == expr.BitwiseRshift:
		// The shift is a constant, and so in the machine's order.
		w.value(bitwiseData, expr.Value{Bytes: littleEndian(e.Shift)})
	case e.HasSrc2:
		w.reg(bitwiseSrc2, e.Src2)
	default:
		w.value(bitwiseData, e.Data)
	}
}

func littleEndian(v uint32) []byte {
	return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
}

func readBitwise(f *fields) expr.Expr {
	e := &expr.Bitwise{Src: f.reg(bitwiseSrc), Dst: f.reg(bitwiseDst), Len: f.u32(bitwiseLen)}
	e.Op = expr.BitwiseOp(f.small(bitwiseOp, uint32(expr.BitwiseXor)))
	switch {
	case e.Op == expr.BitwiseMaskXor:
		e.Mask, e.Xor = f.value(bitwiseMask), f.value(bitwiseXor)
	case e.Op == expr.BitwiseLshift || e.Op == expr.BitwiseRshift:
		v := f.value(bitwiseData).Bytes
		if len(v) != 4 {
			return nil
		}
		e.Shift = uint32(v[0]) | uint32(v[1])<<8 | uint32(v[2])<<16 | uint32(v[3])<<24
	case f.has(bitwiseSrc2):
		e.Src2, e.HasSrc2 = f.reg(bitwiseSrc2), true
	default:
		e.Data = f.value(bitwiseData)
	}
	return e
}

func readByteorder(f *fields) expr.Expr {
	return &expr.Byteorder{Src: f.reg(1), Dst: f.reg(2), ToHost: !f.flag(3), Len: f.u32(4), Size: f.u32(5)}
}

func readCmp(f *fields) expr.Expr {
	return &expr.Cmp{Src: f.reg(1), Op: expr.CmpOp(f.small(2, uint32(expr.CmpGte))), Value: f.value(3)}
}

func readRange(f *fields) expr.Expr {
	return &expr.Range{Src: f.reg(1), Neq: f.flag(2), From: f.value(3), To: f.value(4)}
}

func readImmediate(f *fields) expr.Expr {
	return &expr.Immediate{Dst: f.reg(1), Data: f.data(2)}
}

func readLookup(f *fields) expr.Expr {
	e := &expr.Lookup{Set: f.str(1), Src: f.reg(2), SetID: f.u32(4), Invert: f.flag(5)}
	e.Dst, e.HasDst = f.present(3)
	return e
}

func readNumgen(f *fields) expr.Expr {
	return &expr.Numgen{Dst: f.reg(1), Mod: f.u32(2), Random: f.flag(3), Offset: f.u32(4)}
}

func (w *encoder) hash(e *expr.Hash) {
	if !e.Symmetric {
		w.reg(1, e.Src)
		w.u32(3, e.Len)
	}
	w.reg(2, e.Dst)
	w.u32(4, e.Mod)
	if e.HasSeed {
		w.u32(5, e.Seed)
	}
	if e.Offset != 0 {
		w.u32(6, e.Offset)
	}
	w.u32(7, bit(e.Symmetric))
}

func readHash(f *fields) expr.Expr {
	return &expr.Hash{
		Src: f.reg(1), Dst: f.reg(2), Len: f.u32(3), Mod: f.u32(4),
		HasSeed: f.has(5), Seed: f.u32(5), Offset: f.u32(6), Symmetric: f.flag(7),
	}
}
