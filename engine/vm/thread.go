package vm

import "slices"

// fact is what is known of a packet: whether a compare of what a load gives
// holds. It stays true until an instruction acts on the packet.
type fact struct {
	load      opcode
	len       uint8 // bytes that must be there: the load may fetch more of them
	off       uint32
	mask, val uint32
	holds     bool
}

// maxFacts bounds what is known at a place, and threadSteps how many rules a
// break may be led past.
const (
	maxFacts    = 8
	threadSteps = 64
)

// threader follows what is known along the code of a chain, whose instructions
// lead forward only.
type threader struct {
	code    []inst
	start   uint32
	end     uint32 // the opEndChain
	reached []bool
	known   [][]fact
}

// thread makes breaks lead past compares whose outcome is known where they
// come from: behind a rule that failed since the packet is not TCP, the next
// rules for TCP need no look, and one that failed for its port proves that the
// packet is TCP. Where several ways meet, what all of them know is known.
func (p *Program) thread(start, end uint32) {
	t := &threader{code: p.code, start: start, end: end, reached: make([]bool, end-start+1), known: make([][]fact, end-start+1)}
	t.arrive(start, nil)
	for pc := start; pc < end; pc++ {
		if t.code[pc].op == opSkip { // leads to any rule of its run
			t.arrive(pc+1, nil)
		}
	}
	for pc := start; pc < end; {
		pc = t.visit(pc)
	}
	p.joinLoads(start, end)
}

// joinLoads makes compares that fail lead past a load of what they compared, to
// the compare behind it.
func (p *Program) joinLoads(start, end uint32) {
	for pc := start; pc < end; pc++ {
		load, compare := &p.code[pc], &p.code[pc+1]
		if !load.feeds() || compare.next >= end {
			continue
		}
		next := &p.code[compare.next]
		if next.feeds() && next.op == load.op && next.off == load.off && next.dst == load.dst && next.len <= load.len {
			compare.fused = sameLoad
			compare.next++
		}
	}
}

// feeds reports whether an instruction loads what the next one compares.
func (in *inst) feeds() bool {
	return (in.fused == withCompare || in.fused == withRanges) && in.op != opBitwiseFast
}

// arrive notes that one way leads to an instruction, and what it knows.
func (t *threader) arrive(pc uint32, facts []fact) {
	i := pc - t.start
	if !t.reached[i] {
		t.reached[i], t.known[i] = true, facts
		return
	}
	var both []fact
	for _, f := range t.known[i] {
		if slices.Contains(facts, f) {
			both = append(both, f)
		}
	}
	t.known[i] = both
}

// visit leads the breaks of an instruction, and of the compare fused with it,
// and returns the one behind.
func (t *threader) visit(pc uint32) uint32 {
	in := &t.code[pc]
	facts := t.known[pc-t.start]
	if f, ok := t.factAt(pc); ok {
		in.next = t.lead(in.next, facts)
		compare := &t.code[pc+1]
		f.holds = compare.inv
		compare.next = t.lead(compare.next, with(facts, f))
		f.holds = !compare.inv
		t.arrive(pc+2, with(facts, f))
		return pc + 2
	}
	switch {
	case in.op == opSkip:
		t.arrive(in.next, nil)
	case in.op >= opFirstAction, in.op == opVerdict, in.op == opLookup && in.sub == lookupVerdict:
		t.arrive(in.next, nil)
		t.arrive(pc+1, nil)
	case in.op == opEndRule:
		t.arrive(pc+1, facts)
	default:
		in.next = t.lead(in.next, facts)
		t.arrive(pc+1, facts)
	}
	return pc + 1
}

// factAt is the compare at a place, if facts can be about it.
func (t *threader) factAt(pc uint32) (f fact, ok bool) {
	in := &t.code[pc]
	if in.fused != withCompare || !in.feeds() {
		return f, false
	}
	compare := &t.code[pc+1]
	return fact{load: in.op, len: in.len, off: in.off, mask: compare.mask, val: compare.val}, true
}

// lead follows the code from an instruction on as far as its compares are
// known to hold or to fail, and notes the arrival.
func (t *threader) lead(pc uint32, facts []fact) uint32 {
	for range threadSteps {
		if pc >= t.end || len(facts) == 0 {
			break
		}
		at := pc
		if t.code[at].op == opSkip {
			at++
		}
		f, ok := t.factAt(at)
		if !ok {
			break
		}
		holds, known := decide(facts, f)
		if !known {
			break
		}
		compare := &t.code[at+1]
		if holds == compare.inv {
			pc = compare.next
			continue
		}
		if needed(t.rest(at+2), t.code[at].dst, 4) {
			break
		}
		pc = at + 2
	}
	t.arrive(pc, facts)
	return pc
}

// rest is the rest of a rule, up to its end.
func (t *threader) rest(pc uint32) []inst {
	end := pc
	for t.code[end].op != opEndRule {
		end++
	}
	return t.code[pc:end]
}

// decide tells whether a compare holds, given what is known.
func decide(facts []fact, f fact) (holds, known bool) {
	for i := range facts {
		g := &facts[i]
		if g.load != f.load || g.off != f.off || g.len < f.len {
			continue
		}
		switch {
		case !g.holds: // then nothing that would imply it holds
			if g.mask&^f.mask == 0 && f.val&g.mask == g.val {
				return false, true
			}
		case f.val&g.mask != g.val&f.mask:
			return false, true
		case f.mask&^g.mask == 0:
			return true, true
		}
	}
	return false, false
}

// with adds a fact to others.
func with(facts []fact, f fact) []fact {
	if slices.Contains(facts, f) {
		return facts // else lists of the same fact over and over would meet, and multiply
	}
	if len(facts) == maxFacts {
		facts = facts[1:]
	}
	return append(facts[:len(facts):len(facts)], f)
}
