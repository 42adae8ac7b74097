package hash

import (
	"encoding/binary"
	"math/bits"

	"verdict/set/elem"
)

const (
	mix1 = 0x9e3779b97f4a7c15
	mix2 = 0xd6e8feb86659fd93
)

// word is what a slot stores for a key: the key itself, or for keys of more
// than eight bytes a hash of it.
func word(key []byte, seed uint64) uint64 {
	switch len(key) {
	case 4:
		return uint64(binary.LittleEndian.Uint32(key))
	case 8:
		return binary.LittleEndian.Uint64(key)
	}
	if len(key) < 8 {
		w := uint64(0)
		for i, b := range key {
			w |= uint64(b) << (8 * i)
		}
		return w
	}
	h := seed ^ uint64(len(key))*mix2
	for len(key) >= 16 {
		h = fold(h^binary.LittleEndian.Uint64(key), mix1^binary.LittleEndian.Uint64(key[8:]))
		key = key[16:]
	}
	if len(key) == 0 {
		return h
	}
	var rest [16]byte
	copy(rest[:], key)
	return fold(h^binary.LittleEndian.Uint64(rest[:]), mix2^binary.LittleEndian.Uint64(rest[8:]))
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// place spreads a word over the table: the high bits choose the page, the low
// bits the first slot in it.
func place(w, seed uint64) uint64 { return fold(w^seed^mix2, mix1) }

// wordOf is word for an entry's key.
func wordOf(e *elem.Entry, seed uint64) uint64 {
	var buf [elem.MaxKeyLen]byte
	return word(buf[:copy(buf[:], e.Key())], seed)
}
