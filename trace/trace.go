// Package trace defines the events of a traced packet: what ran, in order,
// as numbers and values. Rendering them is package trace/render's work; an
// event costs nothing when no sink is attached.
package trace

import "verdict/catalog"

// Kind says what happened.
type Kind uint8

// The kinds of events.
const (
	// EnterHook: the packet reaches a hook. Hook and Family are set.
	EnterHook Kind = iota
	// LeaveHook: the hook's verdict is in Verdict.
	LeaveHook
	// EnterBase: a base chain starts. Chain is set.
	EnterBase
	// LeaveBase: its verdict is in Verdict.
	LeaveBase
	// RuleDone: all expressions of the rule ran, or one gave a verdict.
	RuleDone
	// RuleBreak: the expression Expr ended the rule. Got is the value it
	// looked at, where it looked at one.
	RuleBreak
	// ReturnFromChain: a chain ended and the rules after the jump go on.
	ReturnFromChain
	// Policy: the end of a base chain was reached.
	Policy
	// RuleUnknown: the expression Expr needs bytes that were not captured.
	RuleUnknown
	// Note: something the user should know; Text says what.
	Note
	// EnterTable: a built-in chain of an iptables table starts; Text names it.
	EnterTable
	// TableRule: a rule of such a table is looked at. Text is the rule, Label
	// its place. TableDetail says what came of it.
	TableRule
	TableDetail
	// TablePolicy: the end of a built-in chain; Text is its policy.
	TablePolicy
	// PassHook: the packet passes a hook at which nothing is registered.
	PassHook
	// NewBuffer: what follows is about another socket buffer: a packet that
	// the host made, or the same packet received by another device.
	NewBuffer
	// EnterTC: the packet reaches a hook of traffic control, or the hardware
	// of a device; Text says which, Device where.
	EnterTC
	// TCFilter: a filter is looked at. Text is the filter, Label its place.
	// TCDetail says what came of it.
	TCFilter
	TCDetail
	// LeaveTC: Text is the result.
	LeaveTC
)

// Event is one step. Sinks must copy what they keep of Got and Loaded.
type Event struct {
	Kind Kind
	// Buffer tells the packets of one evaluation apart: 0 is the one that was
	// evaluated, the others are what the host made because of it.
	Buffer  int
	Family  catalog.Family
	Hook    catalog.HookNum
	Chain   int    // index of the chain in the program
	Rule    uint32 // number of the rule in the program
	Expr    int    // index of the expression in the rule
	Verdict catalog.VerdictKind
	Target  int // chain of a jump or goto
	Got     []byte
	// Loaded is what the last load of the rule before Expr put into its
	// register, LoadExpr its index; -1 without load.
	Loaded   []byte
	LoadExpr int
	Mark     uint32
	Text     string
	Label    string
	Device   string // at netdev hooks
	Tagged   bool   // at netdev hooks: the packet carries a VLAN tag
	CT       CT     // of RuleDone
}

// CT is the connection of a packet at a step.
type CT struct {
	Known  bool   // the packet has a connection, or is marked untracked
	State  uint32 // bit of ct state
	Status uint32
	Reply  bool // it runs in reply direction
}

// Sink takes events. It is called from the goroutine that runs the packet.
type Sink interface {
	Event(*Event)
}
