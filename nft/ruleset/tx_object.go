package ruleset

import (
	"syscall"
)

func (tx *transaction) changeObject(c *Change) error {
	t, err := tx.table(c)
	if err != nil {
		return destroyed(c, err)
	}
	if c.Op == OpAdd || c.Op == OpCreate {
		return tx.addObject(t, c)
	}
	i := t.edit.objects.find(objectKey{c.ObjType, c.Name})
	if c.Handle != 0 {
		i = t.edit.objects.search(func(o *Object) bool { return o.Type == c.ObjType && o.Handle == c.Handle })
	}
	if i < 0 {
		if c.Op == OpReset && c.Name == "" && c.Handle == 0 {
			tx.resetObjects(t, c.ObjType)
			return nil
		}
		return destroyed(c, tx.noObject(t, c).at(nameWord))
	}
	o := t.edit.objects.items[i]
	switch c.Op {
	case OpDelete, OpDestroy:
		if o.use > 0 {
			return refuse(syscall.EBUSY, "object %q is used by %d rules or elements", o.Name, o.use).at(nameWord)
		}
		tx.note(Event{Op: OpDelete, Kind: KindObject, Table: t, Object: o})
		t.edit.objects.remove(i)
		tx.changed = true
		return nil
	case OpReset:
		tx.resetObject(t, i)
		return nil
	}
	return refuse(syscall.EOPNOTSUPP, "objects cannot be changed this way")
}

// addObject makes an object, or updates the definition of one.
//
// Ref: nf_tables_api.c, nf_tables_newobj, nf_tables_updobj
func (tx *transaction) addObject(t *Table, c *Change) error {
	if c.ObjectDef == nil {
		return refuse(syscall.EINVAL, "an object without definition")
	}
	def := *c.ObjectDef
	if def.Name = c.Name; def.Name == "" || len(def.Name) > maxName {
		return refuse(syscall.EINVAL, "object name of %d bytes", len(def.Name)).at(nameWord)
	}
	if i := t.edit.objects.find(def.key()); i >= 0 {
		if c.Op == OpCreate {
			return refuse(syscall.EEXIST, "object %q exists", c.Name).at(nameWord)
		}
		return tx.updateObject(t, i, &def)
	}
	if err := checkObject(t, &def); err != nil {
		return err
	}
	if err := settleL3Proto(t.Family, &def); err != nil {
		return err
	}
	def.Handle, def.use, def.edit = t.newHandle(), 0, tx
	t.edit.objects.add(&def)
	tx.note(Event{Op: OpAdd, Kind: KindObject, Table: t, Object: &def})
	tx.changed = true
	return nil
}

// updateObject gives an object that exists another definition, where its type
// can change.
func (tx *transaction) updateObject(t *Table, i int, def *Object) error {
	if def.Quota == nil && def.Limit == nil && def.Synproxy == nil {
		return nil
	}
	if err := checkObject(t, def); err != nil {
		return err
	}
	o := tx.ownObject(t, i)
	o.Quota, o.Limit, o.Synproxy = def.Quota, def.Limit, def.Synproxy
	tx.note(Event{Op: OpAdd, Kind: KindObject, Table: t, Object: o})
	tx.changed = true
	return nil
}

func (tx *transaction) ownObject(t *Table, i int) *Object {
	o := t.edit.objects.items[i]
	if o.edit == tx {
		return o
	}
	work := *o
	work.edit = tx
	t.edit.objects.put(i, &work)
	return &work
}

// referObject takes (1) or gives back (-1) a reference to an object.
func (tx *transaction) referObject(t *Table, key objectKey, by int32) error {
	i := t.edit.objects.find(key)
	if i < 0 {
		return refuse(syscall.ENOENT, "no object %q in table %q", key.name, t.Name)
	}
	tx.ownObject(t, i).use += by
	return nil
}

func (tx *transaction) changeFlowtable(c *Change) error {
	t, err := tx.table(c)
	if err != nil {
		return destroyed(c, err)
	}
	i := t.edit.flowtables.find(c.Name)
	if c.Handle != 0 {
		i = t.edit.flowtables.search(func(f *Flowtable) bool { return f.Handle == c.Handle })
	}
	switch {
	case c.Op == OpAdd || c.Op == OpCreate:
		return tx.addFlowtable(t, c, i)
	case i < 0:
		return destroyed(c, tx.noFlowtable(t, c).at(nameWord))
	case c.Op == OpDelete || c.Op == OpDestroy:
		return tx.deleteFlowtable(t, c, i)
	}
	return refuse(syscall.EOPNOTSUPP, "flowtables cannot be changed this way")
}

// addFlowtable makes a flowtable, or adds devices to one.
//
// Ref: nf_tables_api.c, nf_tables_newflowtable, nft_flowtable_update
func (tx *transaction) addFlowtable(t *Table, c *Change, i int) error {
	if c.Flowtable == nil {
		return refuse(syscall.EINVAL, "a flowtable without definition")
	}
	def := *c.Flowtable
	if r := checkDevices(def.Devices); r != nil {
		return r
	}
	if i >= 0 {
		old := t.edit.flowtables.items[i]
		more := missing(def.Devices, old.Devices)
		switch {
		case c.Op == OpCreate:
			return refuse(syscall.EEXIST, "flowtable %q exists", c.Name).at(nameWord)
		case def.Offload != old.Offload || def.Counter != old.Counter:
			return refuse(syscall.EOPNOTSUPP, "the flags of a flowtable cannot change")
		case len(more) == 0:
			return nil
		}
		if err := tx.offloadFlowtable(old, more); err != nil {
			return err
		}
		f := tx.ownFlowtable(t, i)
		f.Devices = append(append([]string(nil), f.Devices...), more...)
		tx.changed = true
		return nil
	}
	if !hasFlowtables(t.Family) {
		return refuse(syscall.EOPNOTSUPP, "family %v has no flowtables", t.Family)
	}
	if def.Unhooked {
		return refuse(syscall.ENOENT, "flowtable %q has no hook", c.Name).at(nameWord)
	}
	if def.Name = c.Name; def.Name == "" || len(def.Name) > maxName {
		return refuse(syscall.EINVAL, "flowtable name of %d bytes", len(def.Name)).at(nameWord)
	}
	if err := tx.offloadFlowtable(&def, def.Devices); err != nil {
		return err
	}
	def.Handle, def.use, def.edit = t.newHandle(), 0, tx
	t.edit.flowtables.add(&def)
	tx.note(Event{Op: OpAdd, Kind: KindFlowtable, Table: t, Flowtable: &def})
	tx.changed = true
	return nil
}

// deleteFlowtable deletes a flowtable, or devices of it.
func (tx *transaction) deleteFlowtable(t *Table, c *Change, i int) error {
	f := t.edit.flowtables.items[i]
	if c.Flowtable != nil && len(c.Flowtable.Devices) > 0 {
		for _, d := range missing(c.Flowtable.Devices, f.Devices) {
			return refuse(syscall.ENOENT, "flowtable %q does not have device %q", f.Name, d)
		}
		f = tx.ownFlowtable(t, i)
		f.Devices = missing(f.Devices, c.Flowtable.Devices)
		tx.changed = true
		return nil
	}
	if f.use > 0 {
		return refuse(syscall.EBUSY, "flowtable %q is used by %d rules", f.Name, f.use).at(nameWord)
	}
	tx.note(Event{Op: OpDelete, Kind: KindFlowtable, Table: t, Flowtable: f})
	t.edit.flowtables.remove(i)
	tx.changed = true
	return nil
}

func (tx *transaction) ownFlowtable(t *Table, i int) *Flowtable {
	f := t.edit.flowtables.items[i]
	if f.edit == tx {
		return f
	}
	work := *f
	work.edit = tx
	t.edit.flowtables.put(i, &work)
	return &work
}

func (tx *transaction) referFlowtable(t *Table, name string) error {
	i := t.edit.flowtables.find(name)
	if i < 0 {
		return refuse(syscall.ENOENT, "no flowtable %q in table %q", name, t.Name)
	}
	tx.ownFlowtable(t, i).use++
	return nil
}

func (tx *transaction) unreferFlowtable(t *Table, name string) {
	if i := t.edit.flowtables.find(name); i >= 0 {
		tx.ownFlowtable(t, i).use--
	}
}
