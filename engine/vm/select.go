package vm

import (
	"encoding/binary"
	"math/bits"

	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/packet"
)

// Selector chooses which rules of a chain a packet can match, so that the
// others need not run. Package chain makes them.
type Selector interface {
	// Next returns the order of the first rule, from an order on, that the
	// machine's packet can match: NoRule if there is none, ByRule if that
	// cannot be told. Rules before the returned one must not match, nor have
	// any effect.
	Next(m *Machine, from uint32) uint32
}

// What a Selector returns instead of an order.
const (
	// NoRule: no rule is left that can match.
	NoRule = 1<<31 - 1
	// ByRule: the rules must run one by one.
	ByRule = 1 << 31
)

// OrderStep is the distance between the orders of neighbouring rules when a
// chain is selected for the first time: there is room for rules to come.
const OrderStep = 2048

// OrderOf is the order of the i-th rule of a chain that is selected for the
// first time.
func OrderOf(i int) uint32 { return uint32(i+1) * OrderStep }

// Select prepares a chain for a Selector: its first head rules run one by one,
// after them only those that the machine's selector chooses. Of these, the
// first skip(i) expressions of rule i are left out: they must hold for every
// packet for which the rule is chosen, and store nothing that later ones read.
// The order of rule i is OrderOf(i). It must be called before a machine
// uses the program. Traced packets take all rules one by one.
func (p *Program) Select(chain, head int, skip func(rule int) int) {
	c := &p.Chains[chain]
	head = min(head, int(c.count))
	c.entry = uint32(len(p.code))
	for i := range head {
		r := &p.rules[c.first+uint32(i)]
		p.copyRule(r, 0)
	}
	p.code = append(p.code, inst{op: opSelect, ref: uint32(chain), off: OrderOf(head-1) + 1})
	c.blocks = make([]uint32, c.count)
	for i := head; i < int(c.count); i++ {
		c.blocks[i] = p.block(uint32(chain), c.first+uint32(i), OrderOf(i), skip(i))
	}
}

// linked finds the place of a rule that was there when the chain was linked.
func (c *Chain) linked(order uint32) (i int, ok bool) {
	i = int(order/OrderStep) - 1
	return i, order%OrderStep == 0 && i >= 0 && i < len(c.blocks)
}

// block appends the code of a rule as it runs when a selector chose it.
func (p *Program) block(chain, number, order uint32, skip int) (at uint32) {
	at = uint32(len(p.code))
	p.copyRule(&p.rules[number], skip)
	p.code = append(p.code, inst{op: opSelect, ref: chain, off: order + 1})
	return at
}

// copyRule appends the instructions of a rule that stand for its expressions
// from skip on. Breaks lead to what is appended next.
func (p *Program) copyRule(r *ruleRef, skip int) {
	start := len(p.code)
	for _, in := range p.code[r.start:r.end] {
		if int(in.expr) >= skip {
			p.code = append(p.code, in)
		}
	}
	next := uint32(len(p.code))
	for i := start; i < len(p.code); i++ {
		p.code[i].next = next
	}
}

// Use gives the machine the selectors of its program's chains, by number; nil
// for chains whose rules run one by one.
func (m *Machine) Use(selectors []Selector) { m.selectors = selectors }

// begin is where the run through a chain starts.
func (m *Machine) begin(chain uint32) uint32 {
	c := &m.prog.Chains[chain]
	if m.sink != nil {
		return m.linear(chain, 0)
	}
	return c.entry
}

// choose executes opSelect: it asks which rule comes next.
func (m *Machine) choose(in *inst) uint32 {
	order := uint32(ByRule)
	if int(in.ref) < len(m.selectors) && m.selectors[in.ref] != nil {
		order = m.selectors[in.ref].Next(m, in.off)
	}
	c := &m.prog.Chains[in.ref]
	switch order {
	case NoRule:
		return c.end
	case ByRule:
		return m.linear(in.ref, in.off)
	}
	if i, ok := c.linked(order); ok {
		return c.blocks[i]
	}
	return c.extraBlock(order)
}

// Version tells states of a packet apart: it changes with every packet, with
// every base chain, and whenever a rule changed what others may read.
func (m *Machine) Version() uint64 { return m.version }

// Packet is the packet that the machine works on.
func (m *Machine) Packet() *Packet { return m.pkt }

// Load is a load that a selector makes outside of rules.
type Load struct {
	in inst
}

// NewLoad makes a Load of an expression of a rule in a table: a payload load of
// up to 16 bytes, or a meta or ct key. Its destination does not matter.
func (p *Program) NewLoad(table *ruleset.Table, e expr.Expr) (Load, error) {
	l := &linker{program: &Program{Rules: p.Rules, state: p.state}, state: p.state, forms: AllForms, table: table, chn: &Chain{Chain: &ruleset.Chain{}}}
	if err := l.lower(e); err != nil {
		return Load{}, err
	}
	return Load{in: l.program.code[0]}, nil
}

// Network4 tells where a load of four bytes from the network header on takes
// them; ok is false for other loads.
func (l *Load) Network4() (off int, ok bool) { return int(l.in.off), l.in.op == opNetwork4 }

// Fetch executes a load and stores the n bytes that it gives as big-endian
// words, the last one full. The result is that of the load; other than OK,
// words are unspecified. It overwrites registers, which is fine between rules.
func (m *Machine) Fetch(f *Load, n int, words []uint32) packet.LoadResult {
	in := &f.in
	view := m.pkt.View
	switch in.op {
	case opNetwork4:
		if x, ok := view.Load32(view.NetOff + int(in.off)); ok {
			words[0] = swap32(x)
			return packet.OK
		}
	case opTransport2:
		if view.HasTransport() {
			if x, ok := view.Load16(view.ThOff + int(in.off)); ok {
				words[0] = uint32(bits.ReverseBytes16(x))
				return packet.OK
			}
		}
	case opL4Proto:
		if view.L4OK {
			words[0] = uint32(view.L4Proto)
			return packet.OK
		}
	case opNFProto:
		words[0] = uint32(uint8(m.pkt.Family))
		return packet.OK
	}
	switch m.step(in) {
	case outBreak:
		return packet.Break
	case outCut:
		return packet.Cut
	}
	value := m.regs[in.dst : int(in.dst)+n]
	for i := len(words) - 1; i >= 0; i-- {
		if len(value) >= 4 {
			words[i] = binary.BigEndian.Uint32(value[len(value)-4:])
			value = value[:len(value)-4]
			continue
		}
		w := uint32(0)
		for _, b := range value {
			w = w<<8 | uint32(b)
		}
		words[i] = w
	}
	return packet.OK
}

func swap32(x uint32) uint32 { return bits.ReverseBytes32(x) }

// Attach makes a packet the one that Fetch loads from, before it is on its way.
func (m *Machine) Attach(pkt *Packet) { m.pkt = pkt }
