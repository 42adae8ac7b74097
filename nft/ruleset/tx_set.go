package ruleset

import (
	"strings"
	"syscall"

	"verdict/nft/expr"
	"verdict/set"
	"verdict/set/elem"
)

// setEdit is the working state of a set within a transaction.
type setEdit struct {
	table *Table
	place int
	set   *Set
	names *targets
	store *set.Set // with a transaction of its own, nil before the first change
	fresh bool     // store is a copy, or new: nobody else has it
	gone  bool     // the set was deleted
}

func (e *setEdit) abort() { e.store.Abort() }

// ownSet makes the set at a place ready for changes.
func (tx *transaction) ownSet(t *Table, i int) *Set {
	s := t.edit.sets.items[i]
	if s.edit != nil {
		return s
	}
	work := *s
	work.edit = &setEdit{table: t, place: i, set: &work, names: s.Elements.back.names}
	t.edit.sets.put(i, &work)
	return &work
}

// findSet gives the place of a set by name or, if the batch made it, by its
// number within the batch; or -1.
//
// Ref: nf_tables_api.c, nft_set_lookup_global
func (tx *transaction) findSet(t *Table, name string, id uint32) int {
	if i := t.edit.sets.find(name); i >= 0 {
		return i
	}
	if ref, ok := tx.newSets[id]; ok && id != 0 && ref.table == t {
		return t.edit.sets.find(ref.name)
	}
	return -1
}

func (tx *transaction) setOf(t *Table, c *Change) (int, error) {
	if c.Handle != 0 {
		if i := t.edit.sets.search(func(s *Set) bool { return s.Handle == c.Handle }); i >= 0 {
			return i, nil
		}
		return -1, refuse(syscall.ENOENT, "no set with handle %d", c.Handle).at(handleWord)
	}
	if i := tx.findSet(t, c.Name, c.SetID); i >= 0 {
		return i, nil
	}
	return -1, tx.noSet(t, c).at(nameWord)
}

func (tx *transaction) changeSet(c *Change) error {
	t, err := tx.table(c)
	if err != nil {
		return destroyed(c, err)
	}
	if c.Op == OpAdd || c.Op == OpCreate {
		return tx.addSet(t, c)
	}
	i, err := tx.setOf(t, c)
	if err != nil {
		return destroyed(c, err)
	}
	switch c.Op {
	case OpDelete, OpDestroy:
		s := t.edit.sets.items[i]
		if s.use > 0 {
			return refuse(syscall.EBUSY, "set %q is used by %d rules", s.Name, s.use).at(nameWord)
		}
		tx.dropSet(t, i)
		return nil
	case OpFlush:
		return tx.flushSet(t, i)
	case OpReset:
		return tx.resetSet(t, i)
	}
	return refuse(syscall.EOPNOTSUPP, "sets cannot be changed this way")
}

// addSet makes a set, or updates the times and the size of one.
//
// Ref: nf_tables_api.c, nf_tables_newset
func (tx *transaction) addSet(t *Table, c *Change) error {
	if c.SetDef == nil {
		return refuse(syscall.EINVAL, "a set without definition")
	}
	def := *c.SetDef
	def.Timeout = wholeTicks(def.Timeout)
	if r := checkSetDef(&def); r != nil {
		return r
	}
	if i := t.edit.sets.find(c.Name); i >= 0 {
		return tx.updateSet(t, c, i, &def)
	}
	if len(def.Exprs) > 0 {
		if err := checkSetExprs(t.edit.place, def.Exprs); err != nil {
			return err
		}
	}
	desc := description(&def)
	kind, err := set.Select(&desc)
	if err != nil {
		return err
	}
	if def.Name = c.Name; strings.Contains(c.Name, "%d") {
		if def.Flags&SetAnonymous == 0 || len(c.Name) > 15 {
			return refuse(syscall.EINVAL, "%q cannot name a set", c.Name).at(nameWord)
		}
		def.Name = t.number(c.Name)
	}
	store, err := set.NewKind(desc, kind)
	if err != nil {
		return err
	}
	s := tx.newSet(t, def, store)
	s.Handle = t.newHandle()
	tx.noteSet(t, s, c.SetID)
	return nil
}

// newSet puts an empty set into a table.
func (tx *transaction) newSet(t *Table, def SetDef, store *set.Set) *Set {
	back := &backing{set: store, names: &targets{}}
	s := &Set{SetDef: def}
	s.Elements = &Elements{back: back, view: store.View(), timeout: int64(def.Timeout) * millisecond}
	back.head = s.Elements
	s.edit = &setEdit{table: t, set: s, names: back.names, fresh: true}
	s.edit.place = t.edit.sets.add(s)
	return s
}

// noteSet makes a new set known to the rest of the batch.
func (tx *transaction) noteSet(t *Table, s *Set, id uint32) {
	tx.note(Event{Op: OpAdd, Kind: KindSet, Table: t, Set: s})
	tx.changed = true
	if tx.newSets == nil {
		tx.newSets = map[uint32]setRef{}
	}
	if id != 0 {
		tx.newSets[id] = setRef{t, s.Name}
	}
	if s.Flags&SetAnonymous != 0 {
		tx.unbound = append(tx.unbound, unbound{tx.index, "the anonymous set", func() bool { return s.use > 0 || s.edit.gone || tx.gone(t) }})
	}
}

// description is the form of a definition in which package set takes it.
func description(def *SetDef) set.Desc {
	d := set.Desc{
		Flags: elem.Flags(def.Flags), KeyLen: int(def.KeyLen), Size: def.Size,
		Timeout: int64(def.Timeout) * millisecond, GCInterval: int64(def.GC) * millisecond, Exprs: len(def.Exprs),
	}
	if def.Flags&SetConcat != 0 {
		d.Fields = def.Fields
	}
	if def.Memory {
		d.Policy = elem.Memory
	}
	return d
}

// updateSet handles the declaration of a set that exists.
//
// Ref: nf_tables_api.c, nft_set_is_same, NFT_MSG_NEWSET of nf_tables_commit
func (tx *transaction) updateSet(t *Table, c *Change, i int, def *SetDef) error {
	s := t.edit.sets.items[i]
	switch {
	case c.Op == OpCreate:
		return refuse(syscall.EEXIST, "set %q exists", c.Name).at(nameWord)
	case s.Flags&SetAnonymous != 0:
		return refuse(syscall.EOPNOTSUPP, "%q is an anonymous set", c.Name).at(nameWord)
	case !s.sameAs(def):
		return refuse(syscall.EEXIST, "set %q exists with another definition", c.Name).at(nameWord)
	}
	if c.SetID != 0 {
		if tx.newSets == nil {
			tx.newSets = map[uint32]setRef{}
		}
		tx.newSets[c.SetID] = setRef{t, s.Name}
	}
	size := s.Size
	if def.Size != 0 {
		size = def.Size
	}
	if s.Timeout == def.Timeout && s.GC == def.GC && s.Size == size {
		return nil
	}
	s = tx.ownSet(t, i)
	s.Timeout, s.GC, s.Size = def.Timeout, def.GC, size
	tx.note(Event{Op: OpAdd, Kind: KindSet, Table: t, Set: s})
	tx.changed = true
	return tx.rebuild(s)
}

// sameAs tells whether a definition declares the set as it is.
func (s *Set) sameAs(def *SetDef) bool {
	same := s.Flags == def.Flags && s.KeyType == def.KeyType && s.KeyLen == def.KeyLen &&
		s.DataType == def.DataType && s.DataLen == def.DataLen && s.ObjType == def.ObjType &&
		string(s.Fields) == string(def.Fields) && len(s.Exprs) == len(def.Exprs)
	for i := 0; same && i < len(s.Exprs); i++ {
		same = s.Exprs[i].Kind() == def.Exprs[i].Kind()
	}
	return same
}

// dropSet deletes a set and gives back what its elements refer to.
func (tx *transaction) dropSet(t *Table, i int) {
	s := tx.ownSet(t, i)
	tx.releaseAll(t, s)
	if s.Flags&SetAnonymous != 0 {
		t.freeNumber(s.Name)
	}
	tx.note(Event{Op: OpDelete, Kind: KindSet, Table: t, Set: s})
	s.edit.gone = true
	t.edit.sets.remove(i)
	tx.changed = true
}

// releaseAll gives back what the elements of a map refer to.
func (tx *transaction) releaseAll(t *Table, s *Set) {
	if len(s.edit.names.list) == 0 {
		return
	}
	view := s.Elements.view
	if s.edit.store != nil {
		view = s.edit.store.Prepared()
	}
	view.Walk(func(e *set.Entry) bool {
		tx.unreferElement(t, s, e)
		return true
	})
}

func (tx *transaction) flushSet(t *Table, i int) error {
	s := t.edit.sets.items[i]
	if s.Flags&SetAnonymous != 0 || s.Flags&SetConstant != 0 && s.use > 0 {
		return refuse(syscall.EBUSY, "the elements of set %q cannot change", s.Name).at(nameWord)
	}
	if s.edit == nil && s.Elements.Len() == 0 {
		return nil
	}
	s, err := tx.elements(t, i)
	if err != nil {
		return err
	}
	tx.releaseAll(t, s)
	tx.noteFlush(t, s)
	s.edit.store.Flush()
	tx.changed = true
	return nil
}

// referSet takes a rule's reference to a set and gives the set's name.
//
// Ref: nf_tables_api.c, nf_tables_bind_set
func (tx *transaction) referSet(t *Table, name string, id uint32) (string, error) {
	i := tx.findSet(t, name, id)
	if i < 0 {
		return "", refuse(syscall.ENOENT, "no set %q in table %q", name, t.Name)
	}
	s := t.edit.sets.items[i]
	if s.Flags&SetAnonymous != 0 && s.use > 0 {
		return "", refuse(syscall.EBUSY, "an anonymous set belongs to one expression")
	}
	s = tx.ownSet(t, i)
	s.use++
	if s.DataType == TypeVerdict || s.ObjType == expr.ObjectSynproxy {
		needsValidation(t)
	}
	return s.Name, nil
}

func (tx *transaction) unreferSet(t *Table, name string, id uint32, existed bool) {
	i := tx.findSet(t, name, id)
	if i < 0 {
		return
	}
	s := tx.ownSet(t, i)
	s.use--
	if existed && s.Flags&SetAnonymous != 0 && s.use == 0 {
		tx.dropSet(t, i)
	}
}

// dynsetSize is the size that a set without one gets when a rule adds to it.
const dynsetSize = 0xffff

// boundByDynset limits a set that packets fill.
//
// Ref: nft_dynset.c, nft_dynset_init
func (tx *transaction) boundByDynset(t *Table, name string) {
	i := t.edit.sets.find(name)
	if i < 0 || t.edit.sets.items[i].Size != 0 {
		return
	}
	s := tx.ownSet(t, i)
	s.Size = dynsetSize
	_ = tx.rebuild(s) // cannot fail: the description was accepted before
}

// Info is what the expressions of rules need to know of the set.
func (s *Set) Info() *expr.SetInfo {
	return &expr.SetInfo{
		Flags: s.Flags, KeyLen: s.KeyLen, DataLen: s.DataLen, VerdictData: s.DataType == TypeVerdict, Exprs: s.Exprs,
		NoUpdate: s.Elements.Kind() != set.Rhash,
	}
}
