package netlink

import (
	"verdict/catalog"
	"verdict/nft/ruleset"
)

// AppendDump writes a ruleset as the messages with which the kernel answers
// requests for all tables, chains, rules, sets, elements, objects and
// flowtables, with handles; now is the time for elements that expire.
// Decoding them gives an equal ruleset.
func AppendDump(list []Message, rs *ruleset.Ruleset, now int64) ([]Message, error) {
	d := dumper{list: list}
	for _, t := range rs.Tables {
		if err := d.table(t, now); err != nil {
			return nil, err
		}
	}
	return d.list, nil
}

type dumper struct{ list []Message }

func (d *dumper) emit(family catalog.Family, t Type, w *encoder) error {
	if w.err == nil {
		d.list = append(d.list, Message{Type: t, Flags: FlagAppend | FlagCreate, Family: family, Attrs: w.b})
	}
	return w.err
}

func (d *dumper) table(t *ruleset.Table, now int64) error {
	w := &encoder{}
	w.builder.table(t.Name, &ruleset.TableDef{Flags: t.Flags, Comment: t.Comment, Owner: t.Owner}, t.Handle)
	if err := d.emit(t.Family, NewTable, w); err != nil {
		return err
	}
	for _, c := range t.Chains {
		if err := d.chain(t, c); err != nil {
			return err
		}
	}
	for _, o := range t.Objects {
		w := &encoder{}
		if err := w.object(t.Name, o, o.Handle); err != nil {
			return err
		}
		if err := d.emit(t.Family, NewObj, w); err != nil {
			return err
		}
	}
	for _, s := range t.Sets {
		if err := d.set(t, s, now); err != nil {
			return err
		}
	}
	for _, f := range t.Flowtables {
		w := &encoder{}
		w.flowtable(t.Name, f, f.Handle)
		if err := d.emit(t.Family, NewFlowtable, w); err != nil {
			return err
		}
	}
	return d.rules(t)
}

func (d *dumper) chain(t *ruleset.Table, c *ruleset.Chain) error {
	w := &encoder{}
	w.str(chainTable, t.Name)
	w.str(chainName, c.Name)
	w.u64(chainHandle, c.Handle)
	flags := bit(c.Binding) * chainIsBinding
	if b := c.Base; b != nil {
		w.base(b, true)
		flags |= chainIsBase | bit(b.Offload)*chainOffload
	}
	if flags != 0 {
		w.u32(chainFlags, flags)
	}
	w.chainComment(c.Comment)
	return d.emit(t.Family, NewChain, w)
}

func (d *dumper) set(t *ruleset.Table, s *ruleset.Set, now int64) error {
	w := &encoder{}
	if err := w.set(t.Name, &s.SetDef, 0, s.Handle); err != nil {
		return err
	}
	if err := d.emit(t.Family, NewSet, w); err != nil {
		return err
	}
	var elements []ruleset.Element
	for el := range s.Elements.Alive(now) {
		elements = append(elements, *el)
	}
	for len(elements) > 0 {
		w := &encoder{}
		n, err := w.elements(t.Name, s.Name, 0, elements)
		if err != nil {
			return err
		}
		if err := d.emit(t.Family, NewSetElem, w); err != nil {
			return err
		}
		elements = elements[n:]
	}
	return nil
}

func (d *dumper) rules(t *ruleset.Table) error {
	for _, c := range t.Chains {
		for _, r := range c.Rules {
			w := &encoder{}
			w.str(ruleTable, t.Name)
			w.str(ruleChain, c.Name)
			w.u64(ruleHandle, r.Handle)
			if err := w.rule(r.Exprs, r.Comment); err != nil {
				return err
			}
			if err := d.emit(t.Family, NewRule, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// ElementsOf is the request for the elements of a set, given the message that
// describes it.
func ElementsOf(m *Message) Message {
	f := parseFields(m.Attrs)
	w := &encoder{}
	w.str(listTable, f.str(setTable))
	w.str(listSet, f.str(setName))
	return Message{Type: GetSetElem, Family: m.Family, Attrs: w.b}
}
