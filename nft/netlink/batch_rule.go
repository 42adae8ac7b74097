package netlink

import (
	"fmt"

	"verdict/nft/ruleset"
)

// rule writes a rule that is added, inserted or replaced.
func (b *batch) rule(c *ruleset.Change) error {
	def := c.RuleDef
	if def == nil {
		return fmt.Errorf("a rule without a definition")
	}
	w := b.encoder()
	w.str(ruleTable, c.Table)
	if id := b.chains[c.Name]; id != 0 {
		w.u32(ruleChainID, id)
	} else {
		w.str(ruleChain, c.Name)
	}
	flags := uint16(FlagCreate)
	switch c.Op {
	case ruleset.OpReplace:
		flags = FlagReplace
		w.u64(ruleHandle, c.Handle)
	case ruleset.OpInsert:
	default:
		flags |= FlagAppend
	}
	if err := b.place(w, c); err != nil {
		return err
	}
	if c.Op != ruleset.OpReplace {
		id := uint32(len(b.rules) + 1)
		b.rules = append(b.rules, placed{family: c.Family, table: c.Table, chain: c.Name, id: id, at: b.indexOf(c)})
		w.u32(ruleID, id)
	}
	if err := w.rule(def.Exprs, def.Comment); err != nil {
		return err
	}
	return b.emit(w, c, NewRule, flags)
}

// place appends the rule next to which this one goes. An index is turned into
// the handle of the rule that has it, or its number within the batch.
func (b *batch) place(w *encoder, c *ruleset.Change) error {
	def := c.RuleDef
	switch {
	case def.Position != 0:
		w.u64(rulePosition, def.Position)
		return nil
	case !def.HasIndex:
		return nil
	}
	for _, p := range b.rules {
		if b.same(&p, c) && p.at == def.Index {
			w.u32(rulePositionID, p.id)
			return nil
		}
	}
	i := def.Index - b.before(c, def.Index)
	if t := b.base.Table(c.Family, c.Table); t != nil {
		if chain := t.Chain(c.Name); chain != nil && i < uint64(len(chain.Rules)) {
			w.u64(rulePosition, chain.Rules[i].Handle)
			return nil
		}
	}
	return fmt.Errorf("chain %s has no rule with index %d", c.Name, def.Index)
}

func (b *batch) same(p *placed, c *ruleset.Change) bool {
	return p.family == c.Family && p.table == c.Table && p.chain == c.Name
}

// before counts the rules of the batch in front of an index.
func (b *batch) before(c *ruleset.Change, index uint64) (n uint64) {
	for _, p := range b.rules {
		if b.same(&p, c) && p.at < index {
			n++
		}
	}
	return n
}

// indexOf is the index that a new rule gets; those behind it move on.
func (b *batch) indexOf(c *ruleset.Change) uint64 {
	def := c.RuleDef
	at := uint64(0)
	switch {
	case def.HasIndex && c.Op == ruleset.OpInsert:
		at = def.Index
	case def.HasIndex:
		at = def.Index + 1
	case c.Op == ruleset.OpInsert && def.Position == 0:
	default:
		return b.length(c) // behind all, or next to a handle, where no index matters
	}
	for i := range b.rules {
		if p := &b.rules[i]; b.same(p, c) && p.at >= at {
			p.at++
		}
	}
	return at
}

// length is the number of rules of a chain so far.
func (b *batch) length(c *ruleset.Change) (n uint64) {
	if t := b.base.Table(c.Family, c.Table); t != nil {
		if chain := t.Chain(c.Name); chain != nil {
			n = uint64(len(chain.Rules))
		}
	}
	for i := range b.rules {
		if b.same(&b.rules[i], c) {
			n++
		}
	}
	return n
}
