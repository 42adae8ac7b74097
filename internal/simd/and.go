package simd

// A lookup table of one field, see And8 and And4, is groups of buckets of words: bucket v of group
// g begins at word (g<<bits | v) * size. And8 takes groups of eight bits, one
// per key byte; And4 takes groups of four, two per key byte, high half first.

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

// and8Tail is and8Generic for the words from first on.
func and8Tail(dst, table []uint64, size, first int, key []byte, keep bool) {
	for i := first; i < size; i++ {
		w := ^uint64(0)
		if keep {
			w = dst[i]
		}
		for g, b := range key {
			w &= table[(g<<8|int(b))*size+i]
		}
		dst[i] = w
	}
}

// and4Tail is and4Generic for the words from first on.
func and4Tail(dst, table []uint64, size, first int, key []byte, keep bool) {
	for i := first; i < size; i++ {
		w := ^uint64(0)
		if keep {
			w = dst[i]
		}
		for g, b := range key {
			w &= table[(g<<5|int(b>>4))*size+i] & table[(g<<5|16|int(b&15))*size+i]
		}
		dst[i] = w
	}
}
