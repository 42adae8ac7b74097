package engine

import (
	"fmt"
	"slices"
	"strings"

	"verdict/catalog"
)

// Hook is a hook that a packet is sent through alone.
type Hook uint8

// The hooks. Of the names that several families have, the packet's own family
// decides: an ARP packet at AtInput meets the input chains of arp tables, a
// packet of a bridge port those of bridge tables.
const (
	// WholeWay is no single hook: the packet goes the way of a host.
	WholeWay Hook = iota
	AtIngress
	AtPrerouting
	AtInput
	AtForward
	AtOutput
	AtPostrouting
	AtEgress
)

var hookNames = []string{"", "ingress", "prerouting", "input", "forward", "output", "postrouting", "egress"}

func (h Hook) String() string {
	if int(h) < len(hookNames) {
		return hookNames[h]
	}
	return "invalid"
}

// HookByName finds a hook by its name in chain declarations; the error is a
// *HookError.
func HookByName(name string) (Hook, error) {
	i := slices.Index(hookNames, name)
	if i <= 0 {
		return WholeWay, &HookError{Name: name, Known: Hooks()}
	}
	return Hook(i), nil
}

// Hooks lists the names that HookByName and Options.Hook take.
func Hooks() []string { return slices.Clone(hookNames[1:]) }

// HookError names an unknown hook.
type HookError struct {
	Name  string
	Known []string
}

func (e *HookError) Error() string {
	return fmt.Sprintf("unknown hook %q; known are %s", e.Name, strings.Join(e.Known, ", "))
}

// key is the hook's number in the tables of hooks.
func (h Hook) key() hookKey {
	switch h {
	case AtIngress:
		return hookKey{catalog.FamilyNetdev, catalog.HookNetdevIngress}
	case AtEgress:
		return hookKey{catalog.FamilyNetdev, catalog.HookNetdevEgress}
	case AtInput:
		return hookKey{catalog.FamilyIP, catalog.HookInput}
	case AtForward:
		return hookKey{catalog.FamilyIP, catalog.HookForward}
	case AtOutput:
		return hookKey{catalog.FamilyIP, catalog.HookOutput}
	case AtPostrouting:
		return hookKey{catalog.FamilyIP, catalog.HookPostrouting}
	}
	return hookKey{catalog.FamilyIP, catalog.HookPrerouting}
}
