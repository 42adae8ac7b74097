package ruleset

import (
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
	if !s.edit.fresh && back.head != s.Elements {
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
	view.Walk(func(e *set.Entry) bool {
		_, err = store.Insert(copyEntry(e), tx.opts.Now)
		return err == nil
	})
	if err != nil {
		return err
	}
	if s.edit.store == nil {
		tx.sets = append(tx.sets, s.edit)
	} else {
		s.edit.store.Abort()
	}
	s.edit.store, s.edit.fresh = store, true
	return nil
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
