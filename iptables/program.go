package iptables

import (
	"encoding/binary"
	"fmt"

	"verdict/catalog"
	"verdict/packet"
)

// Program is tables made ready for packets. It is immutable and safe for
// concurrent use.
type Program struct {
	Tables []*Table
	Bases  []*Base // by family, hook and priority as the tables have them
	// UsesCT says by family (ip, ip6) whether a rule needs connections, so
	// that tracking must run.
	UsesCT [2]bool
	// Uses tells which outside facts rules read.
	Uses Uses

	chains   []chainCode
	rules    []ruleCode
	headers4 []header4 // by rule; of the other family unused
	headers6 []header6
	patterns []pattern
}

// Uses tells which facts that no packet carries a program's rules read.
type Uses struct {
	Owner, Routes, Random, CPU, Sockets, Sets bool
	TTL                                       bool // rules see the time to live that forwarding lowered
}

// Base is a built-in chain at its hook.
type Base struct {
	Table    *Table
	Chain    *Chain
	Family   catalog.Family
	Hook     catalog.HookNum
	Priority int32
	NAT      bool // of the table nat: only first packets of connections meet it
	// Route says that the host's own packets are routed again behind it.
	Route bool
	code  int // index of the chain
}

// chainCode is a chain's rules as a range of rule numbers.
type chainCode struct {
	table      *Table
	chain      *Chain
	start, end uint32
}

// kind of what a rule does once it matches.
type kind uint8

const (
	doContinue kind = iota
	doAccept
	doDrop
	doReturn
	doJump
	doGoto
	doTarget
)

// ruleCode is a rule's part behind the header tests.
type ruleCode struct {
	do      kind
	chain   uint32 // doJump, doGoto: the chain to go to
	matches []Match
	target  Target
	rule    *Rule
	owner   uint32 // index of its chain
}

// header4 is the header test of an IPv4 rule, made for one comparison after
// the other without further looks at memory. The zero value matches all.
type header4 struct {
	src, srcMask, dst, dstMask uint32
	protocol                   uint8
	flags                      uint8
	in, out                    uint16 // index of a pattern, 0: any
}

// header6 is the same for IPv6.
type header6 struct {
	src, srcMask, dst, dstMask [2]uint64
	protocol                   uint8
	flags                      uint8
	in, out                    uint16
}

// Bits of flags.
const (
	notSource uint8 = 1 << iota
	notDestination
	notIn
	notOut
	notProtocol
	onlyFragment
	notFragment
)

// pattern is an interface name of which a number of bytes count.
type pattern struct {
	name packet.Name
	n    int // bytes compared; all 16 for whole names
}

func (p *pattern) matches(name *packet.Name) bool {
	for i := range p.n {
		if name[i] != p.name[i] {
			return false
		}
	}
	return true
}

// CompileError says which rule cannot be run, and why.
type CompileError struct {
	Rule   *Rule
	Reason string
}

func (e *CompileError) Error() string {
	if e.Rule != nil && e.Rule.Place.IsValid() {
		return fmt.Sprintf("%s:%d: %s", e.Rule.Place.Source.Name, e.Rule.Place.Pos().Line, e.Reason)
	}
	return e.Reason
}

// Compile makes a program of tables that Check accepts. Jumps to chains that do
// not exist are a *CompileError. Cost: linear in the rules.
func Compile(tables []*Table) (*Program, error) {
	c := &compiler{p: &Program{Tables: tables, patterns: make([]pattern, 1)}, known: map[pattern]uint16{}}
	for _, t := range tables {
		if err := c.table(t); err != nil {
			return nil, err
		}
	}
	return c.p, nil
}

type compiler struct {
	p     *Program
	known map[pattern]uint16
}

func (c *compiler) table(t *Table) error {
	kind := kindOf(t.Name)
	family := 0
	if t.Family == catalog.FamilyIP6 {
		family = 1
	}
	index := map[string]int{}
	for _, chain := range t.Chains {
		index[chain.Name] = len(c.p.chains)
		c.p.chains = append(c.p.chains, chainCode{table: t, chain: chain})
		if chain.BuiltIn() {
			c.p.Bases = append(c.p.Bases, &Base{
				Table: t, Chain: chain, Family: t.Family, Hook: chain.Hook,
				Priority: kind.priority(chain.Hook), NAT: t.Name == "nat", Route: t.Name == "mangle" && chain.Hook == catalog.HookOutput,
				code: index[chain.Name],
			})
		}
	}
	for _, chain := range t.Chains {
		at := index[chain.Name]
		c.p.chains[at].start = uint32(len(c.p.rules))
		for _, r := range chain.Rules {
			if err := c.rule(t, r, at, index, family); err != nil {
				return err
			}
		}
		c.p.chains[at].end = uint32(len(c.p.rules))
	}
	return nil
}

func (c *compiler) rule(t *Table, r *Rule, owner int, chains map[string]int, family int) error {
	code := ruleCode{rule: r, owner: uint32(owner)}
	for _, m := range r.Matches {
		c.uses(m, family)
		if _, ok := m.(*commentMatch); !ok { // it matches everything
			code.matches = append(code.matches, m)
		}
	}
	c.uses(r.Target, family)
	name := ""
	switch x := r.Target.(type) {
	case nil:
	case *verdictTarget:
		code.do = x.do
	case *jumpTarget:
		code.do, name = doJump, x.chain
	case *gotoTarget:
		code.do, name = doGoto, x.chain
	default:
		code.do, code.target = doTarget, r.Target
	}
	if name != "" {
		at, ok := chains[name]
		if !ok {
			return &CompileError{Rule: r, Reason: fmt.Sprintf("there is no target or chain %s", name)}
		}
		code.chain = uint32(at)
	}
	c.p.rules = append(c.p.rules, code)
	var h4 header4
	var h6 header6
	if family == 0 {
		h4 = c.header4(&r.Header)
	} else {
		h6 = c.header6(&r.Header)
	}
	c.p.headers4 = append(c.p.headers4, h4)
	c.p.headers6 = append(c.p.headers6, h6)
	return nil
}

// user is an extension that reads what packets do not carry.
type user interface {
	uses(u *Uses) (connections bool)
}

func (c *compiler) uses(x any, family int) {
	if u, ok := x.(user); ok && u.uses(&c.p.Uses) {
		c.p.UsesCT[family] = true
	}
}

func (c *compiler) pattern(i Interface) uint16 {
	if !i.given() || i.Name == "" && !i.Not {
		return 0
	}
	p := pattern{name: packet.MakeName(i.Name), n: len(packet.Name{})}
	if i.Prefix {
		p.n = len(i.Name)
	}
	at, ok := c.known[p]
	if !ok {
		at = uint16(len(c.p.patterns))
		c.p.patterns = append(c.p.patterns, p)
		c.known[p] = at
	}
	return at
}

func (c *compiler) header4(h *Header) header4 {
	out := header4{protocol: h.Protocol, flags: h.flags(), in: c.pattern(h.In), out: c.pattern(h.Out)}
	if h.Source.Mask.IsValid() {
		out.src, out.srcMask = word4(h.Source)
	}
	if h.Destination.Mask.IsValid() {
		out.dst, out.dstMask = word4(h.Destination)
	}
	return out
}

func word4(n Network) (address, mask uint32) {
	a, m := n.Addr.As4(), n.Mask.As4()
	return binary.LittleEndian.Uint32(a[:]), binary.LittleEndian.Uint32(m[:])
}

func (c *compiler) header6(h *Header) header6 {
	out := header6{protocol: h.Protocol, flags: h.flags(), in: c.pattern(h.In), out: c.pattern(h.Out)}
	if h.Source.Mask.IsValid() {
		out.src, out.srcMask = words6(h.Source)
	}
	if h.Destination.Mask.IsValid() {
		out.dst, out.dstMask = words6(h.Destination)
	}
	return out
}

func words6(n Network) (address, mask [2]uint64) {
	a, m := n.Addr.As16(), n.Mask.As16()
	for i := range 2 {
		address[i] = binary.LittleEndian.Uint64(a[8*i:])
		mask[i] = binary.LittleEndian.Uint64(m[8*i:])
	}
	return address, mask
}

func (h *Header) flags() uint8 {
	var f uint8
	for _, x := range []struct {
		set bool
		bit uint8
	}{
		{h.Source.Not, notSource}, {h.Destination.Not, notDestination}, {h.In.Not, notIn}, {h.Out.Not, notOut},
		{h.NotProtocol, notProtocol}, {h.Fragment, onlyFragment}, {h.NotFragment, notFragment},
	} {
		if x.set {
			f |= x.bit
		}
	}
	return f
}

// Rules is the number of rules; their numbers are below it.
func (p *Program) Rules() int { return len(p.rules) }

// Rule tells where a rule stands: its table, chain, and place in the chain.
func (p *Program) Rule(number uint32) (*Table, *Chain, *Rule, int) {
	r := &p.rules[number]
	c := &p.chains[r.owner]
	return c.table, c.chain, r.rule, int(number - c.start)
}

// FirstRule is the number of a chain's first rule.
func (p *Program) FirstRule(chain *Chain) uint32 {
	for i := range p.chains {
		if p.chains[i].chain == chain {
			return p.chains[i].start
		}
	}
	return 0
}

// Bytes is the memory of the header tests and rules, without extensions.
func (p *Program) Bytes() int { return len(p.rules)*(24+80+64) + len(p.patterns)*24 }
