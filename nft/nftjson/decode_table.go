package nftjson

import (
	"verdict/nft/syntax"
)

func (d *decoder) addTable(c *syntax.Command, n *node) {
	if !d.object(n, "family", "name", "handle", "flags", "comment") {
		return
	}
	d.target(c, n, false)
	t := &syntax.Table{At: d.at(n), Family: c.Target.Family, Name: c.Target.Table, HasBlock: true}
	if f := n.get("flags"); f != nil {
		flags := &syntax.TableFlags{At: d.at(f), Flags: d.words(f, "flag of a table", "dormant", "owner", "persist")}
		t.Items = append(t.Items, flags)
	}
	t.Items = append(t.Items, d.comment(n)...)
	c.Table = t
}

// comment reads the comment of a table, chain or set.
func (d *decoder) comment(n *node) []syntax.Item {
	w := d.word(n.get("comment"))
	if !w.Given() {
		return nil
	}
	return []syntax.Item{&syntax.CommentProperty{At: w.At, Text: w}}
}

func (d *decoder) addChain(c *syntax.Command, n *node) {
	if !d.object(n, "family", "table", "name", "handle", "comment", "type", "hook", "prio", "dev", "policy", "flags", "newname") {
		return
	}
	d.target(c, n, true)
	c.Chain = d.chain(n)
}

// chain reads a chain's properties.
func (d *decoder) chain(n *node) *syntax.Chain {
	x := &syntax.Chain{At: d.at(n), Name: d.word(n.get("name")), HasBlock: true, Items: d.comment(n)}
	if h := d.hook(n); h != nil {
		x.Items = append(x.Items, h)
	} else if dev := n.get("dev"); dev != nil {
		x.Items = append(x.Items, &syntax.DevicesProperty{At: d.at(dev), Devices: d.devices(dev)})
	}
	if p := n.get("policy"); p != nil {
		w := d.oneOf(p, "policy", "accept", "drop")
		x.Items = append(x.Items, &syntax.Policy{At: d.at(p), Value: &syntax.Literal{At: w.At, Text: w.Text}})
	}
	if f := n.get("flags"); f != nil {
		x.Items = append(x.Items, &syntax.ChainFlags{At: d.at(f), Flags: d.words(f, "flag of a chain", "offload")})
	}
	return x
}

// hook reads what makes a base chain: type, hook and priority, which need
// each other.
func (d *decoder) hook(n *node) *syntax.Hook {
	kind, hook, prio := n.get("type"), n.get("hook"), n.get("prio")
	if kind == nil && hook == nil && prio == nil {
		return nil
	}
	h := &syntax.Hook{At: d.at(n), Type: d.name(n, "type"), Hook: d.name(n, "hook")}
	h.Priority = d.priority(d.need(n, "prio"))
	if dev := n.get("dev"); dev != nil {
		h.Devices, h.Many = d.devices(dev), dev.kind == kindArray
	}
	return h
}

func (d *decoder) priority(n *node) *syntax.Priority {
	v, ok := d.int(n)
	if !ok {
		return nil
	}
	return &syntax.Priority{At: d.at(n), Base: literalInt(d.at(n), v)}
}

// devices reads the name of a device, or a list of them.
func (d *decoder) devices(n *node) syntax.Expr {
	if n.kind != kindArray {
		return d.device(n)
	}
	list := &syntax.SetLiteral{At: d.at(n)}
	for i := range n.items() {
		if l := d.device(&n.items()[i]); l != nil {
			list.Elements = append(list.Elements, &syntax.Element{At: l.At, Key: l})
		}
	}
	return list
}

// maxDevice is the longest name of a device.
const maxDevice = 15

func (d *decoder) device(n *node) *syntax.Literal {
	s, ok := d.text(n)
	if !ok {
		return &syntax.Literal{At: d.at(n), Kind: syntax.LitQuoted, Text: "?"}
	}
	if s == "" || len(s) > maxDevice {
		d.errorf(n, codeValue, "the name of a device has 1 to %d bytes", maxDevice)
	}
	return &syntax.Literal{At: d.at(n), Kind: syntax.LitQuoted, Text: s}
}

func (d *decoder) addFlowtable(c *syntax.Command, n *node) {
	if !d.object(n, "family", "table", "name", "handle", "hook", "prio", "dev", "flags", "counter") {
		return
	}
	d.target(c, n, true)
	c.Flowtable = d.flowtable(n)
}

func (d *decoder) flowtable(n *node) *syntax.Flowtable {
	f := &syntax.Flowtable{At: d.at(n), Name: d.word(n.get("name")), HasBlock: true, Hook: d.word(n.get("hook"))}
	if p := n.get("prio"); p != nil {
		f.Priority = d.priority(p)
	} else if f.Hook.Given() {
		f.Priority = &syntax.Priority{At: f.Hook.At, Base: literalInt(f.Hook.At, 0)}
	}
	if dev := n.get("dev"); dev != nil {
		f.Devices = d.devices(dev)
		if l, ok := f.Devices.(*syntax.Literal); ok {
			f.Devices = &syntax.SetLiteral{At: l.At, Elements: []syntax.Expr{&syntax.Element{At: l.At, Key: l}}}
		}
	}
	f.Flags = d.words(n.get("flags"), "flag of a flowtable", "offload")
	if counter := n.get("counter"); counter != nil {
		f.Counter = counter.kind != kindBool || counter.truth
	}
	return f
}

// addRule reads a rule. Its handle says where it goes; in an object without a
// verb, such as listings hold, it means nothing.
func (d *decoder) addRule(c *syntax.Command, n *node) {
	if !d.object(n, "family", "table", "chain", "handle", "index", "comment", "expr", "position") {
		return
	}
	d.ruleTarget(c, n)
	r := &syntax.Rule{At: d.at(n), Comment: d.word(n.get("comment"))}
	if c.Explicit {
		r.Handle = d.number(n.get("handle"), maxUint64)
		r.Index = d.number(n.get("index"), maxUint64)
		if c.Verb == syntax.VerbReplace && r.Handle == nil {
			d.need(n, "handle")
		}
		if r.Handle != nil {
			r.Index = nil
		}
	}
	x := n.get("expr")
	if x == nil && !r.Comment.Given() {
		d.need(n, "expr") // only a rule that is a comment has no statements
	}
	if x != nil && d.want(x, kindArray) {
		r.Statements = d.statements(x)
	}
	c.Rule = r
}

func (d *decoder) statements(n *node) []syntax.Statement {
	list := make([]syntax.Statement, 0, len(n.items()))
	for i := range n.items() {
		list = append(list, d.statement(&n.items()[i])...)
	}
	return list
}
