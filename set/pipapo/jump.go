package pipapo

import "math/bits"

const (
	// jumpSlots is the number of slots of a jump table.
	jumpSlots = 1024
	// jumpFrom is the number of nodes from which a tree has one.
	jumpFrom = 32
)

// jump shortens the search for a node in a large tree: it divides the values
// from the first to the last cut evenly into slots, and knows how many cuts
// lie in front of each. It never changes, so that trees can share it.
type jump struct {
	low   uint32
	shift uint8
	at    [jumpSlots + 1]uint32
}

// newJump makes the jump table for the first values of a tree's nodes, if they
// are many.
func newJump(firsts []uint32) *jump {
	if len(firsts) < jumpFrom {
		return nil
	}
	low, high := firsts[1], firsts[len(firsts)-1]
	j := &jump{low: low}
	for j.shift = 0; (high-low)>>j.shift >= jumpSlots; j.shift++ {
	}
	n := 0
	for slot := range jumpSlots {
		begin := uint64(low) + uint64(slot)<<j.shift
		for n < len(firsts) && uint64(firsts[n]) < begin {
			n++
		}
		j.at[slot] = uint32(n)
	}
	j.at[jumpSlots] = uint32(len(firsts))
	return j
}

// nodeOf returns the number of the node with value x.
func (t *tree) nodeOf(x uint32) int {
	j := t.jump
	if j == nil {
		return upper32(t.firsts, x) - 1
	}
	behind, below := bits.Sub32(x, j.low, 0)
	if below != 0 {
		return 0
	}
	slot := min(behind>>(j.shift&31), jumpSlots-1)
	from, to := j.at[slot], j.at[slot+1]
	return int(from) + upper32(t.firsts[from:to], x) - 1
}

// recut must follow every change of the first values of an owned tree's nodes.
func (t *tree) recut() { t.jump = newJump(t.firsts) }
