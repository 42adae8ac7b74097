package decompile

import "verdict/nft/expr"

// registers remembers what was loaded where, by 4-byte words of the register
// file. A word inside a longer operand is empty.
type registers [expr.FileSize / 4]*operand

func word(r expr.Reg) int {
	offset := r.Offset()
	if offset < 0 {
		return 0
	}
	return offset / 4
}

func (f *registers) set(r expr.Reg, o *operand) {
	w := word(r)
	f[w] = o
	for i := 1; i < o.words() && w+i < len(f); i++ {
		f[w+i] = nil
	}
}

// get gives the operand that starts at a register, nil if none does.
func (f *registers) get(r expr.Reg) *operand { return f[word(r)] }

// span gives the operands that together fill length bytes from a register on.
// With an unknown length (0) it is the one operand there.
func (f *registers) span(r expr.Reg, length int) *operand {
	first := f.get(r)
	if first == nil || length == 0 || first.words()*4 >= length {
		return first
	}
	var parts []*operand
	for w, end := word(r), word(r)+(length+3)/4; w < end && w < len(f); {
		o := f[w]
		if o == nil {
			break
		}
		parts = append(parts, o)
		w += o.words()
	}
	if len(parts) == 1 {
		return first
	}
	return &operand{kind: operandConcat, parts: parts, bytes: length}
}
