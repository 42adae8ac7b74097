package chain

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"verdict/classify"
	"verdict/engine/vm"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// Mode says which chains are compiled.
type Mode uint8

// The modes.
const (
	// Auto compiles the chains for which it pays.
	Auto Mode = iota
	// VM compiles none: all rules run one by one.
	VM
	// Classify compiles every chain that has a rule.
	Classify
)

// Plan is a compiled program: what became of each of its chains. It is safe for
// concurrent use.
type Plan struct {
	Chains []Report // by number, as in the program
	chains []*chain // nil for those that are not compiled
}

// Report tells how a chain was compiled, and why not.
type Report struct {
	Compiled bool
	Why      string // not compiled
	Rules    int
	// Head is the number of rules at the beginning that run one by one, since
	// most packets end there or that is quicker.
	Head   int
	Fields []FieldReport
	Stats  classify.Stats
	// Kept are the rules of which something stays as a check on candidates.
	Kept []KeptRule
}

// FieldReport is a field of a chain's table.
type FieldReport struct {
	Name  string
	Rules int // comparisons of it
}

// KeptRule is a rule that a table does not describe wholly.
type KeptRule struct {
	Rule int  // position in the chain
	Open bool // nothing of it is in the table: every packet tries it
	What []string
}

// chain is a compiled chain.
type chain struct {
	index  int
	head   int
	fields []field
	layout *classify.Layout
	reach  reach
	rules  []indexed
	count  int

	tables atomic.Pointer[[]variant]
	mutex  sync.Mutex
}

// indexed is what a table holds of a rule.
type indexed struct {
	order   uint32
	entries []classify.Rule // alternatives
	needs   uint64          // fields, as bits
}

// variant is the table for packets that lack some fields. A chain made from
// another one by changing rules shares the live table, but not the view.
type variant struct {
	absent uint64
	live   *classify.Live
	view   *classify.View
}

// now is the view as it is stored best at present.
func (v *variant) now() *classify.View {
	if present := v.live.View(); present.Changes() == v.view.Changes() {
		return present
	}
	return v.view
}

// maxVariants bounds how many sets of absent fields get a table; the rest runs
// rule by rule.
const maxVariants = 12

// maxEntries is how many alternatives of a rule a table takes.
const maxEntries = 64

// Compile compiles the chains of a program, which no machine may use yet. Cost:
// building the tables, see package classify.
func Compile(p *vm.Program, mode Mode) *Plan {
	plan := &Plan{Chains: make([]Report, len(p.Chains)), chains: make([]*chain, len(p.Chains))}
	for i := range p.Chains {
		plan.chains[i] = compile(p, i, mode, &plan.Chains[i])
	}
	return plan
}

const (
	// autoHead is how many rules at most run one by one before the table is
	// asked.
	autoHead = 4
	// fewRules is up to how many rules are quicker one by one.
	fewRules = 24
)

func compile(p *vm.Program, index int, mode Mode, report *Report) *chain {
	source := &p.Chains[index]
	c := &chain{index: index, count: source.RuleCount()}
	report.Rules = c.count
	switch {
	case c.count == 0:
		report.Why = "it has no rules"
		return nil
	case mode == VM:
		report.Why = "asked for"
		return nil
	case mode == Auto && c.count <= fewRules:
		report.Why = "few rules are quicker one by one"
		return nil
	}
	table := source.Table
	place := placeOf(table)
	forms := make([]*form, c.count)
	for i, r := range source.Chain.Rules {
		forms[i] = analyse(table, r, place)
		c.reach.add(forms[i])
	}
	if mode == Auto {
		c.head = headOf(forms)
	}
	full, err := c.choose(p, table, forms)
	if err != nil {
		report.Why = err.Error()
		return nil
	}
	open := 0
	for i := c.head; i < c.count; i++ {
		if c.rules[i].needs == 0 {
			open++
		}
	}
	if mode == Auto && fewRules+8*open > c.count {
		report.Why = "too few rules can be told apart by fields"
		if open <= c.count/2 {
			report.Why = "few rules are quicker one by one"
		}
		return nil
	}
	skips := make([]int, c.count)
	for i, f := range forms {
		skips[i] = f.skip(func(m *match) bool { return !m.dropped }, place)
	}
	c.tables.Store(&[]variant{full})
	p.Select(index, c.head, func(i int) int { return skips[i] })
	c.report(report, forms, full.view)
	return c
}

// headOf is how many rules at the beginning most packets are likely to end in:
// rules about connections, interfaces and everything.
func headOf(forms []*form) int {
	n := 0
	for n < min(autoHead, len(forms)) && forms[n].common() {
		n++
	}
	return n
}

// placeOf describes a table to expressions that ask for registers.
func placeOf(t *ruleset.Table) *expr.Place {
	return &expr.Place{Family: uint8(t.Family), SetByName: func(name string, _ uint32) *expr.SetInfo {
		s := t.Set(name)
		if s == nil {
			return nil
		}
		return &expr.SetInfo{Flags: s.Flags, KeyLen: s.KeyLen, DataLen: s.DataLen, VerdictData: s.DataType == ruleset.TypeVerdict, Exprs: s.Exprs}
	}}
}

// choose chooses the fields, turns the forms into table entries, and builds the
// table for packets that have all fields.
func (c *chain) choose(p *vm.Program, t *ruleset.Table, forms []*form) (full variant, err error) {
	if c.fields, err = fieldsOf(p, t, forms[c.head:]); err != nil {
		return full, err
	}
	if len(c.fields) == 0 {
		return full, errors.New("no rule compares a field")
	}
	if c.layout, err = layoutOf(c.fields); err != nil {
		return full, err
	}
	places := map[source]int{}
	for _, simple := range []bool{false, true} {
		c.rules = make([]indexed, c.count)
		for i, f := range forms {
			c.rules[i] = c.entries(vm.OrderOf(i), f, places, simple)
		}
		if full, err = c.build(0); err == nil {
			break
		}
	}
	return full, err
}

// entries turns a rule's matches into alternatives of table entries. simple
// leaves out masks that need a column of their own.
func (c *chain) entries(order uint32, f *form, places map[source]int, simple bool) indexed {
	out := indexed{order: order, entries: []classify.Rule{{Order: order}}}
	rows := 1
	for i := range f.matches {
		m := &f.matches[i]
		m.dropped = true
		alternatives, needs, ok := c.alternatives(m, places, simple)
		if !ok || len(out.entries)*len(alternatives) > maxEntries {
			continue
		}
		parts := 0
		for _, a := range alternatives {
			n, err := c.layout.Parts(&classify.Rule{Match: a})
			if err != nil {
				parts = classify.MaxAlternatives
				break
			}
			parts += n
		}
		if parts*rows > maxEntries {
			continue
		}
		next := make([]classify.Rule, 0, len(out.entries)*len(alternatives))
		for _, e := range out.entries {
			for _, a := range alternatives {
				next = append(next, classify.Rule{Order: order, Match: slices.Concat(e.Match, a)})
			}
		}
		m.dropped = false
		rows = max(rows*parts, 1)
		out.entries = next
		out.needs |= needs
	}
	return out
}

// alternatives are the constraints of a match, by conjunction.
func (c *chain) alternatives(m *match, places map[source]int, simple bool) (list [][]classify.Constraint, needs uint64, ok bool) {
	for _, all := range m.any {
		var one []classify.Constraint
		for i := range all {
			a := &all[i]
			at, known := places[a.source]
			if !known {
				at = slices.IndexFunc(c.fields, func(f field) bool { return f.holds(a.source) })
				places[a.source] = at
			}
			if at < 0 || (simple && !leading(a.mask)) {
				return nil, 0, false
			}
			needs |= 1 << at
			one = append(one, a.constraint(at, c.fields[at].source))
		}
		list = append(list, one)
	}
	return list, needs, true
}

// leading reports whether a mask is a prefix.
func leading(mask []byte) bool {
	done := false
	for _, b := range mask {
		if done && b != 0 || (^b&(^b+1)) != 0 {
			return false
		}
		done = done || b != 0xff
	}
	return true
}

// build makes the table for packets that lack some fields.
func (c *chain) build(absent uint64) (variant, error) {
	var rules []classify.Rule
	for i := c.head; i < len(c.rules); i++ {
		if r := &c.rules[i]; r.needs&absent == 0 {
			rules = append(rules, r.entries...)
		}
	}
	live, err := classify.NewLive(c.layout, rules, classify.Options{})
	if err != nil {
		return variant{}, err
	}
	return variant{absent, live, live.View()}, nil
}

// table finds or makes the table for packets that lack some fields; nil if
// there are too many.
func (c *chain) table(absent uint64) *classify.View {
	find := func() *variant {
		list := *c.tables.Load()
		for i := range list {
			if list[i].absent == absent {
				return &list[i]
			}
		}
		return nil
	}
	if v := find(); v != nil {
		return v.now()
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if v := find(); v != nil {
		return v.now()
	}
	list := *c.tables.Load()
	if len(list) >= maxVariants {
		return nil
	}
	v, err := c.build(absent)
	if err != nil {
		return nil
	}
	list = append(slices.Clone(list), v)
	c.tables.Store(&list)
	return v.view
}

// report fills in what explain shows.
func (c *chain) report(r *Report, forms []*form, full *classify.View) {
	r.Compiled, r.Head = true, c.head
	r.Stats, _, _ = full.Stats()
	for _, f := range c.fields {
		r.Fields = append(r.Fields, FieldReport{f.name(), f.rules})
	}
	for i, f := range forms[c.head:] {
		what := slices.Clone(f.kept)
		for j := range f.matches {
			if m := &f.matches[j]; m.dropped {
				what = append(what, "too many alternatives or fields")
			}
		}
		open := c.rules[c.head+i].needs == 0
		if len(what) > 0 || open {
			r.Kept = append(r.Kept, KeptRule{Rule: c.head + i, Open: open, What: what})
		}
	}
}

var modeNames = []string{"auto", "vm", "classify"}

// String is the mode's name on command lines.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "invalid"
}

// Modes lists the names that ParseMode takes.
func Modes() []string { return slices.Clone(modeNames) }

// ParseMode finds a mode by its name.
func ParseMode(name string) (Mode, bool) {
	i := slices.Index(modeNames, name)
	return Mode(max(i, 0)), i >= 0
}
