package classify

import (
	"math/bits"

	"verdict/internal/simd"
)

// batchSize is how many keys are looked up at a time: enough to hide the time
// that memory takes, few enough that what is kept of them stays near.
const batchSize = 32

// LookupBatch looks len(found) keys up, which lie Layout.Stride words apart,
// and stores for each the order of the first rule that matches, or None. It
// does not allocate. In large tables it is faster than single lookups.
func (t *Table) LookupBatch(keys []uint32, found []uint32) {
	if t.tables == nil || t.sources != nil {
		for i := range found {
			found[i] = t.Next(keys[i*t.stride:][:t.stride], 0)
		}
		return
	}
	for len(found) > 0 {
		n := min(len(found), batchSize)
		t.tables.batch(keys[:n*t.stride], t.stride, found[:n])
		for i := range n {
			key := keys[i*t.stride:][:t.stride]
			if t.scan != nil {
				found[i] = t.scan.next(key, 0, found[i])
			}
			for _, v := range t.vectors {
				found[i] = v.next(key, 0, found[i])
			}
		}
		keys, found = keys[n*t.stride:], found[n:]
	}
}

// batch looks keys up group by group: first all directories, which asks for
// the rows too, then the rows.
func (t *tables) batch(keys []uint32, stride int, found []uint32) {
	var hits [batchSize][16]uint32
	var masks [batchSize]uint32
	for i := range found {
		found[i] = None
	}
	size := t.lines * simd.RowWords
	for gi := range t.groups {
		g := &t.groups[gi]
		for i := range found {
			if masks[i] = 0; g.least[0] < found[i] {
				masks[i] = simd.ProbeTables(&g.probe, keys[i*stride:][:stride], t.dir, &hits[i])
			}
		}
		for i := range found {
			best := found[i]
			key := keys[i*stride:][:stride]
			for m := masks[i]; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros32(m) & 15
				if g.least[lane] >= best {
					break
				}
				best = simd.MatchBucket(t.rows[int(hits[i][lane])*size:], key, t.lines, 0, best)
			}
			found[i] = best
		}
	}
}
