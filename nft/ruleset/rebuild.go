package ruleset

import (
	"slices"

	"verdict/set"
)

// elements begins to change the elements of the set at a place. If the
// snapshot is not the newest of its set, the set is copied first.
func (tx *transaction) elements(t *Table, i int) (*Set, error) {
	s := tx.ownSet(t, i)
	if s.edit.store != nil {
		return s, nil
	}
	back := s.Elements.back
	if !s.edit.fresh && (back.head != s.Elements || s.edit.names.wasteful(s.Elements.view)) {
		return s, tx.rebuild(s)
	}
	s.edit.store = back.set
	tx.sets = append(tx.sets, s.edit)
	return s, nil
}

// rebuild copies the elements of a set into a new structure that is made for
// its definition as it is now.
func (tx *transaction) rebuild(s *Set) error {
	desc := description(&s.SetDef)
	store, err := set.NewKind(desc, s.Elements.Kind())
	if err != nil {
		return err
	}
	view := s.Elements.view
	if s.edit.store != nil {
		view = s.edit.store.Prepared()
	}
	entries := copyEntries(view, s.Elements.Kind(), tx.opts.Now)
	if _, _, err := store.InsertAll(entries, tx.opts.Now); err != nil {
		return err
	}
	names := &targets{}
	for _, e := range entries {
		if e.Index != 0 {
			e.Index = names.of(s.edit.names.list[e.Index-1])
		}
	}
	s.edit.names = names
	if s.edit.store == nil {
		tx.sets = append(tx.sets, s.edit)
	} else {
		s.edit.store.Abort()
	}
	s.edit.store, s.edit.fresh = store, true
	return nil
}

// copyEntries copies the entries of a view that are not expired, in an order
// in which they can be inserted: the start of a range before its end.
func copyEntries(view *set.View, kind set.Kind, now int64) []*set.Entry {
	all := make([]*set.Entry, 0, view.Len()+1)
	view.Walk(func(e *set.Entry) bool {
		all = append(all, e)
		return true
	})
	if kind == set.Rbtree {
		slices.Reverse(all)
	}
	kept := all[:0]
	expired := false // the range at hand
	for _, e := range all {
		if !e.IsEnd() {
			expired = e.Expired(now)
		}
		if !expired {
			kept = append(kept, copyEntry(e))
		}
	}
	return kept
}

// copyEntry gives an entry that can be part of another set.
func copyEntry(e *set.Entry) *set.Entry {
	var c *set.Entry
	if e.HasEnd() {
		c = newEntry([]byte(e.Key()), []byte(e.KeyEnd()))
	} else {
		c = newEntry([]byte(e.Key()), nil)
	}
	c.Flags, c.Ext, c.Index = e.Flags, e.Ext, e.Index
	c.SetTimeout(e.Timeout(), e.Expires())
	return c
}

// commitSet publishes the changes of a set's elements.
func (tx *transaction) commitSet(e *setEdit) {
	if e.gone || tx.gone(e.table) {
		e.store.Abort()
		return
	}
	s := e.set
	for _, x := range e.store.Commit(tx.opts.Now) {
		tx.unreferElement(e.table, s, x)
	}
	back := s.Elements.back
	if back.set != e.store || back.names != e.names {
		if back.set == e.store {
			back.head = nil // the older snapshots no longer own the structure
		}
		back = &backing{set: e.store, names: e.names}
	}
	s.Elements = &Elements{back: back, view: e.store.View(), targets: e.names.list, timeout: int64(s.Timeout) * millisecond}
	back.head = s.Elements
}
