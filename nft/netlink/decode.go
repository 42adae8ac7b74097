package netlink

import (
	"fmt"
	"strconv"

	"verdict/catalog"
	"verdict/nft/ruleset"
)

// Unknown is an attribute that the decoder does not know, kept as it came.
type Unknown struct {
	Type   Type // of the message it was in
	Family catalog.Family
	// Item is what it belongs to: table, and name or handle.
	Item      string
	Attribute uint16
	Data      []byte
}

func (u Unknown) String() string {
	return fmt.Sprintf("%s %s: attribute %d of message %d: 0x%x", u.Family, u.Item, u.Attribute, u.Type, u.Data)
}

// Dump is a ruleset read from the kernel's messages.
type Dump struct {
	Rules *ruleset.Ruleset
	// Unknown are attributes that nobody understood.
	Unknown []Unknown
}

// Decode builds a ruleset from the messages of a dump, in the order in which
// the kernel gives them: tables before what they hold. now is the time for
// elements that expire, in nanoseconds. Cost: linear in the messages, plus
// that of building the sets.
func Decode(messages []Message, now int64) (*Dump, error) {
	d := &decoder{
		dump:     &Dump{Rules: &ruleset.Ruleset{}},
		elements: map[elementKey][]ruleset.Element{},
	}
	for i := range messages {
		if err := d.message(&messages[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	for _, t := range d.dump.Rules.Tables {
		d.dump.Rules.NextTableHandle = max(d.dump.Rules.NextTableHandle, t.Handle+1)
		t.NextHandle = nextHandle(t)
	}
	rs, err := ruleset.Restore(d.dump.Rules, func(t *ruleset.Table, s *ruleset.Set) []ruleset.Element {
		return d.elements[elementKey{t.Family, t.Name, s.Name}]
	}, now, ruleset.FromRuleset)
	if err != nil {
		return nil, err
	}
	d.dump.Rules = rs
	return d.dump, nil
}

// nextHandle is one more than the highest handle in a table.
func nextHandle(t *ruleset.Table) uint64 {
	top := uint64(0)
	for _, c := range t.Chains {
		top = max(top, c.Handle)
		for _, r := range c.Rules {
			top = max(top, r.Handle)
		}
	}
	for _, s := range t.Sets {
		top = max(top, s.Handle)
	}
	for _, o := range t.Objects {
		top = max(top, o.Handle)
	}
	for _, f := range t.Flowtables {
		top = max(top, f.Handle)
	}
	return top + 1
}

type elementKey struct {
	family     catalog.Family
	table, set string
}

type decoder struct {
	dump     *Dump
	elements map[elementKey][]ruleset.Element
}

// nameOf is the attribute with the name of what a message is about.
var nameOf = map[Type]uint16{NewTable: tableName, NewChain: chainName, NewSet: setName, NewObj: objName, NewFlowtable: flowName}

func (d *decoder) message(m *Message) error {
	f := parseFields(m.Attrs)
	if f.err != nil {
		return f.err
	}
	if t, ok := nameOf[m.Type]; ok && f.str(t) == "" {
		return fmt.Errorf("a message of type %d has no name: %w", m.Type, errAttr)
	}
	switch m.Type {
	case NewTable:
		return d.table(m, f)
	case NewChain:
		return d.chain(m, f)
	case NewRule:
		return d.rule(m, f)
	case NewSet:
		return d.set(m, f)
	case NewSetElem:
		return d.setElements(m, f)
	case NewObj:
		return d.object(m, f)
	case NewFlowtable:
		return d.flowtable(m, f)
	case NewGen:
		return nil
	}
	return fmt.Errorf("message of type %d is no part of a dump", m.Type)
}

// keep notes attributes that were not understood.
func (d *decoder) keep(m *Message, item string, list ...attr) {
	for _, a := range list {
		d.dump.Unknown = append(d.dump.Unknown, Unknown{m.Type, m.Family, item, a.typ, a.value})
	}
}

// finish notes what is left of a message; values of wrong sizes are errors.
func (d *decoder) finish(m *Message, f *fields, item string) error {
	d.keep(m, item, f.rest()...)
	if f.odd && len(f.extra) == 0 {
		return fmt.Errorf("%s: a value of a wrong size: %w", item, errAttr)
	}
	return nil
}

func (d *decoder) inTable(m *Message, f *fields, t uint16) (*ruleset.Table, error) {
	name := f.str(t)
	if table := d.dump.Rules.Table(m.Family, name); table != nil {
		return table, nil
	}
	return nil, fmt.Errorf("no table %s %q", m.Family, name)
}

func (d *decoder) table(m *Message, f *fields) error {
	f.skip(tableUse, tablePad)
	t := &ruleset.Table{Family: m.Family, Name: f.str(tableName), Handle: f.u64(tableHandle), Flags: f.u32(tableFlags)}
	if f.has(tableOwner) {
		t.Owner = strconv.FormatUint(uint64(f.u32(tableOwner)), 10)
	}
	var ok bool
	user := f.take(tableUser)
	if t.Comment, ok = comment(user); !ok {
		d.keep(m, t.Name, attr{tableUser, user})
	}
	d.dump.Rules.Tables = append(d.dump.Rules.Tables, t)
	return d.finish(m, f, t.Name)
}

func (d *decoder) chain(m *Message, f *fields) error {
	t, err := d.inTable(m, f, chainTable)
	if err != nil {
		return err
	}
	f.skip(chainUse, chainPad, chainID)
	flags := f.small(chainFlags, chainIsBase|chainOffload|chainIsBinding)
	c := &ruleset.Chain{Name: f.str(chainName), Handle: f.u64(chainHandle), Binding: flags&chainIsBinding != 0}
	if f.has(chainHook) {
		c.Base = f.readBase(m.Family)
		c.Base.Offload = flags&chainOffload != 0
	}
	var ok bool
	user := f.take(chainUser)
	if c.Comment, ok = comment(user); !ok {
		d.keep(m, t.Name+" "+c.Name, attr{chainUser, user})
	}
	t.Chains = append(t.Chains, c)
	return d.finish(m, f, t.Name+" "+c.Name)
}

func (d *decoder) rule(m *Message, f *fields) error {
	t, err := d.inTable(m, f, ruleTable)
	if err != nil {
		return err
	}
	name := f.str(ruleChain)
	c := t.Chain(name)
	if c == nil {
		return fmt.Errorf("no chain %q in table %s %s", name, t.Family, t.Name)
	}
	f.skip(rulePosition, rulePad, ruleID)
	r := &ruleset.Rule{Handle: f.u64(ruleHandle)}
	item := t.Name + " " + name + " handle " + strconv.FormatUint(r.Handle, 10)
	if r.Exprs, err = readExpressions(f.take(ruleExprs), 0); err != nil {
		return fmt.Errorf("%s: %w", item, err)
	}
	var ok bool
	user := f.take(ruleUser)
	if r.Comment, ok = comment(user); !ok {
		d.keep(m, item, attr{ruleUser, user})
	}
	c.Rules = append(c.Rules, r)
	return d.finish(m, f, item)
}

func (d *decoder) set(m *Message, f *fields) error {
	t, err := d.inTable(m, f, setTable)
	if err != nil {
		return err
	}
	user := f.values[setUser]
	def, handle, ok, err := f.readSet()
	if err != nil {
		return err
	}
	item := t.Name + " " + def.Name
	if !ok {
		d.keep(m, item, attr{setUser, user})
	}
	t.Sets = append(t.Sets, &ruleset.Set{SetDef: def, Handle: handle})
	return d.finish(m, f, item)
}

func (d *decoder) setElements(m *Message, f *fields) error {
	t, err := d.inTable(m, f, listTable)
	if err != nil {
		return err
	}
	name := f.str(listSet)
	item := t.Name + " " + name
	key := elementKey{m.Family, t.Name, name}
	if t.Set(name) == nil {
		return fmt.Errorf("no set %q in table %s %s", name, t.Family, t.Name)
	}
	f.skip(listID)
	err = eachAttr(f.take(listElems), func(a attr) error {
		el, unknown, err := readElement(a.value)
		if err != nil {
			return err
		}
		d.keep(m, item, unknown...)
		d.elements[key] = append(d.elements[key], el)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", item, err)
	}
	return d.finish(m, f, item)
}

func (d *decoder) object(m *Message, f *fields) error {
	t, err := d.inTable(m, f, objTable)
	if err != nil {
		return err
	}
	data, user := f.values[objData], f.values[objUser]
	o, ok := f.readObject()
	item := t.Name + " " + o.Name
	if !ok {
		d.keep(m, item, attr{objData, data}, attr{objUser, user})
	}
	t.Objects = append(t.Objects, o)
	return d.finish(m, f, item)
}

func (d *decoder) flowtable(m *Message, f *fields) error {
	t, err := d.inTable(m, f, flowTable)
	if err != nil {
		return err
	}
	f.skip(flowUse, flowPad)
	flags := f.small(flowFlags, flowOffload|flowCounter)
	x := &ruleset.Flowtable{
		Name: f.str(flowName), Handle: f.u64(flowHandle),
		Offload: flags&flowOffload != 0, Counter: flags&flowCounter != 0,
	}
	h := parseFields(f.take(flowHook))
	h.small(flowHookNum, 255)
	x.Priority = int32(h.u32(flowHookPrio))
	x.Devices = h.readDevices(0, flowHookDevs)
	f.odd = f.odd || !h.whole()
	t.Flowtables = append(t.Flowtables, x)
	return d.finish(m, f, t.Name+" "+x.Name)
}
