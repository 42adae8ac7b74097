package expr

// RegRange is a range of bytes of the register file. Writes of lengths that
// are no multiple of four zero the rest of their last word as well.
type RegRange struct {
	Off, Len uint16
}

// RegUse is the registers that an expression reads and writes. The zero value
// is none.
type RegUse struct {
	reads    [4]RegRange
	n        uint8
	write    RegRange
	hasWrite bool
	verdict  bool
}

// Reads lists what is read, in the order of the operands.
func (u *RegUse) Reads() []RegRange { return u.reads[:u.n] }

// Write is what is written; ok is false if nothing is, or only the verdict.
func (u *RegUse) Write() (r RegRange, ok bool) { return u.write, u.hasWrite }

// Verdict reports whether the expression writes the verdict register from a
// value or a map. That an expression may break or drop does not count.
func (u *RegUse) Verdict() bool { return u.verdict }

func (u *RegUse) addRead(r Reg, length uint32) {
	if off := r.Offset(); off >= 0 && int(u.n) < len(u.reads) {
		u.reads[u.n] = RegRange{uint16(off), uint16(length)}
		u.n++
	}
}

func (u *RegUse) setWrite(r Reg, length uint32) {
	switch off := r.Offset(); {
	case r == RegVerdict:
		u.verdict = true
	case off >= 0:
		u.write, u.hasWrite = RegRange{uint16(off), uint16(length)}, true
	}
}

func reads(r Reg, length uint32) (u RegUse) {
	u.addRead(r, length)
	return u
}

func writes(r Reg, length uint32) (u RegUse) {
	u.setWrite(r, length)
	return u
}

func readsWrites(src Reg, srcLen uint32, dst Reg, dstLen uint32) (u RegUse) {
	u.addRead(src, srcLen)
	u.setWrite(dst, dstLen)
	return u
}
