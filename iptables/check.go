package iptables

import (
	"slices"
	"strings"

	"verdict/catalog"
	"verdict/diag"
)

// Check makes the checks of the kernel, and those that iptables makes of a
// whole table: chains exist and do not loop, extensions stand in tables and
// chains where they may, and with the protocols that they need.
// Ref: x_tables.c, xt_check_match; ip_tables.c, mark_source_chains.
func Check(f *File) *diag.List {
	var found diag.List
	for _, t := range f.Tables {
		c := &checker{table: t, found: &found, reached: map[*Chain]uint8{}}
		c.check()
	}
	return &found
}

// checker checks one table.
type checker struct {
	table   *Table
	found   *diag.List
	reached map[*Chain]uint8 // hooks from which a chain is reached, as bits
	path    []*Chain
	looped  bool
}

func (c *checker) check() {
	for _, chain := range c.table.Chains {
		for _, r := range chain.Rules {
			c.jump(r)
		}
	}
	for _, chain := range c.table.Chains {
		if chain.BuiltIn() {
			c.reach(chain, 1<<chain.Hook)
		}
	}
	for _, chain := range c.table.Chains {
		for _, r := range chain.Rules {
			c.rule(chain, r)
		}
	}
}

// jumpChain is the chain that a rule jumps or goes to, "" for none.
func jumpChain(r *Rule) (name string, isGoto bool) {
	switch x := r.Target.(type) {
	case *jumpTarget:
		return x.chain, false
	case *gotoTarget:
		return x.chain, true
	}
	return "", false
}

func (c *checker) errorf(r *Rule, code diag.Code, word, format string, args ...any) *diag.Diagnostic {
	span := r.Place
	for _, w := range r.words {
		if w.text == word {
			span = w.span
		}
	}
	return c.found.Errorf(span, code, format, args...)
}

func (c *checker) jump(r *Rule) {
	name, isGoto := jumpChain(r)
	if name == "" {
		return
	}
	to := c.table.Chain(name)
	_, builtIn := kindOf(c.table.Name).builtIn(name)
	switch {
	case builtIn:
		c.errorf(r, "iptables/jump", name, "%s is a built-in chain, to which no rule can go", name)
	case to == nil && isGoto:
		c.errorf(r, "iptables/jump", name, "there is no chain %s", diag.Printable(name))
	case to == nil:
		known := append(Targets(c.table.Family), "ACCEPT", "DROP", "RETURN")
		for _, chain := range c.table.Chains {
			known = append(known, chain.Name)
		}
		d := c.errorf(r, "iptables/target", name, "there is no target or chain %s", diag.Printable(name))
		if near := diag.Nearest(name, known); near != "" {
			d.Hint = "did you mean " + near + "?"
		}
	}
}

// reach notes the hooks that reach a chain, and finds loops.
func (c *checker) reach(chain *Chain, hooks uint8) {
	if slices.Contains(c.path, chain) {
		if !c.looped {
			c.looped = true
			c.found.Errorf(chain.Place, "iptables/loop", "the jumps of chain %s lead back to it", diag.Printable(chain.Name))
		}
		return
	}
	if c.reached[chain]&hooks == hooks {
		return
	}
	c.reached[chain] |= hooks
	c.path = append(c.path, chain)
	for _, r := range chain.Rules {
		if name, _ := jumpChain(r); name != "" {
			if to := c.table.Chain(name); to != nil && !to.BuiltIn() {
				c.reach(to, hooks)
			}
		}
	}
	c.path = c.path[:len(c.path)-1]
}

// rule checks where the extensions of a rule stand.
func (c *checker) rule(chain *Chain, r *Rule) {
	for _, m := range r.Matches {
		if e := matchByName(m.Name(), c.table.Family); e != nil {
			c.extension(chain, r, e, "match")
		}
	}
	if r.Target != nil {
		if e := targetByName(r.Target.Name(), c.table.Family); e != nil && e.target != nil {
			c.extension(chain, r, e, "target")
		}
	}
	c.special(chain, r)
}

func (c *checker) extension(chain *Chain, r *Rule, e *extension, what string) {
	switch {
	case len(e.tables) > 0 && !slices.Contains(e.tables, c.table.Name):
		c.errorf(r, "iptables/place", e.name, "the %s %s belongs into the table %s", what, e.name, strings.Join(e.tables, " or "))
	case e.hooks != 0 && c.reached[chain]&^e.hooks != 0:
		c.errorf(r, "iptables/place", e.name, "the %s %s cannot be used in %s", what, e.name, chainsOf(c.reached[chain]&^e.hooks))
	case len(e.protocol) > 0 && (r.Header.NotProtocol || !slices.Contains(e.protocol, r.Header.Protocol)):
		var names []string
		for _, p := range e.protocol {
			names = append(names, protocolName(p))
		}
		c.errorf(r, "iptables/protocol", e.name, "the %s %s needs -p %s", what, e.name, strings.Join(names, " or "))
	}
}

// special holds checks that depend on options.
func (c *checker) special(chain *Chain, r *Rule) {
	hooks := c.reached[chain]
	for _, m := range r.Matches {
		switch x := m.(type) {
		case *addrtypeMatch:
			switch {
			case x.in && hooks&(atOutput|atPostrouting) != 0:
				c.errorf(r, "iptables/place", "--limit-iface-in", "packets in %s have no incoming interface", chainsOf(hooks&(atOutput|atPostrouting)))
			case x.out && hooks&(atPrerouting|atInput) != 0:
				c.errorf(r, "iptables/place", "--limit-iface-out", "packets in %s have no outgoing interface", chainsOf(hooks&(atPrerouting|atInput)))
			}
		case *devgroupMatch:
			if x.hasDest && hooks&(atPrerouting|atInput) != 0 {
				c.errorf(r, "iptables/place", "--dst-group", "packets in %s have no outgoing interface", chainsOf(hooks&(atPrerouting|atInput)))
			}
		}
	}
	if x, ok := r.Target.(*tcpmssTarget); ok && x.clamp && hooks&(atPrerouting|atInput) != 0 {
		c.errorf(r, "iptables/place", "--clamp-mss-to-pmtu", "it can be used in FORWARD, OUTPUT and POSTROUTING")
	}
}

// chainsOf names the built-in chains of hooks.
func chainsOf(hooks uint8) string {
	var names []string
	for h := range catalog.HookNum(5) {
		if hooks>>h&1 == 1 {
			names = append(names, strings.ToUpper(catalog.HookName(catalog.FamilyIP, h)))
		}
	}
	return strings.Join(names, ", ")
}
