package decompile

import (
	"cmp"
	"slices"
	"strconv"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// Ruleset decompiles all tables, in order of creation. Each item of the file
// is a table command in block form.
func Ruleset(rs *ruleset.Ruleset, o Options) *syntax.File {
	f := &syntax.File{Source: diag.NewSource("", nil)}
	for _, t := range rs.Tables {
		f.Items = append(f.Items, command(t, Table(t, o)))
	}
	return f
}

func command(t *ruleset.Table, body *syntax.Table) *syntax.Command {
	return &syntax.Command{
		Verb: syntax.VerbAdd, Object: syntax.ObjTable, Table: body,
		Target: syntax.Target{Family: body.Family, Table: body.Name},
	}
}

// Table decompiles a table with everything in it: flags and comment, stateful
// objects, sets and maps, flowtables, chains, each in order of creation.
// Anonymous sets and chains appear only in the rules that use them.
func Table(t *ruleset.Table, o Options) *syntax.Table {
	x := tableFrame(t, &o)
	if t.Flags != 0 {
		x.Items = append(x.Items, &syntax.TableFlags{Flags: tableFlags(t.Flags)})
	}
	if t.Comment != "" {
		x.Items = append(x.Items, &syntax.CommentProperty{Text: text(t.Comment)})
	}
	for _, obj := range t.Objects {
		x.Items = append(x.Items, Object(obj, o))
	}
	for _, s := range t.Sets {
		if s.Flags&ruleset.SetAnonymous == 0 {
			x.Items = append(x.Items, Set(s, o))
		}
	}
	for _, ft := range t.Flowtables {
		x.Items = append(x.Items, Flowtable(ft, o))
	}
	for _, c := range t.Chains {
		if !c.Binding {
			x.Items = append(x.Items, Chain(t, c, o))
		}
	}
	return x
}

// tableFrame is a table without its items.
func tableFrame(t *ruleset.Table, o *Options) *syntax.Table {
	x := &syntax.Table{Family: text(t.Family.String()), Name: text(t.Name), HasBlock: true}
	switch {
	case t.Flags&ruleset.TableOwner != 0 && o.Handles:
		x.Trailing = handle(t.Handle) + " progname " + t.Owner
	case t.Flags&ruleset.TableOwner != 0:
		x.Trailing = "progname " + t.Owner
	case o.Handles:
		x.Trailing = handle(t.Handle)
	}
	return x
}

// handle is the text that shows a handle, as a comment behind its item.
func handle(h uint64) string { return "handle " + strconv.FormatUint(h, 10) }

func tableFlags(flags uint32) []syntax.Word {
	var list []syntax.Word
	for _, f := range [...]struct {
		bit  uint32
		name string
	}{{ruleset.TableDormant, "dormant"}, {ruleset.TableOwner, "owner"}, {ruleset.TablePersist, "persist"}} {
		if flags&f.bit != 0 {
			list = append(list, text(f.name))
		}
	}
	return list
}

// Chain decompiles a chain with its rules.
func Chain(t *ruleset.Table, c *ruleset.Chain, o Options) *syntax.Chain {
	x := chainFrame(t, c, &o)
	for _, rl := range c.Rules {
		x.Items = append(x.Items, ruleItem(t, rl, &o, 0))
	}
	return x
}

// ruleItem is a rule as it stands in a chain.
func ruleItem(t *ruleset.Table, rl *ruleset.Rule, o *Options, depth int) *syntax.Rule {
	x := &syntax.Rule{Statements: statementsOf(t, rl, o, depth), Comment: text(rl.Comment)}
	if o.Handles {
		x.Trailing = handle(rl.Handle)
	}
	return x
}

// chainFrame is a chain's declaration without its rules.
func chainFrame(t *ruleset.Table, c *ruleset.Chain, o *Options) *syntax.Chain {
	x := &syntax.Chain{Name: text(c.Name), HasBlock: true, Items: make([]syntax.Item, 0, len(c.Rules)+4)}
	if o.Handles {
		x.Trailing = handle(c.Handle)
	}
	if c.Comment != "" {
		x.Items = append(x.Items, &syntax.CommentProperty{Text: text(c.Comment)})
	}
	if b := c.Base; b != nil {
		x.Items = append(x.Items, hook(t.Family, b, o), &syntax.Policy{Value: word_(b.Policy.String())})
		if b.Offload {
			x.Items = append(x.Items, &syntax.ChainFlags{Flags: []syntax.Word{text("offload")}})
		}
	}
	return x
}

func hook(family catalog.Family, b *ruleset.BaseChain, o *Options) *syntax.Hook {
	name := catalog.HookName(family, b.Hook)
	h := &syntax.Hook{Type: text(b.Type), Hook: text(name), Priority: o.priority(family, name, int(b.Priority))}
	switch len(b.Devices) {
	case 0:
	case 1:
		h.Devices = quoted(b.Devices[0])
	default:
		h.Many, h.Devices = true, devices(b.Devices)
	}
	return h
}

// devices writes a list of devices, sorted by name.
func devices(names []string) *syntax.SetLiteral {
	x := &syntax.SetLiteral{}
	for _, n := range slices.Sorted(slices.Values(names)) {
		x.Elements = append(x.Elements, &syntax.Element{Key: quoted(n)})
	}
	return x
}

// priorityReach is how far a priority may lie from a name that it is shown
// with.
const priorityReach = 10

// priority writes a hook priority: a name within reach, else the number.
// The first name within reach decides, even where it is not legal.
func (o *Options) priority(family catalog.Family, hook string, value int) *syntax.Priority {
	if !o.NumericPriority {
		for _, p := range catalog.Priorities(family) {
			offset := value - p.Value
			if offset < -priorityReach || offset > priorityReach {
				continue
			}
			if catalog.PriorityLegal(family, p.Name, hook) {
				return &syntax.Priority{Base: word_(p.Name), Offset: offset}
			}
			break
		}
	}
	return &syntax.Priority{Base: signed(value)}
}

// signed writes a number that may be negative.
func signed(n int) *syntax.Literal {
	return &syntax.Literal{Kind: syntax.LitNumber, Text: strconv.Itoa(n), Value: uint64(int64(n))}
}

// Flowtable decompiles a flowtable.
func Flowtable(ft *ruleset.Flowtable, o Options) *syntax.Flowtable {
	x := &syntax.Flowtable{
		Name: text(ft.Name), HasBlock: true, Hook: text("ingress"), Counter: ft.Counter,
		Priority: o.priority(catalog.FamilyNetdev, "ingress", int(ft.Priority)),
	}
	if len(ft.Devices) > 0 {
		x.Devices = devices(ft.Devices)
	}
	if ft.Offload {
		x.Flags = []syntax.Word{text("offload")}
	}
	if o.Handles {
		x.Trailing = handle(ft.Handle)
	}
	return x
}

// sortedKeys gives a map's keys in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
