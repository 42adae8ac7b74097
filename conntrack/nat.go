package conntrack

import "verdict/packet/rewrite"

// Manip is one of the two translations that a connection may have.
type Manip uint8

// The translations.
const (
	SourceManip Manip = iota
	DestinationManip
)

// NATRange is what a nat statement asks for: addresses and ports between two
// bounds. Flags are the kernel's NF_NAT_RANGE bits (4 random, 8 persistent, 16
// fully random, 64 netmap).
type NATRange struct {
	MinAddr, MaxAddr [16]byte
	MinPort, MaxPort uint16
	HasAddr, HasPort bool
	Flags            uint32
}

// NATUndecided reports whether the packet's connection still needs a decision
// on a translation.
func (t *Table) NATUndecided(p *Packet, m Manip) bool { return false }

// SetupNAT decides a translation; a nil range is the null binding.
func (t *Table) SetupNAT(p *Packet, m Manip, r *NATRange) Result { return Accept }

// Translate rewrites the packet as its connection says. before tells the hooks
// ahead of routing (prerouting, output) from those behind it.
func (t *Table) Translate(p *Packet, m Manip, before bool, b *rewrite.Buffer) Result { return Accept }
