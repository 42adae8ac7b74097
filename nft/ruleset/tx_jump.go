package ruleset

import (
	"syscall"

	"verdict/catalog"
	"verdict/nft/expr"
)

func jumps(v *expr.Verdict) bool {
	return v.Kind == catalog.VerdictJump || v.Kind == catalog.VerdictGoto
}

// referJump takes a rule's reference to the chain it jumps to.
//
// Ref: nf_tables_api.c, nft_verdict_init; nft_immediate.c, nft_immediate_init
func (tx *transaction) referJump(t *Table, e expr.Expr, x *expr.Immediate, v *expr.Verdict) (expr.Expr, error) {
	i := tx.findChain(t, v.Chain)
	if r := tx.target(t, i, v); r != nil {
		return nil, r
	}
	chain := t.ownChain(i)
	chain.use++
	needsValidation(t)
	if chain.Binding {
		chain.bound = true
	}
	if chain.Name == v.Chain {
		return nil, nil
	}
	again := *x
	again.Data.Verdict = &expr.Verdict{Kind: v.Kind, Chain: chain.Name}
	return any(&again).(expr.Expr), nil
}

// target tells why the chain at a place cannot be the target of a jump.
func (tx *transaction) target(t *Table, i int, v *expr.Verdict) *refusal {
	if v.Chain == "" {
		return refuse(syscall.EINVAL, "%v without a chain", v.Kind)
	}
	if i < 0 {
		return refuse(syscall.ENOENT, "no chain %q in table %q", v.Chain, t.Name)
	}
	switch c := t.edit.chains.items[i]; {
	case c.Base != nil:
		return refuse(syscall.EOPNOTSUPP, "%q is a base chain, which cannot be the target of a %v", c.Name, v.Kind)
	case c.bound:
		return refuse(syscall.EINVAL, "an anonymous chain belongs to one rule")
	}
	return nil
}

func (tx *transaction) unreferChain(t *Table, name string, existed bool) {
	i := tx.findChain(t, name)
	if i < 0 {
		return
	}
	chain := t.ownChain(i)
	chain.use--
	switch {
	case !chain.Binding:
	case existed:
		// It stays bound to the rule that it goes with, which may be of the
		// same batch: only chains that no rule ever had are a mistake.
		tx.flushChain(t, i)
		t.freeNumber(chain.Name)
		t.edit.chains.remove(i)
	default:
		chain.bound = false
	}
}

// renamed changes the name of a chain in the jumps to it. Rules keep their
// identity.
func (tx *transaction) renamed(t *Table, from, to string) {
	for i, c := range t.edit.chains.items {
		if c == nil {
			continue
		}
		var places []int32
		var rules []*Rule
		visit := func(at int32, r *Rule) bool {
			if again := r.retargeted(from, to); again != nil {
				places, rules = append(places, at), append(rules, again)
			}
			return true
		}
		if c.edit == nil {
			newRuleEdit(c.Rules).each(visit)
		} else {
			c.edit.each(visit)
		}
		for j, at := range places {
			t.ownChain(i).edit.replace(at, rules[j])
		}
	}
	for i, s := range t.edit.sets.items {
		if s == nil || !s.leadsTo(from) {
			continue
		}
		if s, err := tx.elements(t, i); err == nil {
			s.edit.names = s.edit.names.renameTarget(from, to)
		}
	}
}

// retargeted gives a copy of the rule whose jumps to one chain lead to
// another, or nil if there are none.
func (r *Rule) retargeted(from, to string) *Rule {
	var again *Rule
	for i, e := range r.Exprs {
		x, ok := any(e).(*expr.Immediate)
		if !ok || x.Data.Verdict == nil || !jumps(x.Data.Verdict) || x.Data.Verdict.Chain != from {
			continue
		}
		if again == nil {
			again = &Rule{}
			*again = *r
			again.Exprs = append([]expr.Expr(nil), r.Exprs...)
		}
		moved := *x
		moved.Data.Verdict = &expr.Verdict{Kind: x.Data.Verdict.Kind, Chain: to}
		again.Exprs[i] = any(&moved).(expr.Expr)
	}
	return again
}

// needsValidation notes that the table must be validated at the end of the
// transaction.
func needsValidation(t *Table) { t.edit.validate = true }
