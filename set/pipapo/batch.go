package pipapo

import "verdict/set/elem"

// LookupBatch implements elem.View.
func (t *Table) LookupBatch(keys []byte, stride int, now int64, found []*elem.Entry) {
	n := t.layout.keyLen
	if stride < n || len(found) > 0 && len(keys) < (len(found)-1)*stride+n {
		clear(found)
		return
	}
	for i := range found {
		found[i] = t.Lookup(keys[i*stride:i*stride+n], now)
	}
}
