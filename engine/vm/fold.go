package vm

import (
	"encoding/binary"
	"slices"

	"verdict/catalog"
)

// Forms are the fast forms of expressions that a program uses, as bits. Each
// gives the result of the general form.
type Forms uint8

// The forms. The kernel had the first two when it became faster, step by step,
// with the next two; a prefix and a fused compare were proposed for it.
const (
	// FormLoad: loads of one, two or four bytes in place.
	FormLoad Forms = 1 << iota
	// FormEqual: equality of up to four bytes, or sixteen, in one step.
	FormEqual
	// FormCmp: inverted equality too.
	FormCmp
	// FormBitwise: masks of up to four bytes in one step.
	FormBitwise
	// FormPrefix: a mask of whole bytes is part of the compare behind it.
	FormPrefix
	// FormFused: a load with its mask and compare is one step.
	FormFused
	// FormRange: a comparison with ranges of up to four bytes, or with the
	// elements of a small set, is one step.
	FormRange
	// FormThread: a rule that fails leads past those that then fail as well.
	FormThread

	BaseForms = FormLoad | FormEqual
	AllForms  = BaseForms | FormCmp | FormBitwise | FormPrefix | FormFused | FormRange | FormThread
)

// fold makes the code of a chain in which masks are part of the compares behind
// them, comparisons with ranges are one step, and in which rules whose first
// comparisons fail are skipped without running them. Traced packets keep the
// code as it was lowered, which shows what the registers held.
func (p *Program) fold(c *Chain, forms Forms) {
	if forms&(FormPrefix|FormFused|FormRange) == 0 {
		return
	}
	rules := make([][]inst, c.count)
	copied := slices.Clone(p.code[c.start:c.end])
	for i := range rules {
		r := &p.rules[c.first+uint32(i)]
		code := copied[r.start-c.start : r.end-c.start]
		if forms&FormRange != 0 {
			code = p.foldRanges(code)
		}
		if forms&FormFused != 0 {
			code = p.foldLoads(code)
		}
		rules[i] = code[:foldRule(code, forms)]
		if forms&FormFused != 0 {
			fuseRanges(rules[i])
		}
	}
	runs := make([]int, len(rules)) // by rule: how many to skip from here
	if forms&FormFused != 0 {
		for i := len(rules) - 1; i >= 0; i-- {
			if _, ok := headOf(rules[i]); ok {
				runs[i] = 1
				if i+1 < len(rules) {
					runs[i] += runs[i+1]
				}
			}
		}
	}
	c.entry = uint32(len(p.code))
	p.emitFolded(rules, runs)
	p.code = append(p.code, p.code[c.end])
	if forms&FormThread != 0 {
		p.thread(c.entry, uint32(len(p.code)-1))
	}
}

// foldLoads makes loads of one to four bytes that only a compare reads loads in
// place, whatever their place, and joins that of the interface's name with its
// compare.
func (p *Program) foldLoads(rule []inst) []inst {
	kept := rule[:0]
	for i := 0; i < len(rule); i++ {
		in := rule[i]
		if i+1 < len(rule) && !needed(rule[i+2:], in.dst, in.stores()) {
			compare := &rule[i+1]
			equality := compare.op == opCmpFast || compare.op == opCmpFastNeq
			switch {
			case compare.src != in.dst:
			case in.op == opIIFName && (compare.op == opCmp16 || compare.op == opCmp16Neq):
				in = *compare
				in.op = opIIFNameIs
				constant := p.data[in.off:]
				in.val, in.mask = binary.LittleEndian.Uint32(constant), binary.LittleEndian.Uint32(constant[16:])
				i++
			case in.op == opPayload && in.len <= 4 && equality && compare.mask>>(8*in.len) == 0:
				if op := inPlace(catalog.Base(in.sub), in.len); op != opPayload {
					in.op, in.fused = op, withCompare
				}
			}
		}
		kept = append(kept, in)
	}
	return kept
}

// inPlace is the load in place of at least n bytes.
func inPlace(base catalog.Base, n uint8) opcode {
	if n == 3 {
		n = 4
	}
	return fastPayload(base, uint32(n))
}

// foldRule folds the masks of one rule in place and returns how many
// instructions are left.
func foldRule(rule []inst, forms Forms) int {
	kept := 0
	for i := 0; i < len(rule); i++ {
		in := rule[i]
		if i > 0 && i+1 < len(rule) && kept > 0 {
			if compare, ok := absorb(&rule[kept-1], &in, &rule[i+1], rule[i+2:], forms); ok {
				rule[kept] = compare
				rule[kept-1].fused = alone
				if forms&FormFused != 0 {
					rule[kept-1].fused = withCompare
				}
				kept++
				i++
				continue
			}
		}
		rule[kept] = in
		kept++
	}
	return kept
}

// absorb makes one compare of a mask and a compare, behind the load of the same
// register, if nothing later reads what the mask stored.
//
// Ref: the pitfalls of the kernel's proposal: a constant with bits outside the
// mask can never match, and what a rule loads may be read again later.
func absorb(load, mask, compare *inst, later []inst, forms Forms) (inst, bool) {
	switch {
	case mask.op != opBitwiseFast, mask.src != mask.dst, compare.src != mask.dst,
		compare.op != opCmpFast && compare.op != opCmpFastNeq,
		!load.op.loadsWord(), load.op == opBitwiseFast, load.dst != mask.src:
		return inst{}, false
	case forms&FormFused == 0 && !wholeBytes(mask.mask):
		return inst{}, false
	}
	if needed(later, mask.dst, 4) {
		return inst{}, false
	}
	both := *compare
	both.mask &= mask.mask
	both.val = (compare.val ^ mask.val) & compare.mask
	if both.val&^both.mask != 0 {
		return inst{}, false
	}
	return both, true
}

// wholeBytes reports whether a mask keeps one, two or three leading bytes.
func wholeBytes(m uint32) bool { return m == 0xff || m == 0xffff || m == 0xffffff }

// needed reports whether the rest of a rule may read one of n bytes of
// registers before they are stored anew.
func needed(rest []inst, at, n uint8) bool {
	for i := range rest {
		in := &rest[i]
		if in.mayRead(at, n) {
			return true
		}
		if in.dst == at && in.stores() >= n {
			return false
		}
	}
	return false
}

// stores is how many bytes of registers a load stores, from dst on; 0 for
// what is no load.
func (in *inst) stores() uint8 {
	switch in.op {
	case opPayload:
		return (in.len + 3) &^ 3
	case opIIFName:
		return 16
	}
	if in.op.loadsWord() || in.op == opImmediate4 {
		return 4
	}
	return 0
}

// mayRead reports whether an instruction may read one of n bytes of registers.
// Those that only load are known not to.
func (in *inst) mayRead(at, n uint8) bool {
	size := in.len
	switch in.op {
	case opNetwork1, opNetwork2, opNetwork4, opTransport1, opTransport2, opTransport4,
		opL4Proto, opNFProto, opMark, opIIFName, opPayload, opMeta, opCT, opCTState, opImmediate4, opImmediate,
		opCounter, opLimit, opQuota, opLast, opLog, opVerdict, opEndRule, opReject, opNotrack, opIIFNameIs:
		return false
	case opCmpFast, opCmpFastNeq, opBitwiseFast, opWithin:
		size = 4
	case opCmp16, opCmp16Neq:
		size = 16
	case opCmp, opRange, opLookup:
	default:
		return true
	}
	return in.src < at+n && at < in.src+size
}
