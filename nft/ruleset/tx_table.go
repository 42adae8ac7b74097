package ruleset

import (
	"syscall"

	"verdict/catalog"
	"verdict/nft/expr"
)

const maxName = 255 // bytes of the name of anything

// tableEdit is the working state of a table within a transaction.
type tableEdit struct {
	base       *Table // in the old snapshot, nil for a new table
	index      int    // in transaction.tables
	chains     list[string, Chain, *Chain]
	sets       list[string, Set, *Set]
	objects    list[objectKey, Object, *Object]
	flowtables list[string, Flowtable, *Flowtable]

	toggled  bool // the dormant flag changed in this batch
	validate bool // got jumps or expressions that depend on the hook
	numbers  map[string]*numbers
	place    expr.Place // for the checks of expressions
}

// flushRuleset deletes all tables, or those of one family.
func (tx *transaction) flushRuleset(c *Change) error {
	if c.Op != OpFlush {
		return refuse(syscall.EINVAL, "a ruleset can only be flushed")
	}
	for i, t := range tx.tables {
		if t != nil && (c.Family == catalog.FamilyUnspec || t.Family == c.Family) && tx.owns(t) {
			tx.dropTable(i)
		}
	}
	return nil
}

func (tx *transaction) ownTables() {
	if tx.shared {
		tx.tables = append(make([]*Table, 0, len(tx.tables)+4), tx.tables...)
		tx.shared = false
	}
}

func (tx *transaction) findTable(family catalog.Family, name string) int {
	for i, t := range tx.tables {
		if t != nil && t.Family == family && t.Name == name {
			return i
		}
	}
	return -1
}

// edit makes the table at a place ready for changes.
func (tx *transaction) edit(i int) *Table {
	t := tx.tables[i]
	if t.edit != nil {
		return t
	}
	tx.ownTables()
	work := *t
	work.edit = &tableEdit{base: t, index: i}
	tx.describe(&work)
	if work.NextHandle == 0 {
		work.NextHandle = 1
	}
	find := t.find
	if find == nil {
		find = &tableIndex{}
	}
	work.edit.chains.init(t.Chains, find.chains)
	work.edit.sets.init(t.Sets, find.sets)
	work.edit.objects.init(t.Objects, find.objects)
	work.edit.flowtables.init(t.Flowtables, nil)
	tx.tables[i] = &work
	return &work
}

// table finds the table of a change, ready for changes.
func (tx *transaction) table(c *Change) (*Table, error) {
	i := tx.findTable(c.Family, c.Table)
	if i < 0 {
		return nil, tx.noTable(c).at(tableWord)
	}
	if !tx.owns(tx.tables[i]) {
		return nil, refuse(syscall.EPERM, "table %q belongs to %s", c.Table, tx.tables[i].Owner).at(tableWord)
	}
	return tx.edit(i), nil
}

// newHandle draws the next handle of a table.
func (t *Table) newHandle() uint64 {
	h := t.NextHandle
	t.NextHandle++
	return h
}

func (tx *transaction) changeTable(c *Change) error {
	switch c.Op {
	case OpAdd, OpCreate:
		return tx.addTable(c)
	case OpDelete, OpDestroy:
		return tx.deleteTable(c)
	case OpFlush:
		t, err := tx.table(c)
		if err != nil {
			return err
		}
		for i, chain := range t.edit.chains.items {
			if chain != nil && !chain.bound {
				tx.flushChain(t, i)
			}
		}
		return nil
	}
	return refuse(syscall.EOPNOTSUPP, "tables cannot be changed this way")
}

// addTable makes or updates a table.
//
// Ref: nf_tables_api.c, nf_tables_newtable, nf_tables_updtable
func (tx *transaction) addTable(c *Change) error {
	def := TableDef{}
	if c.TableDef != nil {
		def = *c.TableDef
	}
	if i := tx.findTable(c.Family, c.Table); i >= 0 {
		switch t := tx.tables[i]; {
		case !tx.owns(t):
			return refuse(syscall.EPERM, "table %q belongs to %s", c.Table, t.Owner).at(tableWord)
		case c.Op == OpCreate:
			return refuse(syscall.EEXIST, "table %q exists", c.Table).at(tableWord)
		case c.TableDef == nil || def.Flags == t.Flags:
			return nil
		}
		return tx.updateTable(i, def)
	}
	const known = TableDormant | TableOwner | TablePersist
	switch {
	case def.Flags&^known != 0:
		return refuse(syscall.EOPNOTSUPP, "table flags %#x", def.Flags&^known)
	case c.Table == "" || len(c.Table) > maxName:
		return refuse(syscall.EINVAL, "table name of %d bytes", len(c.Table)).at(tableWord)
	}
	tx.ownTables()
	if tx.next == 0 {
		tx.next = 1
	}
	t := &Table{Family: c.Family, Name: c.Table, Handle: tx.next, Flags: def.Flags, Comment: def.Comment, NextHandle: 1}
	tx.next++
	if def.Flags&TableOwner != 0 {
		if t.Owner = def.Owner; t.Owner == "" {
			t.Owner = tx.opts.Owner
		}
	}
	t.edit = &tableEdit{index: len(tx.tables)}
	tx.describe(t)
	tx.tables = append(tx.tables, t)
	tx.note(Event{Op: OpAdd, Kind: KindTable, Table: t})
	tx.changed = true
	return nil
}

func (tx *transaction) updateTable(i int, def TableDef) error {
	t := tx.tables[i]
	if r := checkTableUpdate(t, def.Flags); r != nil {
		return r
	}
	changed := def.Flags ^ t.Flags
	work := tx.edit(i)
	if changed&TableDormant != 0 {
		if work.edit.toggled {
			return refuse(syscall.EINVAL, "the flag dormant changes twice in one batch")
		}
		work.edit.toggled = true
	}
	if changed&TableOwner != 0 {
		if work.Owner = def.Owner; work.Owner == "" {
			work.Owner = tx.opts.Owner
		}
	}
	work.Flags = def.Flags
	tx.note(Event{Op: OpAdd, Kind: KindTable, Table: work})
	tx.changed = true
	return nil
}

func (tx *transaction) deleteTable(c *Change) error {
	i := tx.findTable(c.Family, c.Table)
	if c.Handle != 0 {
		i = -1
		for j, t := range tx.tables {
			if t != nil && t.Family == c.Family && t.Handle == c.Handle {
				i = j
			}
		}
	}
	if i < 0 {
		if c.Op == OpDestroy {
			return nil
		}
		return tx.noTable(c).at(tableWord)
	}
	if !tx.owns(tx.tables[i]) {
		return refuse(syscall.EPERM, "table %q belongs to %s", tx.tables[i].Name, tx.tables[i].Owner).at(tableWord)
	}
	tx.dropTable(i)
	return nil
}

func (tx *transaction) dropTable(i int) {
	tx.ownTables()
	tx.noteTable(tx.tables[i])
	tx.unloadTable(tx.tables[i])
	tx.tables[i] = nil
	tx.changed = true
}

// seal ends the work on a table.
func (t *Table) seal() {
	e := t.edit
	if e == nil {
		return
	}
	for _, c := range e.chains.items {
		if c != nil && c.edit != nil {
			c.Rules = c.edit.seal()
			c.edit = nil
		}
	}
	for _, s := range e.sets.items {
		if s != nil {
			s.edit = nil
		}
	}
	for _, o := range e.objects.items {
		if o != nil {
			o.edit = nil
		}
	}
	for _, f := range e.flowtables.items {
		if f != nil {
			f.edit = nil
		}
	}
	t.find = &tableIndex{}
	t.Chains, t.find.chains = e.chains.seal()
	t.Sets, t.find.sets = e.sets.seal()
	t.Objects, t.find.objects = e.objects.seal()
	t.Flowtables, _ = e.flowtables.seal()
	t.edit = nil
}
