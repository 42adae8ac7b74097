package simd

// A lookup table of one field is groups of buckets of words: bucket v of group
// g begins at word (g<<bits | v) * size. And8 takes groups of eight bits, one
// per key byte; And4 takes groups of four, two per key byte, high half first.

// And8 stores in dst, size words, the intersection of the buckets that the key
// bytes select in table, and with dst's former content if keep is set. table
// must have 256*len(key)*size words, dst at least size.
func And8(dst, table []uint64, size int, key []byte, keep bool) {
	and8Generic(dst, table, size, key, keep)
}

// And4 is And8 for groups of four bits: table has 32*len(key)*size words.
func And4(dst, table []uint64, size int, key []byte, keep bool) {
	and4Generic(dst, table, size, key, keep)
}

func and8Generic(dst, table []uint64, size int, key []byte, keep bool) {
	dst = dst[:size]
	for g, b := range key {
		row := table[(g<<8|int(b))*size:][:size]
		if g == 0 && !keep {
			copy(dst, row)
			continue
		}
		and(dst, row)
	}
}

func and4Generic(dst, table []uint64, size int, key []byte, keep bool) {
	dst = dst[:size]
	for g, b := range key {
		high := table[(g<<5|int(b>>4))*size:][:size]
		low := table[(g<<5|16|int(b&15))*size:][:size]
		if g == 0 && !keep {
			copy(dst, high)
		} else {
			and(dst, high)
		}
		and(dst, low)
	}
}

// and stores the intersection of dst and src in dst.
func and(dst, src []uint64) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] &= src[i]
	}
}
