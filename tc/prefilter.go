package tc

import (
	"math/bits"

	"verdict/offload"
)

// prefilter tells which of many units (masks of a classifier, instances of a
// chain) may match a packet: a necessary condition, computed from the single
// bytes of the packet's fields. Who has a bit is then asked as always, in
// order, so that nothing but time changes.
//
// For each byte that any unit tests there is a table of 256 sets; the result
// is the intersection of the sets of the packet's bytes.
type prefilter struct {
	words int
	at    []uint16
	sets  []uint64 // [len(at)][256][words]
}

// Bounds: fewer units are not worth it, more do not fit the scratch space, and
// units with very many filters are always asked.
const (
	prefilterMin     = 4
	prefilterMax     = 1024
	prefilterFilters = 2048
	prefilterWords   = prefilterMax / 64
)

// candidateSet is a set of units.
type candidateSet [prefilterWords]uint64

// unit is what a prefilter chooses from: filters of flower by mask. A unit
// without filters to look at is always a candidate.
type unit struct{ masks []*flowerMask }

func (u *unit) small() bool {
	n := 0
	for _, m := range u.masks {
		n += m.count
	}
	return len(u.masks) > 0 && n <= prefilterFilters
}

// newPrefilter builds the tables; nil where they are not worth it.
func newPrefilter(units []unit) *prefilter {
	if len(units) < prefilterMin || len(units) > prefilterMax {
		return nil
	}
	f := &prefilter{words: (len(units) + 63) / 64}
	var used [offload.KeySize]bool
	any := false
	for i := range units {
		if !units[i].small() {
			continue
		}
		for _, m := range units[i].masks {
			for at, b := range m.mask {
				if b != 0 && !volatileByte(at) {
					used[at], any = true, true
				}
			}
		}
	}
	if !any {
		return nil
	}
	for at, is := range used {
		if is {
			f.at = append(f.at, uint16(at))
		}
	}
	f.sets = make([]uint64, len(f.at)*256*f.words)
	for i := range units {
		f.add(i, &units[i])
	}
	return f
}

// volatileByte reports bytes that are not to be judged in advance: those of the
// connection, which change without a new dissection, and the bounds of ranges.
func volatileByte(at int) bool {
	return at >= offload.FieldCTState.Off && at < offload.FieldRangeDstMax.Off+offload.FieldRangeDstMax.Len
}

// add enters one unit.
func (f *prefilter) add(i int, u *unit) {
	word, bit := i/64, uint64(1)<<(i%64)
	for n, at := range f.at {
		sets := f.sets[n*256*f.words : (n+1)*256*f.words]
		if !u.small() {
			for v := range 256 {
				sets[v*f.words+word] |= bit
			}
			continue
		}
		for _, m := range u.masks {
			m.mayMatch(int(at), func(v int) { sets[v*f.words+word] |= bit })
		}
	}
}

// mayMatch tells the values of a byte that some filter of the mask takes.
func (m *flowerMask) mayMatch(at int, yes func(v int)) {
	mask := m.mask[at]
	if mask == 0 {
		for v := range 256 {
			yes(v)
		}
		return
	}
	for _, head := range m.buckets {
		for f := head; f != nil; f = f.next {
			want := f.byteAt(at) & mask
			if mask == 0xff {
				yes(int(want))
				continue
			}
			for v := range 256 {
				if byte(v)&mask == want {
					yes(v)
				}
			}
		}
	}
}

// candidates intersects the sets of the packet's bytes.
func (f *prefilter) candidates(k *offload.Key, out *candidateSet) {
	if f.words == 1 {
		c := ^uint64(0)
		for n, at := range f.at {
			c &= f.sets[n<<8|int(k[at])]
		}
		out[0] = c
		return
	}
	words := f.words
	for w := range words {
		out[w] = ^uint64(0)
	}
	for n, at := range f.at {
		row := f.sets[(n<<8|int(k[at]))*words:]
		row = row[:words]
		for w, b := range row {
			out[w] &= b
		}
	}
}

// next returns the first candidate from i on, limit if there is none.
func (c *candidateSet) next(i, limit int) int {
	for i < limit {
		if b := c[i/64] >> (i % 64); b != 0 {
			return min(i+bits.TrailingZeros64(b), limit)
		}
		i = (i/64 + 1) * 64
	}
	return limit
}
