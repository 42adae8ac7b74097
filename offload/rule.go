package offload

import (
	"fmt"
	"sort"
	"strings"
)

// ActionID is what a rule does, with the kernel's number.
//
// Ref: include/net/flow_offload.h, enum flow_action_id
type ActionID uint8

// The actions.
const (
	ActAccept          ActionID = 0
	ActDrop            ActionID = 1
	ActTrap            ActionID = 2
	ActGoto            ActionID = 3
	ActRedirect        ActionID = 4
	ActMirror          ActionID = 5
	ActRedirectIngress ActionID = 6
	ActMirrorIngress   ActionID = 7
	ActVLANPush        ActionID = 8
	ActVLANPop         ActionID = 9
	ActVLANMangle      ActionID = 10
	ActTunnelEncap     ActionID = 11
	ActTunnelDecap     ActionID = 12
	ActMangle          ActionID = 13
	ActAdd             ActionID = 14
	ActCsum            ActionID = 15
	ActMark            ActionID = 16
	ActPType           ActionID = 17
	ActPriority        ActionID = 18
	ActRxQueue         ActionID = 19
	ActWake            ActionID = 20
	ActQueue           ActionID = 21
	ActSample          ActionID = 22
	ActPolice          ActionID = 23
	ActCT              ActionID = 24
	ActCTMetadata      ActionID = 25
	ActMPLSPush        ActionID = 26
	ActMPLSPop         ActionID = 27
	ActMPLSMangle      ActionID = 28
	ActGate            ActionID = 29
	ActPPPoEPush       ActionID = 30
	ActJump            ActionID = 31
	ActPipe            ActionID = 32
	ActVLANPushEth     ActionID = 33
	ActVLANPopEth      ActionID = 34
	ActContinue        ActionID = 35
)

var actionNames = [...]string{
	"accept", "drop", "trap", "goto", "redirect", "mirror", "redirect-ingress", "mirror-ingress",
	"vlan-push", "vlan-pop", "vlan-mangle", "tunnel-encap", "tunnel-decap", "mangle", "add", "csum",
	"mark", "ptype", "priority", "rx-queue", "wake", "queue", "sample", "police", "ct", "ct-metadata",
	"mpls-push", "mpls-pop", "mpls-mangle", "gate", "pppoe-push", "jump", "pipe", "vlan-push-eth",
	"vlan-pop-eth", "continue",
}

// String returns the name that models use.
func (a ActionID) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return fmt.Sprintf("action%d", uint8(a))
}

// ActionSet is a set of actions, a bit for each number.
type ActionSet uint64

// AllActions holds every action.
const AllActions = ^ActionSet(0)

// Has reports whether the set holds an action.
func (s ActionSet) Has(a ActionID) bool { return s>>a&1 != 0 }

// ParseActions reads a list of names; "all" is every action.
func ParseActions(names []string) (ActionSet, error) {
	var s ActionSet
	for _, n := range names {
		if n == "all" {
			s = AllActions
			continue
		}
		id := -1
		for i, known := range actionNames {
			if known == n {
				id = i
			}
		}
		if id < 0 {
			return 0, fmt.Errorf("unknown action %q; known are %s", n, strings.Join(ActionNames(), ", "))
		}
		s |= 1 << id
	}
	return s, nil
}

// ActionNames lists the names of all actions, sorted.
func ActionNames() []string {
	l := append([]string(nil), actionNames[:]...)
	sort.Strings(l)
	return l
}

// Action is one action of a rule.
type Action struct {
	ID     ActionID
	Chain  uint32  // ActGoto
	Device string  // ActRedirect and the like
	Mark   uint32  // ActMark
	VLAN   uint16  // ActVLANPush, ActVLANMangle: the tag's control information
	Proto  uint16  // ActVLANPush, ActMPLSPush, ActMPLSPop
	Zone   uint16  // ActCT
	Rate   uint64  // ActPolice: bytes a second; ActSample: one in Rate
	Offset uint32  // ActMangle, ActAdd: within the header
	Header string  // ActMangle, ActAdd
	Value  uint32  // ActMangle, ActAdd
	Mask   uint32  // ActMangle, ActAdd: bits that stay
	Source *uint64 // identity of the filter's action that this stands for
}

// String describes an action for explanations.
func (a Action) String() string {
	switch a.ID {
	case ActGoto:
		return fmt.Sprintf("goto chain %d", a.Chain)
	case ActRedirect, ActMirror, ActRedirectIngress, ActMirrorIngress:
		return a.ID.String() + " " + a.Device
	}
	return a.ID.String()
}

// Kind is the sort of filter that a rule comes from.
type Kind string

// The kinds whose rules can be offloaded.
const (
	Flower   Kind = "flower"
	Matchall Kind = "matchall"
	U32      Kind = "u32"
	NFT      Kind = "nft"
)

// Rule is one flow rule.
//
// Ref: include/net/flow_offload.h, struct flow_rule, flow_cls_common_offload
type Rule struct {
	Cookie   uint64 // identity of the filter
	Kind     Kind
	Chain    uint32
	Protocol uint16 // EtherType, 3 for all
	Priority uint32
	SkipSW   bool
	Match    Match
	Actions  []Action
}

// Stats are the counters of a rule in hardware.
type Stats struct {
	Packets, Bytes, Drops uint64
	LastUsed              int64 // nanoseconds since the epoch, 0 if never
}
