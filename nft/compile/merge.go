package compile

import (
	"slices"

	"verdict/catalog"
)

// mergePayloads joins comparisons of adjacent header fields into one, as nft
// does: equality with constants, in one run of matches, up to 16 bytes.
func (r *rule) mergePayloads() {
	var run []int
	var drop map[int]bool
	flush := func() {
		if len(run) > 1 {
			if drop == nil {
				drop = map[int]bool{}
			}
			r.mergeRun(run, drop)
		}
		run = run[:0]
	}
	for i, s := range r.stmts {
		m, ok := s.(*match)
		if !ok {
			flush()
			continue
		}
		_, isPayload := m.left.(*payload)
		c, isConst := m.right.(*constant)
		if isPayload && isConst && !c.list && (m.op == cmpEq) {
			run = append(run, i)
		}
	}
	flush()
	if len(drop) == 0 {
		return
	}
	out := r.stmts[:0]
	for i, s := range r.stmts {
		if !drop[i] {
			out = append(out, s)
		}
	}
	clear(r.stmts[len(out):])
	r.stmts = out
}

// mergeRun merges within one run of matches, given by their places.
func (r *rule) mergeRun(run []int, drop map[int]bool) {
	order := slices.Clone(run)
	load := func(i int) *payload { return r.stmts[i].(*match).left.(*payload) }
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := load(a), load(b)
		if x.base != y.base {
			return int(x.base) - int(y.base)
		}
		return x.offset - y.offset
	})
	into := order[0]
	for _, i := range order[1:] {
		if !canMerge(load(into), load(i)) {
			into = i
			continue
		}
		a, b := r.stmts[into].(*match), r.stmts[i].(*match)
		joined := joinMatches(a, b)
		// A test of a protocol selector keeps its place: what follows it
		// depends on it.
		keep, gone := into, i
		if b.left.(*payload).selects() {
			keep, gone = i, into
		}
		r.stmts[keep] = joined
		drop[gone] = true
		into = keep
	}
}

// canMerge reports whether b starts where a ends and the two make one load.
func canMerge(a, b *payload) bool {
	if a.base != b.base || a.tunnel != b.tunnel || a.offset+a.bits != b.offset || a.offset%8 != 0 || a.bits%8 != 0 || b.bits%8 != 0 {
		return false
	}
	total := a.bits + b.bits
	switch {
	case total > 128:
		return false
	case total <= 32:
		return true
	}
	return a.base == catalog.BaseLink || a.bits > 32 || b.bits > 32
}

func joinMatches(a, b *match) *match {
	x, y := a.left.(*payload), b.left.(*payload)
	c, d := a.right.(*constant), b.right.(*constant)
	load := *x
	load.bits = x.bits + y.bits
	load.order = catalog.OrderNetwork
	load.typ = catalog.Integer
	if y.selects() {
		load.proto, load.field = y.proto, y.field
	} else {
		load.field = x.field
	}
	value := &constant{info: info{vtype: load.vtype, at: c.at}, n: c.n.shl(y.bits).or(d.n)}
	return &match{left: &load, op: a.op, right: value, at: a.at}
}
