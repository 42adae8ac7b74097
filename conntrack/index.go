package conntrack

import (
	"encoding/binary"
	"math/bits"

	"verdict/catalog"
)

// index finds connections by either tuple: an open hash table with linear
// probing. A slot of eight bytes holds the tuple's hash, which also decides
// where it belongs, and the connection's place with the direction; a look-up
// touches a connection only when 32 bits of the hash agree.
type index struct {
	slots []slot
	used  int
	seed  uint64
}

// slot is one entry: ref is (place+1)<<1 | direction, 0 for an empty slot.
type slot struct{ hash, ref uint32 }

const minSlots = 1024

func (x *index) init(seed uint64) {
	x.seed = mix(seed^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
	x.slots = make([]slot, minSlots)
	x.used = 0
}

// mix multiplies to 128 bits and folds.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// hash mixes a tuple and the zone id that it is compared under. It is the same
// on every machine for the same seed.
func (x *index) hash(t *Tuple, zone uint16) uint32 {
	const k0, k1, k2 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3
	le := binary.LittleEndian
	ports := uint64(t.SrcPort) | uint64(t.DstPort)<<16 | uint64(t.Protocol)<<32 | uint64(t.Family)<<40 | uint64(zone)<<48
	h := mix(le.Uint64(t.Src[:])^k0^x.seed, le.Uint64(t.Dst[:])^k1)
	if t.Family == catalog.FamilyIP6 {
		h ^= mix(le.Uint64(t.Src[8:])^k1, le.Uint64(t.Dst[8:])^k2^x.seed)
	}
	h = mix(h^ports, k2^x.seed)
	return uint32(h ^ h>>32)
}

// home is where an entry belongs.
func (x *index) home(hash uint32) uint32 { return uint32(uint64(hash) * uint64(len(x.slots)) >> 32) }

// next is the place after i, in a ring.
func (x *index) next(i uint32) uint32 {
	if i++; int(i) == len(x.slots) {
		return 0
	}
	return i
}

// behind is how far i lies behind j in the ring.
func (x *index) behind(i, j uint32) uint32 {
	if i >= j {
		return i - j
	}
	return i + uint32(len(x.slots)) - j
}

// insert adds an entry. The slots grow by half when four fifths are full.
func (x *index) insert(hash, ref uint32) {
	if (x.used+1)*5 > len(x.slots)*4 {
		x.grow()
	}
	x.place(slot{hash, ref})
	x.used++
}

func (x *index) place(s slot) {
	i := x.home(s.hash)
	for x.slots[i].ref != 0 {
		i = x.next(i)
	}
	x.slots[i] = s
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]slot, len(old)+len(old)/2)
	for _, s := range old {
		if s.ref != 0 {
			x.place(s)
		}
	}
}

// remove deletes an entry and closes the gap, so that no tombstones are left.
// It reports whether the entry was there.
func (x *index) remove(hash, ref uint32) bool {
	i := x.home(hash)
	for x.slots[i].ref != ref {
		if x.slots[i].ref == 0 {
			return false
		}
		i = x.next(i)
	}
	x.used--
	for j := i; ; {
		j = x.next(j)
		s := x.slots[j]
		if s.ref == 0 {
			break
		}
		// s may move to the gap only if its home is not behind the gap.
		if x.behind(j, x.home(s.hash)) >= x.behind(j, i) {
			x.slots[i] = s
			i = j
		}
	}
	x.slots[i] = slot{}
	return true
}

func refOf(c *Conn, d Direction) uint32 { return (c.index+1)<<1 | uint32(d) }
