package nftcmd

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"time"

	"verdict/nft/decompile"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
	"verdict/set"
)

// subset makes a set with some of the elements of another, for listings of
// these alone. Elements that occur twice are there once.
func subset(t *ruleset.Table, s *ruleset.Set, entries []*set.Entry, targets []ruleset.Target, now int64) (*ruleset.Set, error) {
	def := s.SetDef
	def.Size = 0
	part := &ruleset.Table{Family: t.Family, Name: t.Name, Sets: []*ruleset.Set{{SetDef: def, Handle: s.Handle}}}
	for _, target := range targets {
		addTarget(part, &def, target)
	}
	seen := map[*set.Entry]bool{}
	var elements []ruleset.Element
	for _, x := range entries {
		if !seen[x] {
			seen[x] = true
			elements = append(elements, element(s, x, targets, now))
		}
	}
	if s.Flags&(ruleset.SetInterval|ruleset.SetConcat) == ruleset.SetInterval {
		slices.SortStableFunc(elements, downwards)
	}
	whole := &ruleset.Ruleset{Tables: []*ruleset.Table{part}}
	whole, err := ruleset.Restore(whole, func(*ruleset.Table, *ruleset.Set) []ruleset.Element { return elements }, now, ruleset.FromRuleset)
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", s.Name, err)
	}
	found := whole.Tables[0].Sets[0]
	found.Size = s.Size
	return found, nil
}

// downwards puts the ends of ranges into the order of the kernel's listing,
// which Restore expects: from high to low.
func downwards(a, b ruleset.Element) int {
	if c := bytes.Compare(b.Key, a.Key); c != 0 {
		return c
	}
	return int(a.Flags) - int(b.Flags)
}

// addTarget adds the chain or object that elements lead to.
func addTarget(t *ruleset.Table, def *ruleset.SetDef, target ruleset.Target) {
	switch {
	case target.Object != "":
		if t.Object(def.ObjType, target.Object) == nil {
			t.Objects = append(t.Objects, &ruleset.Object{Name: target.Object, Type: def.ObjType})
		}
	case target.Verdict.Chain != "" && t.Chain(target.Verdict.Chain) == nil:
		t.Chains = append(t.Chains, &ruleset.Chain{Name: target.Verdict.Chain})
	}
}

// element gives an entry in the form in which it can be added again.
func element(s *ruleset.Set, x *set.Entry, targets []ruleset.Target, now int64) ruleset.Element {
	el := ruleset.Element{Flags: uint32(x.Flags)}
	if el.Flags&ruleset.ElemCatchAll == 0 {
		el.Key = []byte(x.Key())
	}
	if x.HasEnd() {
		el.KeyEnd = []byte(x.KeyEnd())
	}
	if !x.IsEnd() && s.Flags&ruleset.SetTimeout != 0 {
		lifetime := uint64(x.Timeout()) / uint64(time.Millisecond)
		if lifetime != s.Timeout {
			el.HasTimeout, el.Timeout = true, lifetime
		}
		if lifetime != 0 {
			el.Expires = uint64(max(x.Expires()-now, int64(time.Millisecond))) / uint64(time.Millisecond)
			el.Expires = min(el.Expires, lifetime)
		}
	}
	if x.Index != 0 && int(x.Index) <= len(targets) {
		target := targets[x.Index-1]
		if el.Object = target.Object; el.Object == "" {
			el.Data = &expr.Data{Verdict: &target.Verdict}
		}
	}
	if p := ruleset.PayloadOf(x); p != nil {
		el.Exprs, el.Comment, el.OpenInterval = p.Exprs, p.Comment, p.OpenInterval
		if p.Data != nil {
			el.Data = p.Data
		}
	}
	return el
}

// decompiledElements visits the elements of a set as listings show them.
func decompiledElements(s *ruleset.Set, o decompile.Options) iter.Seq[*syntax.Element] {
	o.Terse = false
	return func(yield func(*syntax.Element) bool) {
		for _, item := range decompile.Set(s, o).Items {
			list, ok := item.(*syntax.Elements)
			if !ok {
				continue
			}
			literal, ok := list.Value.(*syntax.SetLiteral)
			if !ok {
				continue
			}
			for e := range literal.All() {
				if el, ok := e.(*syntax.Element); ok && !yield(el) {
					return
				}
			}
		}
	}
}
