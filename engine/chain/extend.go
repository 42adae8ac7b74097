package chain

import (
	"slices"

	"verdict/engine/vm"
)

// Extend makes the plan of an extended program. Cost: some microseconds per
// rule that came or went, and a copy of what is kept per rule of the chain;
// tables are rebuilt in the background once many rules changed. ok is false
// where a rule fits into no table; the program must be compiled then.
//
// Machines that run the program before the extension are not disturbed.
func (p *Plan) Extend(x *vm.Extension) (next *Plan, ok bool) {
	next = &Plan{Chains: slices.Clone(p.Chains), chains: slices.Clone(p.chains)}
	for i := range x.Changes {
		change := &x.Changes[i]
		c, ok := next.chains[change.Chain].extend(x, change)
		if !ok {
			return nil, false
		}
		next.chains[change.Chain] = c
		next.Chains[change.Chain].Rules = x.Program.Chains[change.Chain].RuleCount()
	}
	return next, true
}

// extend makes the chain with other rules.
func (c *chain) extend(x *vm.Extension, change *vm.ChainChange) (*chain, bool) {
	next := &chain{index: c.index, head: c.head, fields: c.fields, layout: c.layout, reach: c.reach}
	table := x.Program.Chains[change.Chain].Table
	place, places := placeOf(table), map[source]int{}
	added := make([]indexed, len(change.Added))
	for i := range change.Added {
		r := &change.Added[i]
		f := analyse(table, r.Rule, place)
		next.reach.add(f)
		added[i] = next.entries(r.Order, f, places, false)
		x.Place(change.Chain, r, f.skip(func(m *match) bool { return !m.dropped }, place))
	}
	next.rules = mergeRules(c.rules, change.Deleted, added)
	next.count = len(next.rules)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	tables := slices.Clone(*c.tables.Load())
	for i := range tables {
		if !tables[i].change(c.rules, change.Deleted, added) {
			return nil, false
		}
	}
	next.tables.Store(&tables)
	return next, true
}

// change deletes and adds rules.
func (v *variant) change(rules []indexed, deleted []uint32, added []indexed) bool {
	if v.live.View().Changes() != v.view.Changes() {
		return false // another plan was made of this one
	}
	for _, order := range deleted {
		at, _ := slices.BinarySearchFunc(rules, order, func(r indexed, o uint32) int { return int(r.order) - int(o) })
		if r := &rules[at]; r.needs&v.absent == 0 && len(r.entries) > 0 && v.live.Delete(order) != nil {
			return false
		}
	}
	for i := range added {
		if r := &added[i]; r.needs&v.absent == 0 && v.live.Add(r.entries...) != nil {
			return false
		}
	}
	v.view = v.live.View()
	return true
}

// mergeRules is the list of rules without some, and with others, by order.
func mergeRules(rules []indexed, deleted []uint32, added []indexed) []indexed {
	out := make([]indexed, 0, len(rules)+len(added)-len(deleted))
	for _, r := range rules {
		if _, gone := slices.BinarySearch(deleted, r.order); gone {
			continue
		}
		for len(added) > 0 && added[0].order < r.order {
			out, added = append(out, added[0]), added[1:]
		}
		out = append(out, r)
	}
	return append(out, added...)
}
