package ruleset

import (
	"syscall"

	"verdict/nft/expr"
	"verdict/set"
)

// maxDepth is the number of chains that a packet may be in at a time, the
// base chain included. Ref: nf_tables.h, NFT_JUMP_STACK_SIZE.
const maxDepth = 16

// invalid gives the tables whose jumps or expressions are not valid, in order.
//
// Ref: nf_tables_api.c, nf_tables_validate
func (tx *transaction) invalid() (list []*Table) {
	for _, t := range tx.tables {
		if t != nil && t.edit != nil && t.edit.validate && t.validate() != nil {
			list = append(list, t)
		}
	}
	return list
}

// validator walks the chains of a table. What a chain needs was checked
// already if it was reached at least as deep before, from a base chain with
// the same type and hook.
type validator struct {
	table *Table
	base  *BaseChain
	seen  map[string]*visited
}

// visited is what is known of a chain.
type visited struct {
	depth    int
	contexts map[context]bool
}

// context is what the validity of expressions depends on.
type context struct {
	typ  string
	hook uint8
}

func (t *Table) validate() *refusal {
	v := validator{table: t, seen: map[string]*visited{}}
	for _, c := range t.edit.chains.items {
		if c == nil || c.Base == nil {
			continue
		}
		v.base = c.Base
		if r := v.chain(c, 0); r != nil {
			return r
		}
	}
	return nil
}

// chain validates a chain that is depth jumps below its base chain.
//
// Ref: nf_tables_api.c, nft_chain_validate
func (v *validator) chain(c *Chain, depth int) *refusal {
	if depth == maxDepth {
		return refuse(syscall.EMLINK, "jumps lead deeper than %d chains, or in a circle, at chain %q", maxDepth, c.Name)
	}
	here := context{v.base.Type, uint8(v.base.Hook)}
	known := v.seen[c.Name]
	if known == nil {
		known = &visited{depth: -1, contexts: map[context]bool{}}
		v.seen[c.Name] = known
	}
	if depth <= known.depth && known.contexts[here] {
		return nil
	}
	var r *refusal
	c.eachRule(func(rule *Rule) bool {
		r = v.rule(rule, depth)
		return r == nil
	})
	if r == nil {
		known.depth = max(known.depth, depth)
		known.contexts[here] = true
	}
	return r
}

func (c *Chain) eachRule(visit func(*Rule) bool) {
	if c.edit != nil {
		c.edit.each(func(_ int32, r *Rule) bool { return visit(r) })
		return
	}
	for _, r := range c.Rules {
		if !visit(r) {
			return
		}
	}
}

func (v *validator) rule(r *Rule, depth int) *refusal {
	for _, e := range r.Exprs {
		if f := checkContext(e, v.table.Family, v.base); f != nil {
			return f
		}
		switch x := any(e).(type) {
		case *expr.Immediate:
			if x.Data.Verdict != nil {
				if f := v.jump(x.Data.Verdict, depth); f != nil {
					return f
				}
			}
		case *expr.Lookup:
			if f := v.lookup(x, depth); f != nil {
				return f
			}
		case *expr.Objref:
			if f := v.objects(x); f != nil {
				return f
			}
		}
	}
	return nil
}

func (v *validator) jump(to *expr.Verdict, depth int) *refusal {
	if !jumps(to) {
		return nil
	}
	i := v.table.edit.chains.find(to.Chain)
	if i < 0 {
		return refuse(syscall.ENOENT, "no chain %q in table %q", to.Chain, v.table.Name)
	}
	c := v.table.edit.chains.items[i]
	if c.Base != nil {
		return refuse(syscall.ELOOP, "a jump to base chain %q", c.Name)
	}
	return v.chain(c, depth+1)
}

// lookup validates what the elements of a verdict map lead to.
//
// Ref: nft_lookup.c, nft_lookup_validate
func (v *validator) lookup(x *expr.Lookup, depth int) *refusal {
	i := v.table.edit.sets.find(x.Set)
	if i < 0 {
		return nil
	}
	s := v.table.edit.sets.items[i]
	list := s.Elements.targets
	view := s.Elements.view
	if s.edit != nil {
		list = s.edit.names.list
		if s.edit.store != nil {
			view = s.edit.store.Prepared()
		}
	}
	if s.DataType != TypeVerdict || len(list) == 0 {
		return nil
	}
	used := make([]bool, len(list))
	var r *refusal
	view.Walk(func(e *set.Entry) bool {
		if n := e.Index; n != 0 && !used[n-1] {
			used[n-1] = true
			r = v.jump(&list[n-1].Verdict, depth)
		}
		return r == nil
	})
	return r
}

// objects validates a map of objects as checkContext does a single one.
//
// Ref: nft_objref.c, nft_objref_map_validate
func (v *validator) objects(x *expr.Objref) *refusal {
	if !x.IsMap {
		return nil
	}
	i := v.table.edit.sets.find(x.Set)
	if i < 0 {
		return nil
	}
	one := expr.Objref{Type: v.table.edit.sets.items[i].ObjType}
	return checkContext(&one, v.table.Family, v.base)
}
