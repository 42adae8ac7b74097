package interval

import (
	"unsafe"

	"verdict/internal/simd"
	"verdict/set/elem"
)

const (
	// burst is how many lookups are under way at a time.
	burst = 32
	// keyLines is the size of a leaf's keys in cache lines.
	keyLines = leafMax * 8 / 64
)

// LookupBatch implements elem.View. The lookups of a burst find their leaves
// first, so that the memory of all of them is under way at a time.
func (t *Table) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	if stride < t.klen || len(found) > 0 && len(keys) < (len(found)-1)*stride+t.klen {
		clear(found)
		return
	}
	var (
		numbers [burst]number
		leaves  [burst]int
	)
	for len(found) > 0 {
		n := min(burst, len(found))
		for i := range n {
			key := keys[i*stride : i*stride+t.klen]
			numbers[i] = numberOf(key)
			leaves[i] = t.leafOf(numbers[i], key)
			if leaves[i] >= 0 {
				l := t.leaves[leaves[i]]
				simd.Prefetch(unsafe.Pointer(&l.keys), keyLines)
				simd.Prefetch(unsafe.Pointer(&l.start), 1)
			}
		}
		for i := range n {
			found[i] = nil
			if leaves[i] >= 0 {
				found[i] = t.finish(leaves[i], numbers[i], keys[i*stride:i*stride+t.klen], now)
			}
		}
		if found = found[n:]; len(found) > 0 {
			keys = keys[n*stride:]
		}
	}
}

// finish ends a lookup in the leaf that the key leads to.
func (t *Table) finish(i int, x number, key []byte, now int64) *elem.Entry {
	l := t.leaves[i]
	at := t.count(l, x, key) - 1
	if at < 0 || !l.isStart(at) {
		return nil
	}
	if e := l.ents[at&(leafMax-1)]; !t.timed || !e.Expired(now) {
		return e
	}
	return nil
}
