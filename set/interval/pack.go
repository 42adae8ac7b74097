package interval

import "verdict/internal/huge"

const (
	// packFrom is the number of insertions in a transaction from which its
	// leaves are packed.
	packFrom = 4096
	// packFill is how many elements a packed leaf holds.
	packFill = leafMax - 4
)

// pack moves all elements to leaves that lie together and are nearly full. A
// large load leaves half-empty leaves all over the memory.
func (t *Table) pack(owner uint64) {
	n := (t.n + packFill - 1) / packFill
	leaves := huge.Slice[leaf](n)
	var lows [][leafMax]uint64
	if t.klen > 8 {
		lows = huge.Slice[[leafMax]uint64](n)
		t.lows = make([]uint64, n)
	}
	firsts, addresses := make([]uint64, n), make([]*leaf, n)
	at := 0
	for _, old := range t.leaves {
		for i := range old.n {
			l := &leaves[at/packFill]
			l.keys[l.n], l.ents[l.n] = old.keys[i], old.ents[i]
			if old.low != nil {
				if l.low == nil {
					l.low, lows = &lows[0], lows[1:]
				}
				l.low[l.n] = old.low[i]
			}
			if old.isStart(i) {
				l.start |= 1 << l.n
			}
			l.n++
			at++
		}
	}
	for i := range leaves {
		leaves[i].owner = owner
		addresses[i] = &leaves[i]
	}
	t.firsts, t.leaves = firsts, addresses
	for i := range leaves {
		t.noteFirst(i)
	}
}
