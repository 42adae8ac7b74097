package iptables

import (
	"slices"

	"verdict/catalog"
	"verdict/diag"
)

// File is what one save file holds.
type File struct {
	Family catalog.Family // FamilyIP or FamilyIP6
	Tables []*Table
}

// Table is one table with its chains, in the order of the file.
type Table struct {
	Family catalog.Family
	Name   string // filter, nat, mangle, raw, security
	Chains []*Chain
	// order is what happened in the file, for translation.
	order []step
	Place diag.Span
}

// Chain returns a chain of the table, or nil.
func (t *Table) Chain(name string) *Chain {
	for _, c := range t.Chains {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Policy is what a built-in chain does at its end.
type Policy uint8

// The policies. User chains have none.
const (
	NoPolicy Policy = iota
	PolicyAccept
	PolicyDrop
)

func (p Policy) String() string {
	switch p {
	case PolicyAccept:
		return "ACCEPT"
	case PolicyDrop:
		return "DROP"
	}
	return "-"
}

// Chain is a built-in chain, which has a policy and a hook, or a user chain.
type Chain struct {
	Name   string
	Policy Policy
	Hook   catalog.HookNum // of a built-in chain
	Saved  Counter         // what the file says was counted by the policy
	Rules  []*Rule
	Place  diag.Span
}

// BuiltIn reports whether the chain belongs to a hook.
func (c *Chain) BuiltIn() bool { return c.Policy != NoPolicy }

// Counter counts packets and bytes; bytes are those of IP packets.
type Counter struct{ Packets, Bytes uint64 }

// Rule is one rule: tests on the header, further matches, and what to do.
type Rule struct {
	Header  Header
	Matches []Match
	Target  Target // nil where the rule only counts
	Saved   Counter
	Place   diag.Span
	words   []token // as written, for what has no nft form
}

// Comment is the text of the rule's last comment match, or "".
func (r *Rule) Comment() string {
	for _, m := range slices.Backward(r.Matches) {
		if c, ok := m.(*commentMatch); ok {
			return c.text
		}
	}
	return ""
}

// Match is one extension match of a rule. Implementations are immutable; what
// packets change belongs to a Machine.
type Match interface {
	// Name is the word behind -m.
	Name() string
	// appendSave appends the options, each with a space before it.
	appendSave(b []byte) []byte
	// translate adds the nft form; false says that there is none.
	translate(t *translator) bool
	// matches tests a packet.
	matches(m *Machine) result
}

// Target is what a rule does to the packets it matches.
type Target interface {
	// Name is the word behind -j.
	Name() string
	appendSave(b []byte) []byte
	translate(t *translator) bool
	// apply acts on a packet.
	apply(m *Machine) action
}

// builtIn is a hook of a table.
type builtIn struct {
	chain string
	hook  catalog.HookNum
}

// tableKind is what the kernel knows of a table.
type tableKind struct {
	name     string
	priority func(catalog.HookNum) int32
	chains   []builtIn
}

func fixed(priority int32) func(catalog.HookNum) int32 {
	return func(catalog.HookNum) int32 { return priority }
}

func natPriority(h catalog.HookNum) int32 {
	if h == catalog.HookPrerouting || h == catalog.HookOutput {
		return -100
	}
	return 100
}

var (
	prerouting  = builtIn{"PREROUTING", catalog.HookPrerouting}
	input       = builtIn{"INPUT", catalog.HookInput}
	forward     = builtIn{"FORWARD", catalog.HookForward}
	output      = builtIn{"OUTPUT", catalog.HookOutput}
	postrouting = builtIn{"POSTROUTING", catalog.HookPostrouting}
)

// tableKinds are the tables with their hooks and priorities.
// Ref: iptable_raw.c, iptable_mangle.c, iptable_nat.c, iptable_filter.c,
// iptable_security.c.
var tableKinds = []tableKind{
	{"raw", fixed(-300), []builtIn{prerouting, output}},
	{"mangle", fixed(-150), []builtIn{prerouting, input, forward, output, postrouting}},
	{"nat", natPriority, []builtIn{prerouting, input, output, postrouting}},
	{"filter", fixed(0), []builtIn{input, forward, output}},
	{"security", fixed(50), []builtIn{input, forward, output}},
}

func kindOf(table string) *tableKind {
	for i := range tableKinds {
		if tableKinds[i].name == table {
			return &tableKinds[i]
		}
	}
	return nil
}

func (k *tableKind) builtIn(chain string) (catalog.HookNum, bool) {
	for _, b := range k.chains {
		if b.chain == chain {
			return b.hook, true
		}
	}
	return 0, false
}
