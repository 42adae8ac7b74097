package ruleset

import (
	"syscall"

	"verdict/catalog"
)

// chain makes the chain at a place ready for changes.
func (t *Table) ownChain(i int) *Chain {
	c := t.edit.chains.items[i]
	if c.edit != nil {
		return c
	}
	work := *c
	work.edit = newRuleEdit(c.Rules)
	t.edit.chains.put(i, &work)
	return &work
}

// findChain gives the place of a chain by its name or, for chains that the
// batch made, its placeholder; or -1.
func (tx *transaction) findChain(t *Table, name string) int {
	if i := t.edit.chains.find(name); i >= 0 {
		return i
	}
	if ref, ok := tx.newChains[name]; ok && ref.table == t {
		return t.edit.chains.find(ref.name)
	}
	return -1
}

func (tx *transaction) chainOf(t *Table, c *Change) (int, error) {
	if c.Handle != 0 && c.Kind == KindChain {
		if i := t.edit.chains.search(func(ch *Chain) bool { return ch.Handle == c.Handle }); i >= 0 {
			return i, nil
		}
		return -1, refuse(syscall.ENOENT, "no chain with handle %d", c.Handle).at(handleWord)
	}
	if i := tx.findChain(t, c.Name); i >= 0 {
		return i, nil
	}
	return -1, tx.noChain(t, c).at(nameWord)
}

func (tx *transaction) changeChain(c *Change) error {
	t, err := tx.table(c)
	if err != nil {
		return destroyed(c, err)
	}
	switch c.Op {
	case OpAdd, OpCreate:
		return tx.addChain(t, c)
	case OpDelete, OpDestroy:
		i, err := tx.chainOf(t, c)
		if err != nil {
			return destroyed(c, err)
		}
		return tx.deleteChain(t, c, i)
	case OpFlush:
		i, err := tx.chainOf(t, c)
		if err != nil {
			return err
		}
		if t.edit.chains.items[i].bound {
			return refuse(syscall.EOPNOTSUPP, "an anonymous chain lives and dies with its rule").at(nameWord)
		}
		tx.flushChain(t, i)
		return nil
	case OpRename:
		return tx.renameChain(t, c)
	}
	return refuse(syscall.EOPNOTSUPP, "chains cannot be changed this way")
}

// destroyed makes a missing thing no error for OpDestroy.
func destroyed(c *Change, err error) error {
	if err != nil && c.Op == OpDestroy && refused(err).errno == syscall.ENOENT {
		return nil
	}
	return err
}

// addChain makes or updates a chain.
//
// Ref: nf_tables_api.c, nf_tables_newchain
func (tx *transaction) addChain(t *Table, c *Change) error {
	def := ChainDef{}
	if c.ChainDef != nil {
		def = *c.ChainDef
	}
	if !def.Binding {
		if c.Name == "" || len(c.Name) > maxName {
			return refuse(syscall.EINVAL, "chain name of %d bytes", len(c.Name)).at(nameWord)
		}
		if i := t.edit.chains.find(c.Name); i >= 0 {
			if c.Op == OpCreate {
				return refuse(syscall.EEXIST, "chain %q exists", c.Name).at(nameWord)
			}
			return tx.updateChain(t, i, &def)
		}
	}
	chain := &Chain{Name: c.Name, Comment: def.Comment, Binding: def.Binding, edit: newRuleEdit(nil)}
	if err := tx.hookChain(t, chain, &def); err != nil {
		return err
	}
	if err := tx.offloadChain(t, chain); err != nil {
		return err
	}
	if def.Binding {
		chain.Name = t.number("__chain%d")
	}
	chain.Handle = t.newHandle()
	t.edit.chains.add(chain)
	tx.note(Event{Op: OpAdd, Kind: KindChain, Table: t, Chain: chain})
	tx.changed = true
	if def.Binding {
		if tx.newChains == nil {
			tx.newChains = map[string]chainRef{}
		}
		tx.newChains[c.Name] = chainRef{t, chain.Name}
		tx.unbound = append(tx.unbound, unbound{tx.index, "the anonymous chain", func() bool { return chain.bound || tx.gone(t) }})
	}
	return nil
}

// gone tells whether a table was deleted in this transaction.
func (tx *transaction) gone(t *Table) bool { return tx.tables[t.edit.index] != t }

// hookChain makes the chain a base chain if it was declared as one.
//
// Ref: nf_tables_api.c, nf_tables_addchain, nft_chain_parse_hook
func (tx *transaction) hookChain(t *Table, chain *Chain, def *ChainDef) error {
	if def.Base == nil {
		if def.HasPolicy {
			return refuse(syscall.EOPNOTSUPP, "only base chains have a policy").on(def.PolicyPlace)
		}
		return nil
	}
	if def.Binding {
		return refuse(syscall.EOPNOTSUPP, "an anonymous chain cannot be a base chain")
	}
	if t.edit.toggled {
		return refuse(syscall.EINVAL, "a base chain after a change of the flag dormant in one batch")
	}
	base := *def.Base
	if r := def.checkHook(t.Family); r != nil {
		return r
	}
	if !def.HasPolicy {
		base.Policy = catalog.VerdictAccept
	}
	if r := checkPolicy(base.Policy); r != nil {
		return r
	}
	chain.Base = &base
	return nil
}

func (def *ChainDef) checkHook(f catalog.Family) *refusal {
	r := checkHook(f, def.Base)
	if r != nil && r.errno == syscall.ENOENT {
		return r.on(def.TypePlace)
	}
	return r
}

func checkPolicy(p catalog.VerdictKind) *refusal {
	if p != catalog.VerdictAccept && p != catalog.VerdictDrop {
		return refuse(syscall.EINVAL, "policy %v", p)
	}
	return nil
}

// updateChain changes the policy and the devices of a base chain.
//
// Ref: nf_tables_api.c, nf_tables_updchain
func (tx *transaction) updateChain(t *Table, i int, def *ChainDef) error {
	c := t.edit.chains.items[i]
	if c.Binding {
		return refuse(syscall.EINVAL, "an anonymous chain cannot be changed").at(nameWord)
	}
	if def.HasPolicy && c.Base == nil {
		return refuse(syscall.EOPNOTSUPP, "only base chains have a policy").on(def.PolicyPlace)
	}
	var devices []string
	if def.Base != nil {
		if c.Base == nil {
			return refuse(syscall.EEXIST, "chain %q exists and has no hook", c.Name).at(nameWord)
		}
		want := def.Base
		if r := def.checkHook(t.Family); r != nil {
			return r
		}
		switch {
		case want.Type != c.Base.Type:
			return refuse(syscall.EEXIST, "chain %q exists with type %s", c.Name, c.Base.Type).at(nameWord)
		case want.Hook != c.Base.Hook || want.Priority != c.Base.Priority:
			return refuse(syscall.EOPNOTSUPP, "hook and priority of a chain cannot change")
		}
		devices = missing(want.Devices, c.Base.Devices)
		if c.edit != nil && len(missing(want.Devices, c.edit.devices)) < len(want.Devices) {
			return refuse(syscall.EEXIST, "chain %q got such a device in the same batch", c.Name)
		}
	}
	policy := def.HasPolicy && def.Base != nil && c.Base.Policy != def.Base.Policy
	if policy {
		if r := checkPolicy(def.Base.Policy); r != nil {
			return r
		}
	}
	if !policy && len(devices) == 0 {
		return nil
	}
	work := t.ownChain(i)
	base := *work.Base
	if policy {
		base.Policy = def.Base.Policy
	}
	base.Devices = append(append([]string(nil), base.Devices...), devices...)
	work.edit.devices = append(work.edit.devices, devices...)
	work.Base = &base
	tx.note(Event{Op: OpAdd, Kind: KindChain, Table: t, Chain: work})
	tx.changed = true
	return nil
}

// missing gives the names of want that have does not hold.
func missing(want, have []string) []string {
	var out []string
	for _, w := range want {
		found := false
		for _, h := range have {
			found = found || h == w
		}
		if !found {
			out = append(out, w)
		}
	}
	return out
}

// deleteChain deletes a chain with its rules, or devices of a netdev chain.
//
// Ref: nf_tables_api.c, nf_tables_delchain
func (tx *transaction) deleteChain(t *Table, c *Change, i int) error {
	chain := t.edit.chains.items[i]
	if chain.Binding {
		return refuse(syscall.EOPNOTSUPP, "an anonymous chain lives and dies with its rule").at(nameWord)
	}
	if c.ChainDef != nil && c.ChainDef.Base != nil && len(c.ChainDef.Base.Devices) > 0 && chain.Base != nil {
		return tx.deleteDevices(t, i, c.ChainDef.Base.Devices)
	}
	// The kernel counts jumps from the chain's own rules as well.
	if chain.use > 0 {
		return refuse(syscall.EBUSY, "chain %q is the target of %d rules or elements", chain.Name, chain.use).at(nameWord)
	}
	tx.flushChain(t, i)
	tx.note(Event{Op: OpDelete, Kind: KindChain, Table: t, Chain: chain})
	t.edit.chains.remove(i)
	tx.changed = true
	return nil
}

func (tx *transaction) deleteDevices(t *Table, i int, devices []string) error {
	work := t.ownChain(i)
	for _, d := range missing(devices, work.Base.Devices) {
		return refuse(syscall.ENOENT, "chain %q is not attached to device %q", work.Name, d)
	}
	base, leaving := *work.Base, *work.Base
	base.Devices, leaving.Devices = missing(work.Base.Devices, devices), devices
	work.Base = &leaving
	tx.unloadChain(t, work)
	work.Base = &base
	tx.changed = true
	return nil
}

// flushChain deletes all rules of a chain.
func (tx *transaction) flushChain(t *Table, i int) {
	if n := t.edit.chains.items[i]; n.edit == nil && len(n.Rules) == 0 || n.edit != nil && n.edit.count == 0 {
		return
	}
	work := t.ownChain(i)
	tx.noteRules(t, work)
	tx.unloadChain(t, work)
	old := work.edit
	work.edit = newRuleEdit(nil)
	old.each(func(_ int32, r *Rule) bool {
		tx.release(t, r)
		return true
	})
	tx.changed = true
}

// renameChain renames a chain that keeps its handle.
//
// Ref: nf_tables_api.c, nf_tables_updchain
func (tx *transaction) renameChain(t *Table, c *Change) error {
	i, err := tx.chainOf(t, c)
	if err != nil {
		return err
	}
	chain := t.edit.chains.items[i]
	switch {
	case chain.Binding:
		return refuse(syscall.EINVAL, "an anonymous chain has no name to change").at(nameWord)
	case c.NewName == "" || len(c.NewName) > maxName:
		return refuse(syscall.EINVAL, "chain name of %d bytes", len(c.NewName))
	case t.edit.chains.find(c.NewName) >= 0:
		return refuse(syscall.EEXIST, "chain %q exists", c.NewName)
	}
	work := t.ownChain(i)
	t.edit.chains.rename(i, work.Name, c.NewName)
	tx.renamed(t, work.Name, c.NewName)
	work.Name = c.NewName
	tx.note(Event{Op: OpAdd, Kind: KindChain, Table: t, Chain: work})
	tx.changed = true
	return nil
}
