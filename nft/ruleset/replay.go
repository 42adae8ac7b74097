package ruleset

import (
	"cmp"
	"slices"
	"sort"
)

// replayAll finds the changes that made tables invalid. The kernel gives up at
// the first such table, but when it replays the batch, all tables that the
// batch makes are validated change by change (observed on Linux 6.18).
func replayAll(old *Ruleset, batch []Change, opts Options, invalid []*Table) (errs []*ChangeError) {
	for i, t := range invalid {
		if i == 0 || t.edit.base == nil {
			errs = append(errs, replay(old, batch, opts, t)...)
		}
	}
	slices.SortStableFunc(errs, func(a, b *ChangeError) int { return cmp.Compare(a.Index, b.Index) })
	return errs
}

// replay finds the changes that made a table invalid, after a batch whose
// changes were all fine by themselves. The kernel replays such a batch and
// validates the table after each rule and each message of elements, so that
// those after the culprit fail as well. The first of them is found here by
// halving, since a table that became invalid stays so but for deletions.
//
// Ref: nf_tables_api.c, nf_tables_validate, NFT_VALIDATE_DO
func replay(old *Ruleset, batch []Change, opts Options, invalid *Table) []*ChangeError {
	first := sort.Search(len(batch)-1, func(i int) bool {
		tx := newTransaction(old, opts)
		defer tx.abort()
		tx.changes(batch[:i+1])
		t := tx.same(invalid)
		return t != nil && t.validate() != nil
	})
	tx := newTransaction(old, opts)
	defer tx.abort()
	tx.changes(batch[:first+1])
	var errs []*ChangeError
	var r *refusal
	for i := first; i < len(batch); i++ {
		c := &batch[i]
		if i > first {
			tx.changes(batch[i : i+1])
		}
		t := tx.same(invalid)
		if t == nil || !c.isFor(t) {
			continue
		}
		if c.deletes() {
			r = nil // that may have been what was wrong
		}
		if !c.adds() {
			continue
		}
		if r == nil {
			r = t.validate()
		}
		if r != nil {
			errs = append(errs, changeError(i, c, r))
		}
	}
	return errs
}

func (tx *transaction) changes(batch []Change) {
	for i := range batch {
		tx.index = i
		_ = tx.change(&batch[i]) // each was applied without error before
	}
}

// same finds a table of another transaction in this one.
func (tx *transaction) same(other *Table) *Table {
	if i := tx.findTable(other.Family, other.Name); i >= 0 {
		return tx.edit(i)
	}
	return nil
}

func (c *Change) isFor(t *Table) bool { return c.Family == t.Family && c.Table == t.Name }

// adds tells whether the change is one after which the kernel validates.
func (c *Change) adds() bool {
	switch c.Op {
	case OpAdd, OpCreate, OpInsert, OpReplace:
		return c.Kind == KindRule || c.Kind == KindElements
	}
	return false
}

func (c *Change) deletes() bool {
	switch c.Op {
	case OpDelete, OpDestroy, OpFlush, OpReplace:
		return true
	}
	return false
}
