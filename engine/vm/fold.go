package vm

// Forms are the fast forms of expressions that a program uses, as bits. Each
// gives the result of the general form.
type Forms uint8

// The forms. The kernel had the first two when it became faster, step by step,
// with the next two; the last two were proposed for it.
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

	BaseForms = FormLoad | FormEqual
	AllForms  = BaseForms | FormCmp | FormBitwise | FormPrefix | FormFused
)

// fold makes the code of a chain in which masks are part of the compares behind
// them. Traced packets keep the code as it was lowered, which shows what the
// registers held.
func (p *Program) fold(c *Chain, forms Forms) {
	if forms&(FormPrefix|FormFused) == 0 {
		return
	}
	var code []inst
	folded := false
	base := uint32(len(p.code))
	for i := range int(c.count) {
		from, to := p.rules[c.first+uint32(i)].start, c.end
		if i+1 < int(c.count) {
			to = p.rules[c.first+uint32(i)+1].start
		}
		start := len(code)
		code = append(code, p.code[from:to]...)
		if kept := foldRule(code[start:], forms); kept < int(to-from) {
			code = code[:start+kept]
			folded = true
		}
		for j := start; j < len(code); j++ {
			code[j].next = base + uint32(len(code))
		}
	}
	if folded {
		c.entry = base
		p.code = append(append(p.code, code...), p.code[c.end])
	}
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
				rule[kept-1].fused = forms&FormFused != 0
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
	for i := range later {
		if later[i].mayRead(mask.dst) {
			return inst{}, false
		}
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

// mayRead reports whether an instruction may read a register. Those that only
// load are known not to.
func (in *inst) mayRead(register uint8) bool {
	switch in.op {
	case opNetwork1, opNetwork2, opNetwork4, opTransport1, opTransport2, opTransport4,
		opL4Proto, opNFProto, opMark, opIIFName, opPayload, opMeta, opCT, opImmediate4, opImmediate,
		opCounter, opLimit, opQuota, opLast, opLog, opVerdict, opEndRule, opReject, opNotrack:
		return false
	case opCmpFast, opCmpFastNeq, opBitwiseFast:
		return in.src == register
	case opCmp16, opCmp16Neq, opCmp, opRange:
		return in.src <= register && int(register) < int(in.src)+int(in.len)
	}
	return true
}
