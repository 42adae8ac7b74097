package compile

import (
	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

var tableFlags = map[string]uint32{
	"dormant": ruleset.TableDormant, "owner": ruleset.TableOwner, "persist": ruleset.TablePersist,
}

// tableCommand compiles a table with its block. As nft does, all chains come
// first, then objects, sets with their elements, flowtables, and the rules
// last, so that the order of declarations does not matter.
func (c *compiler) tableCommand(tab *syntax.Table, t target, op ruleset.Op) {
	def := &ruleset.TableDef{}
	ch := t.change(op, ruleset.KindTable)
	ch.Name, ch.NamePlace = "", ch.TablePlace
	ch.TableDef = def
	at := len(c.changes)
	c.add(ch)
	c.orNew(t.family, t.table)
	if !tab.HasBlock {
		return
	}
	leave := c.enter()
	defer leave()
	var late laterParts
	c.tableItems(tab.Items, t, def, &late)
	c.changes[at].TableDef = def
	late.run()
}

// laterParts are the parts of a table's block in the order in which they are
// compiled.
type laterParts struct {
	chains, objects, sets, flows, rules []func()
}

func (l *laterParts) run() {
	for _, list := range []*[]func(){&l.chains, &l.objects, &l.sets, &l.flows, &l.rules} {
		for _, f := range *list {
			f()
		}
	}
}

// tableItems sorts the items of a table's block. What each means is fixed
// with the symbols that are defined where it stands.
func (c *compiler) tableItems(items []syntax.Item, t target, def *ruleset.TableDef, late *laterParts) {
	for _, it := range items {
		if c.scopeItem(it, func(included []syntax.Item) { c.tableItems(included, t, def, late) }) {
			continue
		}
		switch it := it.(type) {
		case *syntax.TableFlags:
			for _, w := range it.Flags {
				flag, ok := tableFlags[w.Text]
				if !ok {
					c.unknownWord(w, "table flag", "dormant", "owner", "persist")
				}
				def.Flags |= flag
			}
		case *syntax.CommentProperty:
			def.Comment = c.comment(it.Text)
		case *syntax.Chain:
			s := c.scope.freeze()
			late.chains = append(late.chains, func() {
				c.within(s, func() {
					rules := c.chainDeclaration(it, t.child(it.Name, it.Span), ruleset.OpAdd)
					if rules != nil {
						late.rules = append(late.rules, rules)
					}
				})
			})
		case *syntax.Set:
			s := c.scope.freeze()
			late.sets = append(late.sets, func() {
				c.within(s, func() { c.setDeclaration(it, t.child(it.Name, it.Name.Span), ruleset.OpAdd) })
			})
		case *syntax.StatefulObj:
			s := c.scope.freeze()
			late.objects = append(late.objects, func() {
				c.within(s, func() { c.objectDeclaration(it, t.child(it.Name, it.Span), ruleset.OpAdd) })
			})
		case *syntax.Flowtable:
			s := c.scope.freeze()
			late.flows = append(late.flows, func() {
				c.within(s, func() { c.flowtableDeclaration(it, t.child(it.Name, it.Span), ruleset.OpAdd) })
			})
		}
	}
}

func (c *compiler) unknownWord(w syntax.Word, what string, valid ...string) {
	d := c.diags.Errorf(w.Span, "compile/unknown-word", "unknown %s '%s'", what, w.Text)
	d.Expected = valid
	if near := diag.Nearest(w.Text, valid); near != "" {
		d.Hint = "did you mean '" + near + "'?"
	}
}
