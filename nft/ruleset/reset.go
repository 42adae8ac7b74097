package ruleset

import (
	"syscall"

	"verdict/nft/expr"
	"verdict/set"
)

// A reset sets the counts of counters and the used part of quotas to zero.
// What is reset is replaced by a copy, so that snapshots stay as they are and
// the state that packets left goes too. It needs no message to listeners.
//
// Ref: nft_counter.c, nft_counter_dump; nft_quota.c, nft_quota_do_dump

// resetExprs gives the expressions with their state at zero, or nil if there
// is nothing to reset.
func resetExprs(list []expr.Expr) []expr.Expr {
	var out []expr.Expr
	for i, e := range list {
		var again expr.Expr
		switch x := e.(type) {
		case *expr.Counter:
			again = &expr.Counter{}
		case *expr.Quota:
			q := *x
			q.Consumed = 0
			again = &q
		default:
			continue
		}
		if out == nil {
			out = append(out, list...)
		}
		out[i] = again
	}
	return out
}

// resetRule resets the rule that a change names, or all rules of the chain.
func (tx *transaction) resetRule(t *Table, c *Change, i int) error {
	if c.Handle == 0 {
		tx.resetRules(t, i)
		return nil
	}
	at, err := t.rule(c, i)
	if err != nil {
		return err
	}
	tx.resetAt(t.ownChain(i).edit, at)
	return nil
}

// resetRules resets the rules of the chain at a place, which may be a hole.
func (tx *transaction) resetRules(t *Table, i int) {
	if t.edit.chains.items[i] == nil {
		return
	}
	rules := t.ownChain(i).edit
	var places []int32
	rules.each(func(at int32, r *Rule) bool {
		if resetExprs(r.Exprs) != nil {
			places = append(places, at)
		}
		return true
	})
	for _, at := range places {
		tx.resetAt(rules, at)
	}
}

func (tx *transaction) resetAt(rules *ruleEdit, at int32) {
	old := rules.at(at)
	exprs := resetExprs(old.Exprs)
	if exprs == nil {
		return
	}
	again := *old
	again.Exprs = exprs
	again.Revision++
	rules.replace(at, &again)
	tx.changed = true
}

// resetObject resets the object at a place.
func (tx *transaction) resetObject(t *Table, i int) {
	o := tx.ownObject(t, i)
	switch {
	case o.Counter != nil:
		o.Counter = &expr.Counter{}
	case o.Quota != nil:
		q := *o.Quota
		q.Consumed = 0
		o.Quota = &q
	default:
		return
	}
	tx.changed = true
}

// resetObjects resets all objects of a type.
func (tx *transaction) resetObjects(t *Table, typ expr.ObjectType) {
	for i, o := range t.edit.objects.items {
		if o != nil && o.Type == typ {
			tx.resetObject(t, i)
		}
	}
}

// resetSet resets all elements of a set.
func (tx *transaction) resetSet(t *Table, i int) error {
	s := tx.ownSet(t, i)
	if err := tx.rebuild(s); err != nil {
		return err
	}
	s.edit.store.Prepared().Walk(func(e *set.Entry) bool {
		tx.resetEntry(e)
		return true
	})
	return nil
}

// resetElements resets those of a set that a change names. The set is copied,
// since older snapshots keep the state of theirs.
func (tx *transaction) resetElements(t *Table, i int, elements []Element) error {
	s := tx.ownSet(t, i)
	var found []*set.Entry
	for i := range elements {
		e := s.Elements.back.set.Get(elements[i].entry(), tx.opts.Now)
		if e == nil {
			return refuse(syscall.ENOENT, "no such element in set %q", s.Name).on(elements[i].Place)
		}
		found = append(found, e)
	}
	if err := tx.rebuild(s); err != nil {
		return err
	}
	for _, old := range found {
		if e := s.edit.store.Find(old, tx.opts.Now); e != nil {
			tx.resetEntry(e)
		}
	}
	return nil
}

// resetEntry resets an entry that no snapshot has yet.
func (tx *transaction) resetEntry(e *set.Entry) {
	p := PayloadOf(e)
	if p == nil {
		return
	}
	if exprs := resetExprs(p.Exprs); exprs != nil {
		again := *p
		again.Exprs = exprs
		e.Ext = &again
		tx.changed = true
	}
}
