package ruleset

import (
	"verdict/nft/expr"
	"verdict/set"
)

// targets numbers the distinct verdicts or objects of a map, so that an
// element holds a number and a snapshot of the engine one resolved target for
// each. The list only grows; snapshots hold prefixes of it. When most of it is
// no longer used, the set is copied with new numbers.
type targets struct {
	list   []Target
	number map[Target]uint32
	last   Target
	recent uint32
	limit  int // length at which to look for unused ones
}

// wasteful tells whether most of the targets are of no element of a view. The
// walk that it takes comes once for each doubling of the list.
func (n *targets) wasteful(view *set.View) bool {
	const few = 1024
	if len(n.list) <= max(few, n.limit) {
		return false
	}
	used := make([]bool, len(n.list)+1)
	live := 0
	view.Walk(func(e *set.Entry) bool {
		if !used[e.Index] {
			used[e.Index] = true
			live++
		}
		return true
	})
	n.limit = 2 * len(n.list)
	return live < len(n.list)/2
}

// of gives the number of a target, counting from 1.
func (n *targets) of(t Target) uint32 {
	if n.recent != 0 && n.last == t {
		return n.recent
	}
	if n.number == nil {
		n.number = make(map[Target]uint32, len(n.list))
		for i, old := range n.list {
			n.number[old] = uint32(i + 1)
		}
	}
	i, ok := n.number[t]
	if !ok {
		n.list = append(n.list, t)
		i = uint32(len(n.list))
		n.number[t] = i
	}
	n.last, n.recent = t, i
	return i
}

// leadsTo tells whether elements may lead to a chain.
func (s *Set) leadsTo(chain string) bool {
	names := s.Elements.back.names
	if s.edit != nil {
		names = s.edit.names
	}
	for _, t := range names.list {
		if t.Verdict.Chain == chain {
			return true
		}
	}
	return false
}

// renameTarget gives the targets with another name for a chain. Numbers stay.
func (n *targets) renameTarget(from, to string) *targets {
	again := &targets{list: append([]Target(nil), n.list...)}
	for i := range again.list {
		if v := &again.list[i].Verdict; v.Chain == from {
			*v = expr.Verdict{Kind: v.Kind, Chain: to}
		}
	}
	return again
}
