package vm

import (
	"fmt"
	"slices"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// UnsupportedError names an expression that the machine cannot run.
type UnsupportedError struct {
	Table, Chain string
	Rule         int // index from 0
	What         string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("table %s chain %s rule %d: %s cannot be evaluated", e.Table, e.Chain, e.Rule, e.What)
}

// Link makes a program of a snapshot. State is taken from, and added to, the
// given state. Cost: linear in rules, and in the elements of verdict maps.
func Link(rs *ruleset.Ruleset, state *State) (*Program, error) {
	return LinkForms(rs, state, AllForms)
}

// Finish makes the fast code of the chains that no selector was made for. It
// must be called, if at all, before a machine uses the program.
func (p *Program) Finish() {
	for i := range p.Chains {
		if c := &p.Chains[i]; c.blocks == nil {
			p.fold(c, p.forms)
		}
	}
}

// LinkForms is Link with some of the fast forms only, for measurements and
// tests: what packets meet is the same.
func LinkForms(rs *ruleset.Ruleset, state *State, forms Forms) (*Program, error) {
	l := &linker{program: &Program{Rules: rs, state: state}, state: state, setIndex: map[*ruleset.Set]uint32{}, forms: forms}
	l.declare()
	for i := range l.program.Chains {
		if err := l.chain(&l.program.Chains[i]); err != nil {
			return nil, err
		}
	}
	l.program.forms = forms
	return l.program, l.hooks()
}

type linker struct {
	program  *Program
	state    *State
	setIndex map[*ruleset.Set]uint32
	chains   map[*ruleset.Table]map[string]uint32

	forms Forms

	ctTable [2]*ruleset.Table // the first that needs tracking, by family

	table *ruleset.Table
	chn   *Chain
	index int // of the rule within its chain
	ex    int // of the expression within its rule
}

// declare numbers all chains, so that jumps may lead anywhere.
func (l *linker) declare() {
	l.chains = map[*ruleset.Table]map[string]uint32{}
	for _, t := range l.program.Rules.Tables {
		names := make(map[string]uint32, len(t.Chains))
		l.chains[t] = names
		for _, c := range t.Chains {
			names[c.Name] = uint32(len(l.program.Chains))
			l.program.Chains = append(l.program.Chains, Chain{Table: t, Chain: c})
		}
	}
}

// hooks collects the base chains.
func (l *linker) hooks() error {
	for i := range l.program.Chains {
		c := &l.program.Chains[i]
		if c.Chain.Base == nil || c.Table.Flags&ruleset.TableDormant != 0 {
			continue
		}
		b := c.Chain.Base
		l.program.Bases = append(l.program.Bases, &Base{
			Index: i, Family: c.Table.Family, Table: c.Table, Chain: c.Chain,
			Hook: b.Hook, Priority: b.Priority, Drop: b.Policy == catalog.VerdictDrop,
			NAT: b.Type == "nat", Route: b.Type == "route",
		})
	}
	// Chains draw their handles in the order of registration within a table,
	// but tables share no counter: the order of tables decides between them.
	for i, b := range l.program.Bases {
		b.Order = i
	}
	l.program.CTOrder = [2]int{l.ctOrder(0), l.ctOrder(1)}
	slices.SortStableFunc(l.program.Bases, func(a, b *Base) int {
		if a.Priority != b.Priority {
			return int(a.Priority) - int(b.Priority)
		}
		return b.Order - a.Order
	})
	return nil
}

// chain lowers all rules of a chain.
func (l *linker) chain(c *Chain) error {
	p := l.program
	l.table, l.chn = c.Table, c
	c.start, c.first, c.count = uint32(len(p.code)), uint32(len(p.rules)), uint32(len(c.Chain.Rules))
	for i, r := range c.Chain.Rules {
		l.index = i
		if err := l.rule(r); err != nil {
			return err
		}
	}
	c.end, c.entry = uint32(len(p.code)), c.start
	p.code = append(p.code, inst{op: opEndChain})
	return nil
}

// rule lowers one rule and patches where its breaks go.
func (l *linker) rule(r *ruleset.Rule) error {
	p := l.program
	number, start := uint32(len(p.rules)), len(p.code)
	p.rules = append(p.rules, ruleRef{chain: l.chn, rule: r, index: uint32(l.index), start: uint32(start)})
	for i, e := range r.Exprs {
		l.ex = i
		if err := l.lower(e); err != nil {
			return err
		}
	}
	p.code = append(p.code, inst{op: opEndRule, expr: uint8(len(r.Exprs))})
	next := uint32(len(p.code))
	p.rules[number].end = next
	for i := start; i < len(p.code); i++ {
		p.code[i].next, p.code[i].rule = next, number
	}
	if l.forms&FormFused != 0 {
		fuse(p.code[start:])
	}
	return nil
}

// fuse marks the loads of a rule that a fast compare of the loaded register
// follows. Nothing jumps between the two, since jumps lead to rules.
func fuse(rule []inst) {
	for i := range len(rule) - 1 {
		in, next := &rule[i], &rule[i+1]
		compares := next.op == opCmpFast || next.op == opCmpFastNeq
		if in.op.loadsWord() && compares && next.src == in.dst {
			in.fused = withCompare
		}
	}
}

// loadsWord tells which instructions run does in place and which store one
// word.
func (o opcode) loadsWord() bool {
	switch o {
	case opNetwork1, opNetwork2, opNetwork4, opTransport1, opTransport2, opTransport4,
		opL4Proto, opNFProto, opMark, opCTState, opBitwiseFast:
		return true
	}
	return false
}

func (l *linker) unsupported(what string) error {
	return &UnsupportedError{Table: l.table.Family.String() + " " + l.table.Name, Chain: l.chn.Chain.Name, Rule: l.index, What: what}
}

// emit appends an instruction.
func (l *linker) emit(in inst) error {
	in.expr = uint8(l.ex)
	l.program.code = append(l.program.code, in)
	return nil
}

// constant stores bytes, padded to whole words, and returns their offset.
func (l *linker) constant(parts ...[]byte) uint32 {
	p := l.program
	at := len(p.data)
	for _, b := range parts {
		p.data = append(p.data, b...)
	}
	for (len(p.data)-at)&3 != 0 {
		p.data = append(p.data, 0)
	}
	return uint32(at)
}

// padded is b filled with zeros to whole words.
func padded(b []byte) []byte {
	return append(slices.Clone(b), make([]byte, -len(b)&3)...)
}

// tracks notes that a rule needs connection tracking.
func (l *linker) tracks() { l.tracksFamily(l.table.Family) }

// tracksFamily notes that a rule needs connection tracking of a family.
// Ref: nf_conntrack_proto.c, nf_ct_netns_get; nft_nat.c, nft_nat_init.
func (l *linker) tracksFamily(f catalog.Family) {
	p := l.program
	switch f {
	case catalog.FamilyIP:
		l.needCT(0)
	case catalog.FamilyIP6:
		l.needCT(1)
	case catalog.FamilyInet:
		l.needCT(0)
		l.needCT(1)
	case catalog.FamilyBridge:
		l.needCT(0)
		l.needCT(1)
		p.NeedsCTBridge = true
	}
}

// needCT notes the first table whose rules need tracking in a family (0 IPv4, 1
// IPv6): they register it, behind all base chains of the table.
func (l *linker) needCT(family int) {
	if l.ctTable[family] == nil {
		l.ctTable[family] = l.table
	}
	if family == 0 {
		l.program.NeedsCT = true
	} else {
		l.program.NeedsCT6 = true
	}
}

// ctOrder tells after how many base chains tracking is registered.
func (l *linker) ctOrder(family int) int {
	n := 0
	for _, t := range l.program.Rules.Tables {
		for _, b := range l.program.Bases {
			if b.Table == t {
				n++
			}
		}
		if t == l.ctTable[family] {
			break
		}
	}
	return n
}

// reg is a register's place in the file.
func reg(r expr.Reg) uint8 { return uint8(max(r.Offset(), 0)) }
