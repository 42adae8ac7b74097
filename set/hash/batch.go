package hash

import (
	"unsafe"

	"verdict/internal/simd"
	"verdict/set/elem"
)

// burst is how many lookups are under way at a time.
const burst = 32

// LookupBatch implements elem.View. All first slots of a burst are read before
// any is looked at, so that the cache misses overlap.
func (t *Table) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	if stride < t.klen || len(found) > 0 && len(keys) < (len(found)-1)*stride+t.klen {
		clear(found)
		return
	}
	var (
		words, places [burst]uint64
		pages         [burst]*page
		first         [burst]slot
	)
	chain := t.chain.Load()
	for len(found) > 0 {
		n := min(burst, len(found))
		for i := range n {
			w := word(keys[i*stride:i*stride+t.klen], t.seed)
			h := place(w, t.seed)
			words[i], places[i] = w, h
			pages[i] = t.dir[h>>t.shift].Load()
		}
		for i := range n {
			first[i] = slot{}
			if p := pages[i]; p != nil {
				first[i] = p.slots[places[i]%pageSlots]
			}
			if e := first[i].e; e != nil && !t.exact {
				simd.Prefetch(unsafe.Pointer(e), 2) // its key lies behind it
			}
		}
		for i := range n {
			e := first[i].e
			if chain || e != nil && (!t.exact || first[i].word != words[i]) {
				e = t.probe(pages[i], words[i], places[i], keys[i*stride:i*stride+t.klen])
			}
			if t.timed && e != nil && e.Expired(now) {
				e = nil
			}
			found[i] = e
		}
		found = found[n:]
		if len(found) > 0 {
			keys = keys[n*stride:]
		}
	}
}
