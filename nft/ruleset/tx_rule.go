package ruleset

import (
	"syscall"

	"verdict/nft/expr"
)

// Limits of rules. Ref: nf_tables.h, NFT_RULE_MAXEXPRS.
const maxExprs = 128

func (tx *transaction) changeRule(c *Change) error {
	t, err := tx.table(c)
	if err != nil {
		return destroyed(c, err)
	}
	if c.Op == OpReset && c.Name == "" {
		for i := range t.edit.chains.items {
			tx.resetRules(t, i)
		}
		return nil
	}
	i, err := tx.chainOf(t, c)
	if err != nil {
		return destroyed(c, err)
	}
	switch c.Op {
	case OpAdd, OpCreate, OpInsert:
		return tx.addRule(t, c, i)
	case OpReplace:
		return tx.replaceRule(t, c, i)
	case OpDelete, OpDestroy:
		return destroyed(c, tx.deleteRule(t, c, i))
	case OpFlush:
		tx.flushChain(t, i)
		return nil
	case OpReset:
		return tx.resetRule(t, c, i)
	}
	return refuse(syscall.EOPNOTSUPP, "rules cannot be changed this way")
}

// addRule adds or inserts a rule.
//
// Ref: nf_tables_api.c, nf_tables_newrule
func (tx *transaction) addRule(t *Table, c *Change, i int) error {
	def, err := ruleDef(c)
	if err != nil {
		return err
	}
	if t.edit.chains.items[i].bound {
		return refuse(syscall.EOPNOTSUPP, "an anonymous chain is complete once a rule refers to it").at(nameWord)
	}
	at := none
	placed := def.Position != 0 || def.HasIndex
	if placed {
		if at, err = t.ownChain(i).position(def); err != nil {
			return refused(err).on(def.PositionPlace)
		}
	}
	handle := t.newHandle()
	exprs, err := tx.bind(t, def)
	if err != nil {
		return err
	}
	rule := &Rule{Handle: handle, Exprs: exprs, Comment: def.Comment, Place: c.Place}
	if err := tx.offloadRule(t, t.edit.chains.items[i], rule, !placed && c.Op != OpInsert); err != nil {
		tx.drop(t, exprs)
		return err
	}
	rules := t.ownChain(i).edit
	switch {
	case c.Op == OpInsert && placed:
		rules.insertAfter(rules.before(at), rule)
	case c.Op == OpInsert:
		rules.insertAfter(none, rule)
	case placed:
		rules.insertAfter(at, rule)
	default:
		rules.append(rule)
	}
	op := OpAdd
	if c.Op == OpInsert {
		op = OpInsert
	}
	tx.note(Event{Op: op, Kind: KindRule, Table: t, Chain: t.edit.chains.items[i], Rule: rule})
	tx.changed = true
	return nil
}

func ruleDef(c *Change) (*RuleDef, error) {
	switch {
	case c.RuleDef == nil:
		return nil, refuse(syscall.EINVAL, "a rule without definition")
	case len(c.RuleDef.Exprs) > maxExprs:
		return nil, refuse(syscall.EINVAL, "a rule has at most %d expressions", maxExprs)
	}
	return c.RuleDef, nil
}

// position finds the rule next to which another is placed.
func (c *Chain) position(def *RuleDef) (int32, error) {
	at := none
	if def.HasIndex {
		at = c.edit.nth(def.Index)
	} else {
		at = c.edit.find(def.Position)
	}
	switch {
	case at != none:
		return at, nil
	case def.HasIndex:
		return none, refuse(syscall.ENOENT, "chain %q has %d rules", c.Name, c.edit.count)
	}
	return none, refuse(syscall.ENOENT, "chain %q has no rule with handle %d", c.Name, def.Position)
}

func (tx *transaction) replaceRule(t *Table, c *Change, i int) error {
	def, err := ruleDef(c)
	if err != nil {
		return err
	}
	at, err := t.rule(c, i)
	if err != nil {
		return err
	}
	exprs, err := tx.bind(t, def)
	if err != nil {
		return err
	}
	rules := t.ownChain(i).edit
	old := rules.at(at)
	rule := &Rule{Handle: old.Handle, Revision: old.Revision + 1, Exprs: exprs, Comment: def.Comment, Place: c.Place}
	if err := tx.offloadRule(t, t.edit.chains.items[i], rule, false); err != nil {
		tx.drop(t, exprs)
		return err
	}
	rules.replace(at, rule)
	tx.note(Event{Op: OpDelete, Kind: KindRule, Table: t, Chain: t.edit.chains.items[i], Rule: old})
	tx.note(Event{Op: OpAdd, Kind: KindRule, Table: t, Chain: t.edit.chains.items[i], Rule: rule})
	tx.release(t, old)
	tx.changed = true
	return nil
}

// rule finds the rule that a change names by its handle.
func (t *Table) rule(c *Change, i int) (int32, error) {
	if c.Handle == 0 {
		return none, refuse(syscall.EINVAL, "no handle of a rule given")
	}
	chain := t.ownChain(i)
	if chain.bound {
		return none, refuse(syscall.EOPNOTSUPP, "an anonymous chain lives and dies with its rule").at(nameWord)
	}
	at := chain.edit.find(c.Handle)
	if at == none {
		return none, refuse(syscall.ENOENT, "chain %q has no rule with handle %d", chain.Name, c.Handle).at(handleWord)
	}
	return at, nil
}

func (tx *transaction) deleteRule(t *Table, c *Change, i int) error {
	at, err := t.rule(c, i)
	if err != nil {
		return err
	}
	rules := t.ownChain(i).edit
	old := rules.at(at)
	tx.note(Event{Op: OpDelete, Kind: KindRule, Table: t, Chain: t.edit.chains.items[i], Rule: old})
	tx.unloadRule(t, t.edit.chains.items[i], old)
	rules.remove(at)
	tx.release(t, old)
	tx.changed = true
	return nil
}

// bind checks the expressions of a rule and takes the references they hold. It
// returns them with the final names of anonymous sets and chains.
//
// Ref: nf_tables_api.c, nf_tables_newexpr
func (tx *transaction) bind(t *Table, def *RuleDef) ([]expr.Expr, error) {
	tx.checker = expr.Checker{Place: t.edit.place}
	exprs, own := def.Exprs, false
	for i, e := range exprs {
		err := e.Check(&tx.checker)
		var bound expr.Expr
		if err == nil {
			bound, err = tx.refer(t, e)
		}
		if err != nil {
			for j := i - 1; j >= 0; j-- {
				tx.unrefer(t, exprs[j], false)
			}
			if i < len(def.Places) && def.Places[i].IsValid() {
				err = refused(err).on(def.Places[i])
			}
			return nil, err
		}
		if bound != nil {
			if !own {
				exprs, own = append([]expr.Expr(nil), exprs...), true
			}
			exprs[i] = bound
		}
	}
	return exprs, nil
}

// drop gives back what a rule refers to that did not come into being.
func (tx *transaction) drop(t *Table, exprs []expr.Expr) {
	for j := len(exprs) - 1; j >= 0; j-- {
		tx.unrefer(t, exprs[j], false)
	}
}

// describe prepares what the checks of expressions need to know of a table.
func (tx *transaction) describe(t *Table) {
	t.edit.place = expr.Place{
		Family: uint8(t.Family),
		SetByName: func(name string, id uint32) *expr.SetInfo {
			if i := tx.findSet(t, name, id); i >= 0 {
				return t.edit.sets.items[i].Info()
			}
			return nil
		},
		ChainExists: func(name string) (exists, base bool) {
			i := tx.findChain(t, name)
			return i >= 0, i >= 0 && t.edit.chains.items[i].Base != nil
		},
		ObjectExists: func(typ expr.ObjectType, name string) bool {
			return t.edit.objects.find(objectKey{typ, name}) >= 0
		},
		FlowtableExists: func(name string) bool { return t.edit.flowtables.find(name) >= 0 },
	}
}

// refer takes the reference that an expression holds. If the reference's name
// is not final it returns a copy of the expression with the final name.
func (tx *transaction) refer(t *Table, e expr.Expr) (expr.Expr, error) {
	if hooks, nat := hooksOf(e, t.Family); nat || hooks != atAny {
		needsValidation(t)
	}
	switch x := any(e).(type) {
	case *expr.Immediate:
		if v := x.Data.Verdict; v != nil && jumps(v) {
			return tx.referJump(t, e, x, v)
		}
	case *expr.Lookup:
		name, err := tx.referSet(t, x.Set, x.SetID)
		if err != nil || name == x.Set {
			return nil, err
		}
		again := *x
		again.Set, again.SetID = name, 0
		return any(&again).(expr.Expr), nil
	case *expr.Dynset:
		name, err := tx.referSet(t, x.Set, x.SetID)
		if err != nil {
			return nil, err
		}
		tx.boundByDynset(t, name)
		lifetime := wholeTicks(x.Timeout)
		if name == x.Set && lifetime == x.Timeout {
			return nil, nil
		}
		again := *x
		again.Set, again.SetID, again.Timeout = name, 0, lifetime
		return any(&again).(expr.Expr), nil
	case *expr.Objref:
		if !x.IsMap {
			return nil, tx.referObject(t, objectKey{x.Type, x.Name}, 1)
		}
		name, err := tx.referSet(t, x.Set, x.SetID)
		if err != nil || name == x.Set {
			return nil, err
		}
		again := *x
		again.Set, again.SetID = name, 0
		return any(&again).(expr.Expr), nil
	case *expr.FlowOffload:
		return nil, tx.referFlowtable(t, x.Flowtable)
	}
	return nil, nil
}

// unrefer gives back the reference that an expression holds. Anonymous sets
// and chains go with it unless the rule never came into being.
func (tx *transaction) unrefer(t *Table, e expr.Expr, existed bool) {
	switch x := any(e).(type) {
	case *expr.Immediate:
		if v := x.Data.Verdict; v != nil && jumps(v) {
			tx.unreferChain(t, v.Chain, existed)
		}
	case *expr.Lookup:
		tx.unreferSet(t, x.Set, x.SetID, existed)
	case *expr.Dynset:
		tx.unreferSet(t, x.Set, x.SetID, existed)
	case *expr.Objref:
		if x.IsMap {
			tx.unreferSet(t, x.Set, x.SetID, existed)
		} else {
			_ = tx.referObject(t, objectKey{x.Type, x.Name}, -1)
		}
	case *expr.FlowOffload:
		tx.unreferFlowtable(t, x.Flowtable)
	}
}

// release gives back what a deleted rule refers to.
func (tx *transaction) release(t *Table, r *Rule) {
	for _, e := range r.Exprs {
		tx.unrefer(t, e, true)
	}
}
