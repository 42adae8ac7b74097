package vm

import (
	"slices"
	"sort"

	"verdict/nft/ruleset"
)

// additions is how a chain differs from what was linked at first: a Program is
// extended by appending, and never changed where others read it.
type additions struct {
	numbers []uint32 // of all rules, in order
	orders  []uint32 // of all rules, ascending
	blocks  []orderedBlock
}

// orderedBlock is the code of a rule that came later.
type orderedBlock struct{ order, at uint32 }

// extraBlock finds the code of a rule that came later.
func (c *Chain) extraBlock(order uint32) uint32 {
	list := c.added.blocks
	i := sort.Search(len(list), func(i int) bool { return list[i].order >= order })
	return list[i].at
}

// linear is where the rules of a chain, from an order on, run one by one. For a
// chain that was extended this machine makes such code when it first needs it.
func (m *Machine) linear(chain, from uint32) uint32 {
	c := &m.prog.Chains[chain]
	if c.added == nil {
		if i := max((from+OrderStep-1)/OrderStep, 1) - 1; i < c.count {
			return m.prog.rules[c.first+i].start
		}
		return c.end
	}
	starts := m.listed[chain]
	if starts == nil {
		starts = m.list(c)
		if m.listed == nil {
			m.listed = map[uint32][]uint32{}
		}
		m.listed[chain] = starts
	}
	i, _ := slices.BinarySearch(c.added.orders, from)
	return starts[i]
}

// list appends the code of all rules of a chain in their order, and returns
// where each begins, and the end.
func (m *Machine) list(c *Chain) []uint32 {
	starts := make([]uint32, 0, len(c.added.numbers)+1)
	for _, n := range c.added.numbers {
		r := &m.prog.rules[n]
		start := len(m.code)
		starts = append(starts, uint32(start))
		m.code = append(m.code, m.prog.code[r.start:r.end]...)
		for j := start; j < len(m.code); j++ {
			m.code[j].next = uint32(len(m.code))
		}
	}
	starts = append(starts, uint32(len(m.code)))
	m.code = append(m.code, m.prog.code[c.end])
	return starts
}

// Extension is a program made from another one by adding and deleting rules.
type Extension struct {
	Program *Program
	Changes []ChainChange
}

// ChainChange is what changed in a selected chain.
type ChainChange struct {
	Chain   int
	Added   []AddedRule
	Deleted []uint32 // orders
}

// AddedRule is a rule that came to a chain.
type AddedRule struct {
	Order  uint32
	Rule   *ruleset.Rule
	number uint32
}

// maxExtension is how many rules an extension may add and delete in a chain.
const maxExtension = 1024

// Extend makes the program of a later snapshot that differs in rules of
// selected chains only. It does not touch what users of p see. ok is false
// where the snapshots differ in more than that, or by too much, or where there
// is no order left between two rules: the snapshot must be linked then. After
// it, call Place for every added rule.
//
// A program is extended once: its successor is extended next.
func (p *Program) Extend(rs *ruleset.Ruleset) (x *Extension, ok bool) {
	if p.extended || len(rs.Tables) != len(p.Rules.Tables) {
		return nil, false
	}
	next := *p
	next.Rules, next.Chains = rs, slices.Clone(p.Chains)
	x = &Extension{Program: &next}
	at := 0
	for i, t := range rs.Tables {
		if old := p.Rules.Tables[i]; t != old && !sameFrame(old, t) {
			return nil, false
		}
		for _, c := range t.Chains {
			next.Chains[at].Table, next.Chains[at].Chain = t, c
			at++
		}
	}
	for i := range next.Chains {
		if old, c := p.Chains[i].Chain, next.Chains[i].Chain; old != c && !x.chain(i, old, c) {
			return nil, false
		}
	}
	if next.NeedsCT != p.NeedsCT || next.NeedsCT6 != p.NeedsCT6 || next.NeedsCTBridge != p.NeedsCTBridge || next.NeedsCTLabels != p.NeedsCTLabels {
		return nil, false
	}
	next.Bases = make([]*Base, len(p.Bases))
	for i, b := range p.Bases {
		n := *b
		n.Table, n.Chain = next.Chains[b.Index].Table, next.Chains[b.Index].Chain
		next.Bases[i] = &n
	}
	p.extended, next.root = true, p.origin()
	return x, true
}

// sameFrame reports whether two states of a table differ at most in rules and
// in sets that nothing old refers to.
func sameFrame(old, t *ruleset.Table) bool {
	if old.Name != t.Name || old.Family != t.Family || old.Flags != t.Flags || len(old.Chains) != len(t.Chains) ||
		len(old.Objects) != len(t.Objects) || len(old.Flowtables) != len(t.Flowtables) {
		return false
	}
	for i, c := range t.Chains {
		o := old.Chains[i]
		if o.Name != c.Name || (o.Base == nil) != (c.Base == nil) || (o.Base != nil && o.Base != c.Base && !sameBase(o.Base, c.Base)) {
			return false
		}
	}
	for i, o := range old.Objects {
		if n := t.Objects[i]; n != o && (n.Name != o.Name || n.Type != o.Type || n.Counter != o.Counter || n.Quota != o.Quota || n.Limit != o.Limit || n.ConnLimit != o.ConnLimit) {
			return false
		}
	}
	for _, o := range old.Sets {
		if n := t.Set(o.Name); n != nil && n != o && n.Elements != o.Elements {
			return false
		}
	}
	return true
}

func sameBase(a, b *ruleset.BaseChain) bool {
	return a.Type == b.Type && a.Hook == b.Hook && a.Priority == b.Priority && a.Policy == b.Policy && slices.Equal(a.Devices, b.Devices)
}

// chain finds what changed in a chain and gives the new rules orders.
func (x *Extension) chain(index int, old, new *ruleset.Chain) bool {
	p, c := x.Program, &x.Program.Chains[index]
	a, b := old.Rules, new.Rules
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	gone, come := len(a)-head-tail, b[head:len(b)-tail]
	if gone == 0 && len(come) == 0 {
		return true
	}
	if c.blocks == nil || gone+len(come) > maxExtension || head < p.headRules(c) {
		return false
	}
	list := c.present()
	change := ChainChange{Chain: index, Deleted: slices.Clone(list.orders[head : head+gone])}
	low, high := int64(0), int64(0)
	if head > 0 {
		low = int64(list.orders[head-1])
	}
	if tail > 0 {
		high = int64(list.orders[head+gone])
	} else {
		high = low + int64(len(come)+1)*OrderStep
	}
	if head == 0 && gone == 0 { // more rules will come to the front
		low = high - max(high/16, min(high, int64(len(come)+1)))
	}
	step := (high - low) / int64(len(come)+1)
	if step < 1 || high >= NoRule {
		return false
	}
	l := &linker{program: p, state: p.state, setIndex: map[*ruleset.Set]uint32{}, chains: chainNumbers(p), forms: AllForms, table: c.Table, chn: c}
	var numbers, orders []uint32
	for i, r := range come {
		l.index = head + i
		if l.rule(r) != nil {
			return false
		}
		number := uint32(len(p.rules) - 1)
		order := uint32(low + step*int64(i+1))
		if _, taken := c.linked(order); taken {
			order++ // those orders mean the first rules
		}
		if int64(order) >= high {
			return false
		}
		numbers, orders = append(numbers, number), append(orders, order)
		change.Added = append(change.Added, AddedRule{Order: order, Rule: r, number: number})
	}
	c.added = &additions{
		numbers: slices.Concat(list.numbers[:head], numbers, list.numbers[head+gone:]),
		orders:  slices.Concat(list.orders[:head], orders, list.orders[head+gone:]),
		blocks:  list.blocks,
	}
	x.Changes = append(x.Changes, change)
	return true
}

// headRules is the number of rules of a selected chain that run first.
func (p *Program) headRules(c *Chain) int {
	n := 0
	for n < len(c.blocks) && c.blocks[n] == 0 {
		n++
	}
	return n
}

// present is the list of rules of a chain.
func (c *Chain) present() *additions {
	if c.added != nil {
		return c.added
	}
	a := &additions{numbers: make([]uint32, c.count), orders: make([]uint32, c.count)}
	for i := range c.count {
		a.numbers[i], a.orders[i] = c.first+i, OrderOf(int(i))
	}
	return a
}

func chainNumbers(p *Program) map[*ruleset.Table]map[string]uint32 {
	m := map[*ruleset.Table]map[string]uint32{}
	for i := range p.Chains {
		c := &p.Chains[i]
		if m[c.Table] == nil {
			m[c.Table] = map[string]uint32{}
		}
		m[c.Table][c.Chain.Name] = uint32(i)
	}
	return m
}

// Place makes the code of an added rule, of which the first skip expressions
// are left out as in Select.
func (x *Extension) Place(chain int, r *AddedRule, skip int) {
	c := &x.Program.Chains[chain]
	at := x.Program.block(uint32(chain), r.number, r.Order, skip)
	i := sort.Search(len(c.added.blocks), func(i int) bool { return c.added.blocks[i].order >= r.Order })
	blocks := slices.Clone(c.added.blocks)
	if i < len(blocks) && blocks[i].order == r.Order { // of a rule that is gone
		blocks[i].at = at
	} else {
		blocks = slices.Insert(blocks, i, orderedBlock{r.Order, at})
	}
	c.added.blocks = blocks
}

// origin is the program that was linked.
func (p *Program) origin() *Program {
	if p.root != nil {
		return p.root
	}
	return p
}

// Extends reports whether a program comes from another one, or both from the
// same, by extensions: numbers of rules mean the same in both.
func (p *Program) Extends(o *Program) bool { return p.origin() == o.origin() }

// Switch goes on with a program that extends the one the machine runs; hit
// counts stay.
func (m *Machine) Switch(p *Program) {
	m.useCounters(p, true)
	m.prog, m.code, m.listed = p, p.code[:len(p.code):len(p.code)], nil
	m.version++
	if n := len(p.rules) - len(m.hits); n > 0 {
		m.hits = append(m.hits, make([]Hits, n)...)
	}
}
