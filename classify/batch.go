package classify

import (
	"sync"

	"verdict/internal/simd"
)

// batchSize is how many keys are looked up at a time: enough to hide the time
// that memory takes, few enough that what is kept of them stays near.
const batchSize = 32

// burst is the memory that a batch works in: rows to compare and which keys
// they are for.
type burst struct {
	rows, owners [16 * (batchSize + 1)]uint32
}

var bursts = sync.Pool{New: func() any { return new(burst) }}

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
	b := bursts.Get().(*burst)
	for len(found) > 0 {
		n := min(len(found), batchSize)
		t.tables.batch(keys[:n*t.stride], t.stride, found[:n], b)
		t.others(keys, found[:n])
		keys, found = keys[n*t.stride:], found[n:]
	}
	bursts.Put(b)
}

// others asks the structures beside the hash tables.
func (t *Table) others(keys, found []uint32) {
	if t.scan == nil && t.vectors == nil {
		return
	}
	for i := range found {
		key := keys[i*t.stride:][:t.stride]
		if t.scan != nil {
			found[i] = t.scan.next(key, 0, found[i])
		}
		for _, v := range t.vectors {
			found[i] = v.next(key, 0, found[i])
		}
	}
}

// batch looks keys up group by group: first all directories, which asks for
// the rows too, then the first rows of all buckets, then the second ones, and
// so on.
func (t *tables) batch(keys []uint32, stride int, found []uint32, b *burst) {
	for i := range found {
		found[i] = None
	}
	for gi := range t.groups {
		g := &t.groups[gi]
		n := simd.ProbeBatch(&g.Probe, keys, stride, t.dir, found, &g.Least, b.rows[:], b.owners[:])
		for n > 0 {
			n = simd.MatchBatch(b.rows[:], b.owners[:], n, t.rows, t.lines, keys, stride, found)
		}
	}
}
