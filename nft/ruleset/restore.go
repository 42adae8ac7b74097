package ruleset

import (
	"fmt"

	"verdict/nft/expr"
	"verdict/set"
)

// Origin says where what is restored comes from.
type Origin uint8

// The origins. What a running ruleset or a kernel held is valid, by that
// kernel's measure; a file may be damaged, so that what it holds passes the
// checks of a batch again.
const (
	FromRuleset Origin = iota
	FromFile
)

// Restore makes a snapshot of a ruleset that was taken apart, such as one read
// from a file: rs holds tables, chains, rules, set definitions, objects and
// flowtables with their handles and counters; elements gives the elements of
// a set, which rs lacks, as Alive gave them at a time that is now
// (nanoseconds). Nothing of rs is copied that need not be; it must not be used
// afterwards. The error is about what cannot be part of a ruleset.
//
// Cost: as that of applying the ruleset at once.
func Restore(rs *Ruleset, elements func(*Table, *Set) []Element, now int64, from Origin) (*Ruleset, error) {
	tx := newTransaction(&Ruleset{}, Options{Now: now})
	for i, t := range rs.Tables {
		if rs.Table(t.Family, t.Name) != t {
			return nil, fmt.Errorf("table %v %s is there twice", t.Family, t.Name)
		}
		work := *t
		work.find, work.edit = nil, &tableEdit{index: i}
		tx.describe(&work)
		tx.tables = append(tx.tables, &work)
		err := tx.restoreTable(&work, elements)
		if err == nil && from == FromFile {
			err = work.recheck()
		}
		if err != nil {
			return nil, fmt.Errorf("table %v %s: %w", t.Family, t.Name, err)
		}
	}
	for _, e := range tx.sets {
		tx.commitSet(e)
	}
	next := &Ruleset{Tables: tx.tables, Generation: rs.Generation, NextTableHandle: rs.NextTableHandle}
	for _, t := range next.Tables {
		t.seal()
	}
	return next, nil
}

func (tx *transaction) restoreTable(t *Table, elements func(*Table, *Set) []Element) error {
	for _, c := range t.Chains {
		work := *c
		work.use, work.bound, work.edit = 0, false, newRuleEdit(c.Rules)
		if t.edit.chains.find(c.Name) >= 0 {
			return fmt.Errorf("chain %s is there twice", c.Name)
		}
		t.edit.chains.add(&work)
	}
	for _, o := range t.Objects {
		if r := o.checkGiven(); r != nil {
			return fmt.Errorf("object %s: %w", o.Name, r)
		}
		work := *o
		work.use, work.edit = 0, tx
		t.edit.objects.add(&work)
	}
	for _, f := range t.Flowtables {
		work := *f
		work.use, work.edit = 0, tx
		t.edit.flowtables.add(&work)
	}
	for _, s := range t.Sets {
		if err := tx.restoreSet(t, s, elements(t, s)); err != nil {
			return fmt.Errorf("set %s: %w", s.Name, err)
		}
	}
	for i := range t.edit.chains.items {
		for _, r := range t.edit.chains.items[i].Rules {
			for _, e := range r.Exprs {
				if err := tx.restoreReference(t, e); err != nil {
					return fmt.Errorf("rule with handle %d: %w", r.Handle, err)
				}
			}
		}
	}
	return nil
}

// recheck makes the checks that a table passed when batches made it.
func (t *Table) recheck() error {
	for _, s := range t.edit.sets.items {
		if err := checkSetExprs(t.edit.place, s.Exprs); err != nil {
			return fmt.Errorf("set %s: %w", s.Name, err)
		}
	}
	for _, c := range t.edit.chains.items {
		if c.Base != nil {
			r := checkHook(t.Family, c.Base)
			if r == nil {
				r = checkPolicy(c.Base.Policy)
			}
			if r != nil {
				return fmt.Errorf("chain %s: %w", c.Name, r)
			}
		}
		for _, r := range c.Rules {
			if _, err := expr.CheckRule(r.Exprs, t.edit.place); err != nil {
				return fmt.Errorf("rule with handle %d: %w", r.Handle, err)
			}
		}
	}
	if r := t.validate(); r != nil {
		return r
	}
	return nil
}

func (tx *transaction) restoreSet(t *Table, s *Set, elements []Element) error {
	if r := checkSetDef(&s.SetDef); r != nil {
		return r
	}
	if t.edit.sets.find(s.Name) >= 0 {
		return fmt.Errorf("is there twice")
	}
	desc := description(&s.SetDef)
	store, err := set.New(desc)
	if err != nil {
		return err
	}
	work := tx.newSet(t, s.SetDef, store)
	work.Handle = s.Handle
	if _, err := tx.elements(t, work.edit.place); err != nil {
		return err
	}
	return tx.fill(t, work, &Change{Op: OpCreate, Elements: elements}, store.Restore)
}

// restoreReference counts what an expression of a rule refers to.
func (tx *transaction) restoreReference(t *Table, e expr.Expr) error {
	if x, ok := any(e).(*expr.Immediate); ok && x.Data.Verdict != nil && jumps(x.Data.Verdict) {
		i := t.edit.chains.find(x.Data.Verdict.Chain)
		if i < 0 {
			return fmt.Errorf("no chain %q", x.Data.Verdict.Chain)
		}
		c := t.edit.chains.items[i]
		c.use++
		c.bound = c.Binding
		return nil
	}
	_, err := tx.refer(t, e)
	return err
}
