package ruleset

import "verdict/set"

// Event is what a batch did to one thing, as the kernel tells its listeners
// (`nft monitor`, `nft --echo`). Table and, by kind, one of the other pointers
// are set; they show the thing as it was when the event happened and are not
// to be changed.
type Event struct {
	Op        Op // OpAdd, OpInsert (rules) or OpDelete
	Kind      Kind
	Table     *Table
	Chain     *Chain // also of a rule
	Rule      *Rule
	Set       *Set // also of elements
	Object    *Object
	Flowtable *Flowtable
	// Elements are those of KindElements, in the kernel's order of that change;
	// a range of a single field is two of them.
	Elements []*set.Entry
	// Targets are what the elements lead to, see Elements.Targets.
	Targets []Target
}

// note keeps an event for the end of the transaction, if anybody listens.
func (tx *transaction) note(e Event) {
	if tx.opts.Notify != nil {
		tx.events = append(tx.events, e)
	}
}

// notify tells the events of a batch that was committed.
//
// Ref: nf_tables_api.c, nf_tables_commit
func (tx *transaction) notify() {
	for _, e := range tx.events {
		tx.opts.Notify(e)
	}
}

// noteElements notes that elements came or went.
func (tx *transaction) noteElements(op Op, t *Table, s *Set, entries []*set.Entry) {
	if tx.opts.Notify == nil || len(entries) == 0 {
		return
	}
	list := append([]*set.Entry(nil), entries...)
	tx.note(Event{Op: op, Kind: KindElements, Table: t, Set: s, Elements: list, Targets: s.edit.names.list})
}

// noteFlush notes that all elements of a set go.
func (tx *transaction) noteFlush(t *Table, s *Set) {
	if tx.opts.Notify == nil {
		return
	}
	var all []*set.Entry
	s.edit.store.Prepared().Walk(func(e *set.Entry) bool {
		all = append(all, e)
		return true
	})
	tx.noteElements(OpDelete, t, s, all)
}

// noteTable notes that a table goes with all that it holds.
//
// Ref: nf_tables_api.c, nft_flush_table
func (tx *transaction) noteTable(t *Table) {
	if tx.opts.Notify == nil {
		return
	}
	chains, sets, objects, flowtables := t.Chains, t.Sets, t.Objects, t.Flowtables
	if t.edit != nil {
		chains, sets, objects, flowtables = t.edit.chains.items, t.edit.sets.items, t.edit.objects.items, t.edit.flowtables.items
	}
	for _, c := range chains {
		if c != nil && !c.bound {
			tx.noteRules(t, c)
		}
	}
	for _, f := range flowtables {
		if f != nil {
			tx.note(Event{Op: OpDelete, Kind: KindFlowtable, Table: t, Flowtable: f})
		}
	}
	for _, s := range sets {
		if s != nil {
			tx.note(Event{Op: OpDelete, Kind: KindSet, Table: t, Set: s})
		}
	}
	for _, o := range objects {
		if o != nil {
			tx.note(Event{Op: OpDelete, Kind: KindObject, Table: t, Object: o})
		}
	}
	for _, c := range chains {
		if c != nil && !c.bound {
			tx.note(Event{Op: OpDelete, Kind: KindChain, Table: t, Chain: c})
		}
	}
	tx.note(Event{Op: OpDelete, Kind: KindTable, Table: t})
}

// noteRules notes that all rules of a chain go.
func (tx *transaction) noteRules(t *Table, c *Chain) {
	if tx.opts.Notify == nil {
		return
	}
	rules := c.edit
	if rules == nil {
		rules = newRuleEdit(c.Rules)
	}
	rules.each(func(_ int32, r *Rule) bool {
		tx.note(Event{Op: OpDelete, Kind: KindRule, Table: t, Chain: c, Rule: r})
		return true
	})
}
