package vm

import (
	"encoding/binary"
	"slices"
)

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
// them, and in which rules that begin with a simple compare are skipped without
// running them. Traced packets keep the code as it was lowered, which shows
// what the registers held.
func (p *Program) fold(c *Chain, forms Forms) {
	if forms&(FormPrefix|FormFused) == 0 {
		return
	}
	rules := make([][]inst, c.count)
	copied := slices.Clone(p.code[c.start:c.end])
	folded := false
	for i := range rules {
		r := &p.rules[c.first+uint32(i)]
		code := copied[r.start-c.start : r.end-c.start]
		rules[i] = code[:foldRule(code, forms)]
		folded = folded || len(rules[i]) < len(code)
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
	if !folded && !slices.ContainsFunc(runs, func(n int) bool { return n >= shortestRun }) {
		return
	}
	c.entry = uint32(len(p.code))
	p.emitFolded(rules, runs)
	p.code = append(p.code, p.code[c.end])
}

// shortestRun is the number of rules from which on skipping pays.
const shortestRun = 8

// emitFolded appends the code of a chain's rules. In front of a rule that
// belongs to a run stands an instruction that skips.
func (p *Program) emitFolded(rules [][]inst, runs []int) {
	var open []int // skips of the present run
	inRun := 0
	for i, code := range rules {
		if inRun == 0 && runs[i] >= shortestRun {
			inRun = runs[i]
		}
		start := len(p.code)
		if inRun > 0 {
			head, _ := headOf(code)
			head.pc = uint32(start + 1)
			open = append(open, start)
			p.heads = append(p.heads, head)
			p.code = append(p.code, inst{op: opSkip, off: uint32(len(p.heads) - 1)})
		}
		first := len(p.code)
		p.code = append(p.code, code...)
		for j := first; j < len(p.code); j++ {
			p.code[j].next = uint32(len(p.code))
		}
		if inRun > 0 {
			if inRun--; inRun == 0 {
				for _, at := range open {
					p.code[at].ref, p.code[at].next = uint32(len(p.heads)), uint32(len(p.code))
				}
				open = open[:0]
			}
		}
	}
}

// head is the compare that a rule begins with.
type head struct {
	load      opcode
	inverted  bool
	off       uint16
	mask, val uint32
	pc        uint32 // the rule
}

// headOf recognises a load and a compare of what it loaded at the beginning of
// a rule.
func headOf(rule []inst) (h head, ok bool) {
	if len(rule) < 2 || !rule[0].fused || rule[0].op == opBitwiseFast || rule[0].off > 0xffff {
		return h, false
	}
	return head{load: rule[0].op, off: uint16(rule[0].off), mask: rule[1].mask, val: rule[1].val, inverted: rule[1].inv}, true
}

// skip executes opSkip: it finds the first rule of a run whose compare holds,
// or whose load is for the rule itself to judge.
func (m *Machine) skip(in *inst, network, transport []byte) uint32 {
	heads := m.prog.heads[in.off:in.ref]
	loaded, off := opEndChain, uint16(0)
	var value uint32
	for i := range heads {
		h := &heads[i]
		if h.load != loaded || h.off != off {
			var ok bool
			if value, ok = m.peek(h, network, transport); !ok {
				return h.pc
			}
			loaded, off = h.load, h.off
		}
		if (value&h.mask == h.val) != h.inverted {
			return h.pc
		}
	}
	return in.next
}

// peek loads what a compare is about, if that is there.
func (m *Machine) peek(h *head, network, transport []byte) (value uint32, ok bool) {
	data, at := network, int(h.off)
	switch h.load {
	case opTransport1, opTransport2, opTransport4:
		data = transport
	case opL4Proto:
		return uint32(m.pkt.View.L4Proto), m.pkt.View.L4OK
	case opNFProto:
		return uint32(m.pkt.Family), true
	case opMark:
		return m.pkt.Meta.Mark, true
	}
	switch h.load {
	case opNetwork1, opTransport1:
		if at < len(data) {
			return uint32(data[at]), true
		}
	case opNetwork2, opTransport2:
		if at+2 <= len(data) {
			return uint32(binary.LittleEndian.Uint16(data[at:])), true
		}
	case opNetwork4, opTransport4:
		if at+4 <= len(data) {
			return binary.LittleEndian.Uint32(data[at:]), true
		}
	}
	return 0, false
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
