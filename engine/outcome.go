package engine

import (
	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/iptables"
	"verdict/packet"
)

// Fate says what became of a packet.
type Fate uint8

// The fates.
const (
	// Accepted: the packet got through every hook on its way.
	Accepted Fate = iota
	// Dropped: a rule or policy dropped it.
	Dropped
	// Lost: the host itself dropped it: malformed, no route, table full.
	Lost
	// Queued: handed to user space.
	Queued
	// Stolen: taken by fwd, synproxy and the like.
	Stolen
	// Unknown: a rule needed bytes that the capture cut off.
	Unknown
	// Held: kept for reassembly with later fragments.
	Held
	fates
)

var fateNames = [fates]string{"accept", "drop", "lost", "queue", "stolen", "unknown", "held"}

func (f Fate) String() string {
	if f < fates {
		return fateNames[f]
	}
	return "invalid"
}

// Fates lists all of them.
func Fates() []Fate { return []Fate{Accepted, Dropped, Lost, Queued, Stolen, Unknown, Held} }

// HookResult is what happened at one hook.
type HookResult struct {
	Family catalog.Family // ip, ip6, arp, bridge, netdev
	Hook   catalog.HookNum
	Fate   Fate
	// Ran says that at least one base chain was evaluated here; of traffic
	// control, that filters were asked.
	Ran bool
	// Traffic says that this is no hook of netfilter.
	Traffic Traffic
}

// Traffic is a place ahead of and behind the hooks of netfilter.
type Traffic uint8

// The places of traffic control.
const (
	NoTraffic Traffic = iota
	Hardware          // the tables of the device that received the packet
	TCIngress
	TCEgress
)

// String names the place.
func (t Traffic) String() string {
	return [...]string{"", "hardware", "ingress", "egress"}[t]
}

// Outcome is the result of one packet.
type Outcome struct {
	Fate Fate
	// Decided says that a rule or a policy decided: Verdict and Base tell
	// which. Of an accepted packet it is the last base chain that ran.
	Decided bool
	Verdict vm.Verdict
	Base    *vm.Base
	// Table is the built-in chain that decided where a table of iptables did,
	// Base being nil; the rule's number is one of its program.
	Table  *iptables.Base
	Reason string // for Lost, Unknown, Held: why, in words
	Hooks  []HookResult
	// Changed says that Data holds the packet as rules changed it.
	Changed bool
	Data    []byte
	// Out is the interface by which an accepted packet leaves, empty where it
	// stays or nothing is known; with Options.Forwarded or Replies only.
	Out packet.Name
	// CutAt is the first missing byte of an Unknown packet.
	CutAt int
	// Copy says that the frame is the same packet on its way out that was
	// already judged when it came in; nothing ran.
	Copy bool
	// Made are the packets that the host made because of this one, Sent all
	// frames that left because of it, in order; with Options.Replies, and with
	// Options.TC those that filters sent elsewhere.
	Made []MadePacket
	Sent []SentFrame
}
