package nftcmd

import (
	"verdict/catalog"
	"verdict/nft/decompile"
	"verdict/nft/expr"
	"verdict/nft/nftjson"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// objectTypes are the kernel's types of stateful objects by the words of
// commands.
var objectTypes = map[syntax.Object]expr.ObjectType{
	syntax.ObjCounter: expr.ObjectCounter, syntax.ObjCounters: expr.ObjectCounter,
	syntax.ObjQuota: expr.ObjectQuota, syntax.ObjQuotas: expr.ObjectQuota,
	syntax.ObjLimit: expr.ObjectLimit, syntax.ObjLimits: expr.ObjectLimit,
	syntax.ObjCTHelper: expr.ObjectCTHelper, syntax.ObjCTHelpers: expr.ObjectCTHelper,
	syntax.ObjCTTimeout: expr.ObjectCTTimeout, syntax.ObjCTTimeouts: expr.ObjectCTTimeout,
	syntax.ObjCTExpectation: expr.ObjectCTExpectation, syntax.ObjCTExpectations: expr.ObjectCTExpectation,
	syntax.ObjSynproxy: expr.ObjectSynproxy, syntax.ObjSynproxys: expr.ObjectSynproxy,
	syntax.ObjSecmark: expr.ObjectSecmark, syntax.ObjSecmarks: expr.ObjectSecmark,
	syntax.ObjTunnel: expr.ObjectTunnel, syntax.ObjTunnels: expr.ObjectTunnel,
}

// extent says how much of a table a listing shows.
type extent uint8

const (
	wholeTable extent = iota // with blank lines between the items
	tableLine                // the name alone
	someItems                // items of one kind, without blank lines
	someRules                // chains with their rules, with blank lines
)

// section is the part of a listing that is about one table.
type section struct {
	extent extent
	table  *syntax.Table
}

// list answers list and reset.
func (v *view) list(c *syntax.Command) {
	if c.Object == syntax.ObjHooks {
		v.listHooks(c)
		return
	}
	v.print(v.sections(c))
}

// sections makes the parts of a listing.
func (v *view) sections(c *syntax.Command) []section {
	var list []section
	for _, t := range v.scope(c) {
		switch c.Object {
		case syntax.ObjRuleset, syntax.ObjTable:
			list = append(list, section{wholeTable, v.whole(t)})
			continue
		case syntax.ObjTables:
			bare := &ruleset.Table{Family: t.Family, Name: t.Name, Handle: t.Handle}
			if v.session.options.json {
				bare.Flags, bare.Comment = t.Flags, t.Comment
			}
			list = append(list, section{tableLine, decompile.Table(bare, v.options)})
			continue
		case syntax.ObjRules, syntax.ObjRule:
			if x := v.rulesOf(t, c); len(x.Items) > 0 {
				list = append(list, section{someRules, x})
			}
			continue
		}
		items, always := v.items(t, c)
		if len(items) > 0 || always {
			list = append(list, section{someItems, v.frame(t, items)})
		}
	}
	return list
}

// scope gives the tables that a command is about.
func (v *view) scope(c *syntax.Command) []*ruleset.Table {
	var list []*ruleset.Table
	for _, t := range v.rules.Tables {
		switch {
		case c.Target.Table.Given() && (t.Name != c.Target.Table.Text || t.Family != family(c)):
		case c.Target.Family.Given() && t.Family != family(c):
		default:
			list = append(list, t)
		}
	}
	return list
}

// frame puts items into their table, without handle.
func (v *view) frame(t *ruleset.Table, items []syntax.Item) *syntax.Table {
	return &syntax.Table{Family: word(t.Family.String()), Name: word(t.Name), HasBlock: true, Dense: true, Items: items}
}

// whole decompiles a table. In text, chains that the kernel does not have yet
// show no policy unless one was written.
func (v *view) whole(t *ruleset.Table) *syntax.Table {
	x := decompile.Table(t, v.options)
	if v.rules == v.base || v.session.options.json {
		return x
	}
	for _, item := range x.Items {
		if c, ok := item.(*syntax.Chain); ok {
			v.dropPolicy(t, c)
		}
	}
	return x
}

// dropPolicy leaves the default policy of a chain out that the batch made.
func (v *view) dropPolicy(t *ruleset.Table, c *syntax.Chain) {
	old := v.base.Table(t.Family, t.Name)
	chain := t.Chain(c.Name.Text)
	if old != nil && old.Chain(c.Name.Text) != nil || chain == nil || chain.Base == nil || chain.Base.Policy != catalog.VerdictAccept {
		return
	}
	for i, item := range c.Items {
		if _, ok := item.(*syntax.Policy); ok {
			c.Items = append(c.Items[:i:i], c.Items[i+1:]...)
			return
		}
	}
}

// items gives what a listing shows of a table, and whether it shows the table
// also without any.
func (v *view) items(t *ruleset.Table, c *syntax.Command) (items []syntax.Item, always bool) {
	o := v.options
	name := c.Target.Name.Text
	switch c.Object {
	case syntax.ObjChains:
		for _, x := range t.Chains {
			if !x.Binding {
				items = append(items, decompile.ChainDeclaration(t, x, o))
			}
		}
		return items, true
	case syntax.ObjChain:
		return []syntax.Item{decompile.Chain(t, t.Chain(name), o)}, true
	case syntax.ObjSets, syntax.ObjMaps, syntax.ObjMeters:
		kind := map[syntax.Object]syntax.Object{
			syntax.ObjSets: syntax.ObjSet, syntax.ObjMaps: syntax.ObjMap, syntax.ObjMeters: syntax.ObjMeter,
		}[c.Object]
		for _, x := range t.Sets {
			if x.Flags&ruleset.SetAnonymous == 0 && isKind(x, kind) {
				items = append(items, decompile.Set(x, o))
			}
		}
		return items, true
	case syntax.ObjSet, syntax.ObjMap, syntax.ObjMeter:
		return []syntax.Item{decompile.Set(t.Set(name), o)}, true
	case syntax.ObjFlowtables:
		for _, x := range t.Flowtables {
			items = append(items, decompile.Flowtable(x, o))
		}
		return items, true
	case syntax.ObjFlowtable:
		return []syntax.Item{decompile.Flowtable(t.Flowtable(name), o)}, true
	}
	for _, x := range t.Objects {
		if x.Type == objectTypes[c.Object] && (name == "" || x.Name == name) {
			items = append(items, decompile.Object(x, o))
		}
	}
	return items, false
}

// rulesOf gives the chains with those of their rules that `reset rules` and
// `reset rule` are about.
func (v *view) rulesOf(t *ruleset.Table, c *syntax.Command) *syntax.Table {
	x := v.frame(t, nil)
	x.Dense = false
	for _, chain := range t.Chains {
		if chain.Binding || c.Target.Name.Given() && chain.Name != c.Target.Name.Text {
			continue
		}
		if c.Target.Handle != nil {
			one := *chain
			one.Rules = nil
			if r := chain.Rule(c.Target.Handle.Value); r != nil {
				one.Rules = []*ruleset.Rule{r}
			}
			chain = &one
		}
		x.Items = append(x.Items, decompile.Chain(t, chain, v.options))
	}
	return x
}

// print writes a listing as text or JSON.
func (v *view) print(list []section) {
	if v.session.options.json {
		v.printJSON(list)
		return
	}
	for _, s := range list {
		if s.extent == tableLine {
			writeString(&v.out, "table "+s.table.Family.Text+" "+s.table.Name.Text)
			if s.table.Trailing != "" {
				writeString(&v.out, " # "+s.table.Trailing)
			}
			writeString(&v.out, "\n")
			continue
		}
		_ = syntax.PrintTable(&v.out, s.table) // into a buffer
	}
}

// printJSON writes a listing as a JSON document.
func (v *view) printJSON(list []section) {
	d := nftjson.NewDocument(nil, nftjson.Reference)
	for _, s := range list {
		family, name := s.table.Family.Text, s.table.Name.Text
		switch s.extent {
		case wholeTable:
			d.Table(s.table)
		case tableLine:
			d.TableOnly(s.table)
		case someItems, someRules:
			for _, item := range s.table.Items {
				switch c, ok := item.(*syntax.Chain); {
				case ok && s.extent == someRules:
					d.Rules(family, name, c)
				case ok:
					d.Chain(family, name, c)
				default:
					d.Item(family, name, item)
				}
			}
		}
	}
	v.out.Write(d.Bytes())
}

// export answers export ruleset: JSON is the only format that is left.
func (v *view) export(c *syntax.Command) {
	if c.Format.Given() && c.Format.Text != "json" && c.Format.Text != "vm" {
		v.found.Errorf(c.Format.Span, "nft/format", "this output type is not supported, use 'export ruleset json' or 'list ruleset'")
		return
	}
	text := *c
	text.Object = syntax.ObjRuleset
	v.options = v.options.JSON()
	v.printJSON(v.sections(&text))
}
