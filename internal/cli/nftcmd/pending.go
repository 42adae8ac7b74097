package nftcmd

import (
	"slices"

	"verdict/nft/ruleset"
)

// pending gives a ruleset as nft knows it before a batch is sent: what the
// batch declares is there without handle, and the rules that it adds are not.
func pending(base, next *ruleset.Ruleset) *ruleset.Ruleset {
	out := &ruleset.Ruleset{Generation: base.Generation, NextTableHandle: base.NextTableHandle}
	for _, t := range next.Tables {
		old := base.Table(t.Family, t.Name)
		if old == t {
			out.Tables = append(out.Tables, t)
			continue
		}
		again := *t
		if old == nil || old.Handle != t.Handle {
			old, again.Handle = &ruleset.Table{}, 0
		}
		again.Chains = pendingChains(old, t.Chains)
		again.Sets = unsent(t.Sets, func(s *ruleset.Set) bool { return old.Set(s.Name) != nil }, func(s *ruleset.Set) { s.Handle = 0 })
		again.Objects = unsent(t.Objects, func(o *ruleset.Object) bool { return old.Object(o.Type, o.Name) != nil }, func(o *ruleset.Object) { o.Handle = 0 })
		again.Flowtables = unsent(t.Flowtables, func(f *ruleset.Flowtable) bool { return old.Flowtable(f.Name) != nil }, func(f *ruleset.Flowtable) { f.Handle = 0 })
		out.Tables = append(out.Tables, &again)
	}
	return out
}

// unsent copies the items that the kernel does not have, and marks the copies.
func unsent[T any](items []*T, sent func(*T) bool, mark func(*T)) []*T {
	out := slices.Clone(items)
	for i, x := range out {
		if !sent(x) {
			again := *x
			mark(&again)
			out[i] = &again
		}
	}
	return out
}

// pendingChains gives chains with those of their rules that the kernel has.
func pendingChains(old *ruleset.Table, chains []*ruleset.Chain) []*ruleset.Chain {
	out := slices.Clone(chains)
	for i, c := range out {
		before := old.Chain(c.Name)
		if before == c {
			continue
		}
		again := *c
		if before == nil {
			before, again.Handle = &ruleset.Chain{}, 0
		}
		known := map[uint64]bool{}
		for _, r := range before.Rules {
			known[r.Handle] = true
		}
		again.Rules = slices.DeleteFunc(slices.Clone(c.Rules), func(r *ruleset.Rule) bool { return !known[r.Handle] })
		out[i] = &again
	}
	return out
}
