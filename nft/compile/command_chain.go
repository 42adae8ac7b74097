package compile

import (
	"iter"
	"slices"
	"strconv"

	"verdict/catalog"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// chainDeclaration declares a chain and returns what compiles its rules, to be
// called when everything that they may refer to is declared; nil where there
// are none.
func (c *compiler) chainDeclaration(chain *syntax.Chain, t target, op ruleset.Op) func() {
	ch := t.change(op, ruleset.KindChain)
	leave := c.enter()
	defer leave()
	p := c.chainParts(chain, t)
	if p == nil {
		return nil
	}
	ch.ChainDef = p.def
	c.add(ch)
	info := c.orNew(t.family, t.table)
	known := info.chainFor(t.name)
	if known == nil || p.def.Base != nil {
		info.chains[t.name] = &chainInfo{name: t.name, base: p.def.Base}
	}
	if len(p.rules) == 0 {
		return nil
	}
	return func() {
		for _, r := range p.rules {
			c.within(r.scope, func() {
				rt := t
				rt.place = r.rule.Span
				change := rt.change(ruleset.OpAdd, ruleset.KindRule)
				c.compileInto(info, r.rule, change, &ruleset.RuleDef{})
			})
		}
	}
}

// chainDefinition reads a chain's block for its properties alone.
func (c *compiler) chainDefinition(chain *syntax.Chain, t target) *ruleset.ChainDef {
	defer c.enter()()
	p := c.chainParts(chain, t)
	if p == nil {
		return nil
	}
	return p.def
}

// chainParts is a chain's block, read.
type chainParts struct {
	def     *ruleset.ChainDef
	rules   []scopedRule
	devices []string
	offload bool
	policy  catalog.VerdictKind
}

type scopedRule struct {
	rule  *syntax.Rule
	scope *scope
}

func (c *compiler) chainParts(chain *syntax.Chain, t target) *chainParts {
	p := &chainParts{def: &ruleset.ChainDef{}, policy: catalog.VerdictAccept}
	ok := c.chainItems(chain.Items, t, p)
	if !ok {
		return nil
	}
	base := p.def.Base
	if base == nil && (p.def.HasPolicy || len(p.devices) > 0 || p.offload) {
		base = c.existingBase(t)
		if base == nil {
			base = &ruleset.BaseChain{}
		} else {
			b := *base
			b.Devices = nil
			base = &b
		}
		p.def.Base = base
	}
	if base != nil {
		if p.def.HasPolicy {
			base.Policy = p.policy
		} else if base.Policy == 0 && p.policy == catalog.VerdictAccept {
			base.Policy = catalog.VerdictAccept
		}
		base.Devices = append(base.Devices, p.devices...)
		base.Offload = base.Offload || p.offload
		slices.Sort(base.Devices)
	}
	return p
}

// existingBase is the base chain that a declaration without a hook changes.
func (c *compiler) existingBase(t target) *ruleset.BaseChain {
	info := c.tableFor(t.family, t.table)
	if info == nil {
		return nil
	}
	ch := info.chainFor(t.name)
	if ch == nil {
		return nil
	}
	return ch.base
}

func (c *compiler) chainItems(items []syntax.Item, t target, p *chainParts) bool {
	ok := true
	for _, it := range items {
		if c.scopeItem(it, func(included []syntax.Item) { ok = c.chainItems(included, t, p) && ok }) {
			continue
		}
		switch it := it.(type) {
		case *syntax.Hook:
			b := c.hook(it, t)
			if b == nil {
				ok = false
				continue
			}
			p.def.Base = b
		case *syntax.Policy:
			kind, good := c.policy(it)
			ok = ok && good
			p.policy, p.def.HasPolicy = kind, true
		case *syntax.ChainFlags:
			for _, w := range it.Flags {
				if w.Text != "offload" {
					c.unknownWord(w, "chain flag", "offload")
					ok = false
				}
				p.offload = true
			}
		case *syntax.CommentProperty:
			p.def.Comment = c.comment(it.Text)
		case *syntax.DevicesProperty:
			devices, good := c.devices(it.Devices)
			ok = ok && good
			p.devices = append(p.devices, devices...)
		case *syntax.Rule:
			p.rules = append(p.rules, scopedRule{it, c.scope.freeze()})
		}
	}
	return ok
}

// hook reads type, hook, devices and priority of a base chain.
func (c *compiler) hook(h *syntax.Hook, t target) *ruleset.BaseChain {
	b := &ruleset.BaseChain{Type: h.Type.Text}
	ok := true
	if !slices.Contains(catalog.ChainTypes, h.Type.Text) {
		d := c.diags.Errorf(h.Type.Span, "compile/chain-type", "unknown chain type")
		d.Expected = catalog.ChainTypes
		suggest(d, h.Type.Text, catalog.ChainTypes)
		ok = false
	}
	num, known := catalog.HookByName(t.family, h.Hook.Text)
	if !known {
		d := c.diags.Errorf(h.Hook.Span, "compile/hook", "unknown chain hook")
		if hookSomewhere(h.Hook.Text) {
			d.Message = "The " + t.family.String() + " family does not support this hook"
		}
		d.Expected = catalog.HookNames(t.family)
		suggest(d, h.Hook.Text, d.Expected)
		ok = false
	}
	b.Hook = num
	if h.Devices != nil {
		devices, good := c.devices(h.Devices)
		b.Devices, ok = devices, ok && good
	}
	if h.Priority == nil {
		c.diags.Errorf(h.Span, "compile/priority", "a base chain needs a priority")
		return nil
	}
	prio, good := c.priority(h.Priority, t.family, h.Hook.Text, false)
	b.Priority = prio
	if !ok || !good {
		return nil
	}
	return b
}

// hookSomewhere reports whether some family has a hook of the name.
func hookSomewhere(name string) bool {
	for _, f := range catalog.Families {
		if _, ok := catalog.HookByName(f, name); ok {
			return true
		}
	}
	return false
}

// priority evaluates a chain's or flowtable's priority.
func (c *compiler) priority(p *syntax.Priority, family catalog.Family, hook string, flowtable bool) (int32, bool) {
	l, ok := c.expand(p.Base).(*syntax.Literal)
	if !ok {
		if c.peek(p.Base) == p.Base || c.expand(p.Base) != nil {
			c.diags.Errorf(p.Span, "compile/priority", "invalid priority expression %s in this context.", kindOfSyntax(c.peek(p.Base)))
		}
		return 0, false
	}
	base, known := parsePriority(l.Text)
	if !known {
		name, offset := splitPriority(l.Text)
		for _, n := range catalog.Priorities(family) {
			if n.Name == name && catalog.PriorityLegal(family, name, hook) {
				base, known = int64(n.Value)+offset, true
			}
		}
	}
	if !known {
		d := c.diags.Errorf(p.Span, "compile/priority", "invalid priority expression value in this context.")
		if flowtable {
			d.Message = "invalid priority expression value."
		}
		var names []string
		for _, n := range catalog.Priorities(family) {
			if catalog.PriorityLegal(family, n.Name, hook) {
				names = append(names, n.Name)
			}
		}
		d.Expected = names
		suggest(d, l.Text, names)
		return 0, false
	}
	v := base + int64(p.Offset)
	if v < -1<<31 || v > 1<<31-1 {
		c.diags.Errorf(p.Span, "compile/priority", "priority %d is out of range", v)
		return 0, false
	}
	return int32(v), true
}

// kindOfSyntax names the kind of an expression in messages.
func kindOfSyntax(e syntax.Expr) string {
	switch e.(type) {
	case *syntax.SetLiteral:
		return "set"
	case *syntax.List:
		return "list"
	case *syntax.Range:
		return "range"
	case *syntax.Prefix:
		return "prefix"
	case *syntax.Concat:
		return "concat"
	}
	return "value"
}

func parsePriority(text string) (int64, bool) {
	v, err := strconv.ParseInt(text, 10, 32)
	return v, err == nil
}

// splitPriority reads NAME+N and NAME-N, as quoted in a variable.
func splitPriority(text string) (name string, offset int64) {
	for i := 1; i < len(text); i++ {
		if text[i] != '+' && text[i] != '-' {
			continue
		}
		end := i
		for end > 0 && text[end-1] == ' ' {
			end--
		}
		rest := text[i+1:]
		for len(rest) > 0 && rest[0] == ' ' {
			rest = rest[1:]
		}
		if v, err := strconv.ParseInt(rest, 10, 32); err == nil {
			if text[i] == '-' {
				v = -v
			}
			return text[:end], v
		}
	}
	return text, 0
}

func (c *compiler) policy(p *syntax.Policy) (catalog.VerdictKind, bool) {
	switch x := c.expand(p.Value).(type) {
	case *syntax.VerdictExpr:
		if x.Kind == catalog.VerdictAccept || x.Kind == catalog.VerdictDrop {
			return x.Kind, true
		}
	case *syntax.Literal:
		switch x.Text {
		case "accept":
			return catalog.VerdictAccept, true
		case "drop":
			return catalog.VerdictDrop, true
		}
	case nil:
		return 0, false
	}
	c.diags.Errorf(p.Value.Place(), "compile/policy", "invalid policy expression").Expected = []string{"accept", "drop"}
	return 0, false
}

// maxInterfaceName is the longest name of an interface.
const maxInterfaceName = 15

// devices evaluates a list of interface names.
func (c *compiler) devices(e syntax.Expr) ([]string, bool) {
	switch x := c.expand(e).(type) {
	case nil:
		return nil, false
	case *syntax.Literal:
		if len(x.Text) > maxInterfaceName {
			c.diags.Errorf(x.Span, "compile/string", "String exceeds maximum length of %d", maxInterfaceName+1)
			return nil, false
		}
		return []string{x.Text}, true
	case *syntax.List:
		return c.deviceList(slices.Values(x.Items))
	case *syntax.SetLiteral:
		return c.deviceList(x.All())
	case *syntax.Element:
		return c.devices(x.Key)
	}
	c.diags.Errorf(e.Place(), "compile/devices", "names of devices are needed here")
	return nil, false
}

func (c *compiler) deviceList(items iter.Seq[syntax.Expr]) (names []string, ok bool) {
	ok = true
	for x := range items {
		more, good := c.devices(x)
		names, ok = append(names, more...), ok && good
	}
	return names, ok
}

func (c *compiler) renameChain(t target, name string) {
	info := c.tableFor(t.family, t.table)
	if info == nil {
		return
	}
	if ch := info.chainFor(t.name); ch != nil {
		info.chains[name] = &chainInfo{name: name, base: ch.base}
		info.chains[t.name] = nil
	}
}

// flowtableDeclaration declares a flowtable.
func (c *compiler) flowtableDeclaration(f *syntax.Flowtable, t target, op ruleset.Op) {
	ch := t.change(op, ruleset.KindFlowtable)
	if ch.Flowtable = c.flowtable(f); ch.Flowtable == nil {
		return
	}
	c.add(ch)
	c.orNew(t.family, t.table).flows[t.name] = true
}

func (c *compiler) flowtable(f *syntax.Flowtable) *ruleset.Flowtable {
	out := &ruleset.Flowtable{Name: f.Name.Text, Counter: f.Counter, Unhooked: !f.Hook.Given()}
	ok := true
	if f.Hook.Given() && f.Hook.Text != "ingress" {
		c.diags.Errorf(f.Hook.Span, "compile/hook", "unknown chain hook").Expected = []string{"ingress"}
		ok = false
	}
	if f.Priority != nil {
		var good bool
		out.Priority, good = c.priority(f.Priority, catalog.FamilyNetdev, "ingress", true)
		ok = ok && good
	}
	if f.Devices != nil {
		var good bool
		out.Devices, good = c.devices(f.Devices)
		ok = ok && good
		slices.Sort(out.Devices)
	}
	for _, w := range f.Flags {
		if w.Text != "offload" {
			c.unknownWord(w, "flowtable flag", "offload")
			ok = false
		}
		out.Offload = true
	}
	if !ok {
		return nil
	}
	return out
}
