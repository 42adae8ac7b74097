package netlink

import (
	"fmt"

	"verdict/catalog"
	"verdict/nft/ruleset"
)

// BatchOptions say what a batch starts from.
type BatchOptions struct {
	// Base is the ruleset that the batch changes. Rules that are placed by
	// index, and rules that are deleted from a chain by name, are looked up in
	// it; nil stands for none.
	Base *ruleset.Ruleset
}

// Batch writes changes as messages, to be sent between the begin and the end
// of a batch. A change with many elements becomes several messages; Change of
// each message tells which one it belongs to. The error names the change that
// has no netlink form, such as a reset, which is no part of a batch.
func Batch(changes []ruleset.Change, o BatchOptions) ([]Message, error) {
	b := &batch{base: o.Base, chains: map[string]uint32{}}
	for i := range changes {
		b.index = i
		if err := b.change(&changes[i]); err != nil {
			return nil, fmt.Errorf("change %d: %w", i, err)
		}
	}
	return b.messages, nil
}

// batch is a batch at work.
type batch struct {
	base     *ruleset.Ruleset
	index    int
	messages []Message
	// chains are the numbers of the anonymous chains, by placeholder.
	chains map[string]uint32
	rules  []placed
}

// placed is a rule of the batch with the number that others place themselves
// by.
type placed struct {
	family       catalog.Family
	table, chain string
	id           uint32
	at           uint64 // its index when it was added
}

func (b *batch) encoder() *encoder {
	return &encoder{chainID: func(name string) uint32 { return b.chains[name] }}
}

func (b *batch) emit(w *encoder, c *ruleset.Change, t Type, flags uint16) error {
	if w.err != nil {
		return w.err
	}
	b.messages = append(b.messages, Message{Type: t, Flags: flags, Family: c.Family, Attrs: w.b, Change: b.index})
	return nil
}

// kind are the message types of one kind of item.
type kind struct{ add, del, destroy Type }

var kinds = map[ruleset.Kind]kind{
	ruleset.KindTable:     {NewTable, DelTable, DestroyTable},
	ruleset.KindChain:     {NewChain, DelChain, DestroyChain},
	ruleset.KindRule:      {NewRule, DelRule, DestroyRule},
	ruleset.KindSet:       {NewSet, DelSet, DestroySet},
	ruleset.KindElements:  {NewSetElem, DelSetElem, DestroySetElem},
	ruleset.KindObject:    {NewObj, DelObj, DestroyObj},
	ruleset.KindFlowtable: {NewFlowtable, DelFlowtable, DestroyFlowtable},
}

func (b *batch) change(c *ruleset.Change) error {
	switch {
	case c.Kind == ruleset.KindRuleset && c.Op == ruleset.OpFlush:
		return b.emit(b.encoder(), c, DelTable, 0)
	case c.Op == ruleset.OpReset:
		return fmt.Errorf("a reset is a request of its own, no part of a batch")
	}
	types, ok := kinds[c.Kind]
	if !ok {
		return fmt.Errorf("a change of kind %d has no netlink form", c.Kind)
	}
	switch c.Op {
	case ruleset.OpAdd:
		return b.add(c, types.add, FlagCreate)
	case ruleset.OpCreate:
		return b.add(c, types.add, FlagCreate|FlagExcl)
	case ruleset.OpInsert, ruleset.OpReplace:
		if c.Kind == ruleset.KindRule {
			return b.rule(c)
		}
	case ruleset.OpDelete:
		return b.remove(c, types.del)
	case ruleset.OpDestroy:
		return b.remove(c, types.destroy)
	case ruleset.OpFlush:
		return b.flush(c)
	case ruleset.OpRename:
		if c.Kind == ruleset.KindChain {
			return b.rename(c)
		}
	}
	return fmt.Errorf("operation %d on kind %d has no netlink form", c.Op, c.Kind)
}

func (b *batch) add(c *ruleset.Change, t Type, flags uint16) error {
	w := b.encoder()
	var err error
	switch c.Kind {
	case ruleset.KindTable:
		def := c.TableDef
		if def == nil {
			def = &ruleset.TableDef{}
		}
		w.table(c.Table, def, 0)
	case ruleset.KindChain:
		b.chain(w, c)
	case ruleset.KindRule:
		return b.rule(c)
	case ruleset.KindSet:
		if c.SetDef == nil {
			return fmt.Errorf("set %s without a definition", c.Name)
		}
		def := *c.SetDef
		def.Name = c.Name
		err = w.set(c.Table, &def, c.SetID, 0)
	case ruleset.KindElements:
		return b.elements(c, t, flags)
	case ruleset.KindObject:
		if c.ObjectDef == nil {
			return fmt.Errorf("object %s without a definition", c.Name)
		}
		err = w.object(c.Table, c.ObjectDef, 0)
	case ruleset.KindFlowtable:
		if c.Flowtable == nil {
			return fmt.Errorf("flowtable %s without a definition", c.Name)
		}
		w.flowtable(c.Table, c.Flowtable, 0)
	}
	if err != nil {
		return err
	}
	return b.emit(w, c, t, flags)
}

// chain appends a chain as declared. Anonymous chains go by number: the kernel
// names them.
func (b *batch) chain(w *encoder, c *ruleset.Change) {
	w.str(chainTable, c.Table)
	def := c.ChainDef
	if def == nil {
		def = &ruleset.ChainDef{}
	}
	if def.Binding {
		id := uint32(len(b.chains) + 1)
		b.chains[c.Name] = id
		w.u32(chainFlags, chainIsBinding)
		w.u32(chainID, id)
		return
	}
	w.str(chainName, c.Name)
	switch {
	case def.Base != nil && def.Base.Type != "":
		w.base(def.Base, def.HasPolicy)
		if def.Base.Offload {
			w.u32(chainFlags, chainOffload)
		}
	case def.Base != nil && def.HasPolicy:
		w.u32(chainPolicy, uint32(def.Base.Policy))
	}
	w.chainComment(def.Comment)
}

func (b *batch) rename(c *ruleset.Change) error {
	handle := c.Handle
	if chain := b.base.Table(c.Family, c.Table); handle == 0 && chain != nil {
		if found := chain.Chain(c.Name); found != nil {
			handle = found.Handle
		}
	}
	if handle == 0 {
		return fmt.Errorf("chain %s is renamed by its handle, which is unknown", c.Name)
	}
	w := b.encoder()
	w.str(chainTable, c.Table)
	w.u64(chainHandle, handle)
	w.str(chainName, c.NewName)
	return b.emit(w, c, NewChain, 0)
}

// elements cuts a list into messages.
func (b *batch) elements(c *ruleset.Change, t Type, flags uint16) error {
	for list := c.Elements; len(list) > 0; {
		w := b.encoder()
		n, err := w.elements(c.Table, c.Name, c.SetID, list)
		if err != nil {
			return err
		}
		if err := b.emit(w, c, t, flags); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// remove writes a deletion.
func (b *batch) remove(c *ruleset.Change, t Type) error {
	w := b.encoder()
	switch c.Kind {
	case ruleset.KindTable:
		w.named(c, 0, tableName, tableHandle)
	case ruleset.KindChain:
		w.str(chainTable, c.Table)
		w.named(c, chainName, 0, chainHandle)
	case ruleset.KindRule:
		w.str(ruleTable, c.Table)
		w.str(ruleChain, c.Name)
		w.u64(ruleHandle, c.Handle)
	case ruleset.KindSet:
		w.str(setTable, c.Table)
		w.named(c, setName, 0, setHandle)
	case ruleset.KindElements:
		return b.elements(c, t, 0)
	case ruleset.KindObject:
		w.str(objTable, c.Table)
		w.named(c, objName, 0, objHandle)
		w.u32(objType, uint32(c.ObjType))
	case ruleset.KindFlowtable:
		return b.removeFlowtable(w, c, t)
	}
	return b.emit(w, c, t, 0)
}

// named appends how an item is found: by handle where one is given, else by
// its name or the table's.
func (w *encoder) named(c *ruleset.Change, name, table, handle uint16) {
	switch {
	case c.Handle != 0:
		w.u64(handle, c.Handle)
	case name != 0:
		w.str(name, c.Name)
	default:
		w.str(table, c.Table)
	}
}

// removeFlowtable deletes a flowtable, or devices of it.
func (b *batch) removeFlowtable(w *encoder, c *ruleset.Change, t Type) error {
	w.str(flowTable, c.Table)
	w.named(c, flowName, 0, flowHandle)
	if f := c.Flowtable; f != nil && len(f.Devices) > 0 {
		mark := w.begin(flowHook)
		w.devices(0, flowHookDevs, f.Devices)
		w.end(mark)
	}
	return b.emit(w, c, t, 0)
}

// flush empties a table's or chain's rules, or a set.
func (b *batch) flush(c *ruleset.Change) error {
	w := b.encoder()
	switch c.Kind {
	case ruleset.KindTable:
		w.str(ruleTable, c.Table)
		return b.emit(w, c, DelRule, 0)
	case ruleset.KindChain, ruleset.KindRule:
		w.str(ruleTable, c.Table)
		w.str(ruleChain, c.Name)
		return b.emit(w, c, DelRule, 0)
	case ruleset.KindSet, ruleset.KindElements:
		if _, err := w.elements(c.Table, c.Name, 0, nil); err != nil {
			return err
		}
		return b.emit(w, c, DelSetElem, 0)
	}
	return fmt.Errorf("nothing of kind %d can be flushed", c.Kind)
}
