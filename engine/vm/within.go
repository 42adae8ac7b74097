package vm

import (
	"encoding/binary"

	"verdict/nft/expr"
)

// fuseRanges marks the loads of a rule that an opWithin of the loaded register
// follows.
func fuseRanges(rule []inst) {
	for i := range len(rule) - 1 {
		if in, next := &rule[i], &rule[i+1]; next.op == opWithin && in.op.loadsWord() && next.src == in.dst {
			in.fused = withRanges
		}
	}
}

// span is the numbers from one on, up to that plus a length.
type span struct{ from, length uint32 }

// maxSpans is up to how many ranges comparing with each is quicker than to look
// up a set.
const maxSpans = 16

// foldRanges makes one step of each comparison of up to four bytes with a
// range, by an order, or with a small set. The bytes are a number of
// network order in all of these.
func (p *Program) foldRanges(rule []inst) []inst {
	for i := range rule {
		in := &rule[i]
		if list, ok := p.spansOf(in); ok {
			*in = inst{op: opWithin, src: in.src, len: in.len, inv: in.inv, expr: in.expr, rule: in.rule,
				off: uint32(len(p.spans)), ref: uint32(len(p.spans) + len(list))}
			p.spans = append(p.spans, list...)
		}
	}
	return rule
}

// spansOf is what opWithin needs to stand for an instruction.
func (p *Program) spansOf(in *inst) (list []span, ok bool) {
	if in.len == 0 || in.len > 4 {
		return nil, false
	}
	n := int(in.len)
	highest := uint64(1)<<(8*n) - 1
	switch in.op {
	case opRange:
		return spans(list, number(p.data[in.off:], n), number(p.data[int(in.off)+n:], n)), true
	case opCmp:
		value := number(p.data[in.off:], n)
		switch expr.CmpOp(in.sub) {
		case expr.CmpLt:
			return spans(list, 0, value-1), true
		case expr.CmpLte:
			return spans(list, 0, value), true
		case expr.CmpGt:
			return spans(list, value+1, highest), true
		case expr.CmpGte:
			return spans(list, value, highest), true
		}
	case opLookup:
		s := p.sets[in.ref]
		if in.sub != lookupOnly || s.withExpr || s.live != nil {
			return nil, false
		}
		ranges, small := s.set.Ranges(maxSpans)
		if !small {
			return nil, false
		}
		for _, r := range ranges {
			list = spans(list, number(r.From, n), number(r.To, n))
		}
		return list, true
	}
	return nil, false
}

// number reads n bytes of network order.
func number(b []byte, n int) (x uint64) {
	for _, c := range b[:n] {
		x = x<<8 | uint64(c)
	}
	return x
}

// spans adds a range, unless nothing is in it.
func spans(list []span, from, to uint64) []span {
	if from > to || to+1 == 0 {
		return list
	}
	return append(list, span{uint32(from), uint32(to - from)})
}

// within executes opWithin's comparison.
func (m *Machine) within(in *inst) bool {
	value := binary.BigEndian.Uint32(m.regs[in.src:int(in.src)+4]) >> ((32 - 8*uint32(in.len)) & 31)
	return inSpans(value, m.prog.spans[in.off:in.ref])
}

// inSpans compares a number with ranges.
func inSpans(value uint32, spans []span) bool {
	for i := range spans {
		if value-spans[i].from <= spans[i].length {
			return true
		}
	}
	return false
}
