package pipapo

import "math/bits"

const (
	// mostSlots is the number of slots that a jump table has at most.
	mostSlots = 4096
	// jumpFrom is the number of nodes from which a tree has one.
	jumpFrom = 32
	// jumpReach is how many cuts of a slot are compared at once.
	jumpReach = 4
)

// jump shortens the search for a node in a large tree: it divides the values
// from the first to the last cut evenly into slots, and knows how many cuts
// lie in front of each. It never changes, so that trees can share it.
type jump struct {
	low   uint32
	shift uint8
	// close: no slot has more than jumpReach cuts. Then a lookup compares as
	// many in any case, without a branch on how many there are.
	close  bool
	at     []uint32 // by slot, and one more
	firsts []uint32 // of the tree's nodes, and jumpReach more
}

// newJump makes the jump table for the first values of a tree's nodes, if they
// are many.
func newJump(firsts []uint32) *jump {
	if len(firsts) < jumpFrom {
		return nil
	}
	low, high := firsts[1], firsts[len(firsts)-1]
	slots := min(1<<bits.Len(uint(len(firsts))), mostSlots)
	j := &jump{low: low, close: true, at: make([]uint32, slots+1), firsts: make([]uint32, len(firsts)+jumpReach)}
	copy(j.firsts, firsts)
	for j.shift = 0; (high-low)>>j.shift >= uint32(slots); j.shift++ {
	}
	n := 0
	for slot := range slots {
		begin := uint64(low) + uint64(slot)<<j.shift
		for n < len(firsts) && uint64(firsts[n]) < begin {
			n++
		}
		j.at[slot] = uint32(n)
		j.close = j.close && (slot == 0 || n-int(j.at[slot-1]) <= jumpReach)
	}
	j.at[slots] = uint32(len(firsts))
	j.close = j.close && len(firsts)-n <= jumpReach
	for i := range jumpReach {
		j.firsts[len(firsts)+i] = ^uint32(0)
	}
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
	slot := min(int(behind>>(j.shift&31)), len(j.at)-2)
	from := j.at[slot]
	if j.close {
		// Cuts of the next slots are above x. What lies behind all cuts is not
		// above the last value of all, whose node is the last one.
		cuts := (*[jumpReach]uint32)(j.firsts[from:])
		n := int(from) + notAbove(cuts[0], x) + notAbove(cuts[1], x) + notAbove(cuts[2], x) + notAbove(cuts[3], x)
		return min(n, len(t.nodes)) - 1
	}
	return int(from) + upper32(t.firsts[from:j.at[slot+1]], x) - 1
}

// notAbove is 1 if a is not above x, else 0.
func notAbove(a, x uint32) int { return int(1 - (uint64(x)-uint64(a))>>63) }

// recut must follow every change of the first values of an owned tree's nodes.
func (t *tree) recut() { t.jump = newJump(t.firsts) }
