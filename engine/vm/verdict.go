package vm

import "verdict/catalog"

// Verdict is the outcome of a base chain.
type Verdict struct {
	Kind catalog.VerdictKind // VerdictAccept, VerdictDrop, VerdictStolen, VerdictQueue
	// Policy says that no rule decided.
	Policy bool
	// Rule is the number of the deciding rule; without meaning if Policy.
	Rule uint32
	// Queue is the queue number for VerdictQueue, Bypass its flag.
	Queue  uint16
	Bypass bool
	// Unknown says that the verdict cannot be known: a rule needed packet
	// bytes that the capture cut off. CutAt is the first missing offset from
	// the start of the frame. Kind is meaningless then.
	Unknown bool
	CutAt   int
}

// codes inside the machine: what an instruction did.
type outcome uint8

const (
	outNext outcome = iota // go on with the next expression
	outBreak
	outCut  // needs bytes that were not captured
	outStop // m.verdict is set and terminal
	outJump // m.target is set
	outGoto
	outReturn
)
