package vm

import "encoding/binary"

// shortestRun is the number of rules from which on skipping pays.
const shortestRun = 24

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
	if len(rule) < 2 || rule[0].fused != withCompare || rule[0].op == opBitwiseFast || rule[0].off > 0xffff {
		return h, false
	}
	return head{load: rule[0].op, off: uint16(rule[0].off), mask: rule[1].mask, val: rule[1].val, inverted: rule[1].inv}, true
}

// skip executes opSkip: it finds the first rule of a run whose compare holds,
// or whose load is for the rule itself to judge.
func (m *Machine) skip(in *inst) uint32 {
	heads := m.prog.heads[in.off:in.ref]
	loaded, off := opEndChain, uint16(0)
	var value uint32
	for i := range heads {
		h := &heads[i]
		if h.load != loaded || h.off != off {
			var ok bool
			if value, ok = m.peek(h); !ok {
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
func (m *Machine) peek(h *head) (value uint32, ok bool) {
	data, at := m.network, int(h.off)
	switch h.load {
	case opTransport1, opTransport2, opTransport4:
		data = m.transport
	case opL4Proto:
		return uint32(m.pkt.View.L4Proto), m.pkt.View.L4OK
	case opNFProto:
		return uint32(m.pkt.Family), true
	case opMark:
		return m.pkt.Meta.Mark, true
	case opCTState:
		return m.pkt.CT.State(), !m.pkt.CT.Unknown()
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
