package elem

import "unsafe"

// intern copies a key and its upper end to the batch's arena. An arena is
// filled once, front to back, and no byte of it is written after a string of
// it was handed out, so the strings are as immutable as any.
func (b *Batch) intern(key, keyEnd []byte) string {
	n := len(key) + len(keyEnd)
	if cap(b.arena)-len(b.arena) < n {
		b.arena = make([]byte, 0, max(batchChunk*2*b.klen, n))
	}
	at := len(b.arena)
	b.arena = append(b.arena, key...)
	b.arena = append(b.arena, keyEnd...)
	return unsafe.String(unsafe.SliceData(b.arena[at:]), n)
}
