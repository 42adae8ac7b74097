package nftjson

import (
	"verdict/catalog"
	"verdict/nft/syntax"
)

func (w *writer) table(t *syntax.Table) {
	w.wrap("table")
	w.text("family", t.Family.Text)
	w.text("name", t.Name.Text)
	w.handle(t)
	for _, item := range t.Items {
		if f, ok := item.(*syntax.TableFlags); ok {
			w.words("flags", f.Flags)
		}
	}
	w.comment(t.Items)
	w.unwrap()
}

// comment writes the comment among a block's items, if there is one.
func (w *writer) comment(items []syntax.Item) {
	for _, item := range items {
		if c, ok := item.(*syntax.CommentProperty); ok {
			w.text("comment", c.Text.Text)
		}
	}
}

// words writes a member that is a list of words, if there are any.
func (w *writer) words(name string, words []syntax.Word) {
	if len(words) == 0 {
		return
	}
	w.key(name)
	w.open('[')
	for _, x := range words {
		w.string(x.Text)
	}
	w.close(']')
}

func (w *writer) chain(o owner, c *syntax.Chain) {
	w.wrap("chain")
	w.text("family", o.family)
	w.text("table", o.table)
	w.text("name", c.Name.Text)
	w.handle(c)
	w.comment(c.Items)
	for _, item := range c.Items {
		switch item := item.(type) {
		case *syntax.Hook:
			w.devices(item.Devices)
			w.text("type", item.Type.Text)
			w.text("hook", item.Hook.Text)
			w.priority(o.family, item.Priority)
		case *syntax.Policy:
			w.key("policy")
			w.expr(item.Value)
		case *syntax.ChainFlags:
			w.words("flags", item.Flags)
		}
	}
	w.unwrap()
}

// devices writes one device as a string, several as a list.
func (w *writer) devices(x syntax.Expr) {
	names := deviceNames(x, nil)
	switch len(names) {
	case 0:
	case 1:
		w.key("dev")
		w.string(names[0])
	default:
		w.key("dev")
		w.strings(names)
	}
}

func deviceNames(x syntax.Expr, names []string) []string {
	switch x := x.(type) {
	case *syntax.Literal:
		return append(names, x.Text)
	case *syntax.Element:
		return deviceNames(x.Key, names)
	case *syntax.SetLiteral:
		for _, e := range x.Elements {
			names = deviceNames(e, names)
		}
	case *syntax.List:
		for _, e := range x.Items {
			names = deviceNames(e, names)
		}
	}
	return names
}

func (w *writer) priority(family string, p *syntax.Priority) {
	w.key("prio")
	if p == nil {
		w.integer(0)
		return
	}
	l, _ := p.Base.(*syntax.Literal)
	switch {
	case l == nil:
		w.expr(p.Base)
	case l.Kind == syntax.LitNumber:
		w.integer(int64(l.Value) + int64(p.Offset))
	default:
		f, _ := catalog.FamilyByName(family)
		for _, named := range catalog.Priorities(f) {
			if named.Name == l.Text {
				w.integer(int64(named.Value + p.Offset))
				return
			}
		}
		w.string(l.Text)
	}
}

func (w *writer) flowtable(o owner, f *syntax.Flowtable) {
	w.wrap("flowtable")
	w.text("family", o.family)
	w.text("name", f.Name.Text)
	w.text("table", o.table)
	w.handle(f)
	w.text("hook", f.Hook.Text)
	w.priority("netdev", f.Priority)
	w.devices(f.Devices)
	if f.Counter {
		w.key("counter")
		w.b = append(w.b, "null"...)
	}
	w.words("flags", f.Flags)
	w.unwrap()
}

// rules writes the rules of a chain, each as an object of its own.
func (w *writer) rules(o owner, c *syntax.Chain) {
	for _, item := range c.Items {
		if r, ok := item.(*syntax.Rule); ok {
			w.rule(o, c.Name.Text, r)
		}
	}
}

func (w *writer) rule(o owner, chain string, r *syntax.Rule) {
	w.wrap("rule")
	w.text("family", o.family)
	w.text("table", o.table)
	w.text("chain", chain)
	w.handle(r)
	w.text("comment", r.Comment.Text)
	// The reference leaves out what is empty; a rule with neither statements
	// nor comment needs it to be read again.
	if len(r.Statements) > 0 || !r.Comment.Given() {
		w.key("expr")
		w.open('[')
		for _, s := range r.Statements {
			w.statement(s)
		}
		w.close(']')
	}
	w.unwrap()
}

func (w *writer) elements(o owner, set string, elements *syntax.SetLiteral) {
	w.wrap("element")
	w.text("family", o.family)
	w.text("table", o.table)
	w.text("name", set)
	w.exprMember("elem", elements)
	w.unwrap()
}
