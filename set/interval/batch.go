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
		numbers [burst]uint64
		leaves  [burst]int
	)
	for len(found) > 0 {
		n := min(burst, len(found))
		for i := range n {
			numbers[i] = prefix(keys[i*stride : i*stride+t.klen])
			leaves[i] = upper(t.firsts, numbers[i]) - 1
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

// finish ends a lookup in the leaf that the key's number leads to.
func (t *Table) finish(i int, number uint64, key []byte, now int64) *elem.Entry {
	l := t.leaves[i]
	j := upper(l.keys[:l.n], number) - 1
	if t.klen > 8 && (j < 0 || l.keys[j] == number) {
		return t.Lookup(key, now)
	}
	if j < 0 || !l.isStart(j) {
		return nil
	}
	if e := l.ents[j]; !t.timed || !e.Expired(now) {
		return e
	}
	return nil
}
