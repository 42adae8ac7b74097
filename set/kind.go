package set

import (
	"fmt"
	"math/bits"

	"verdict/set/elem"
)

// Kind is a way to store a set, with the kernel's name.
type Kind uint8

// The kinds, in the order in which the kernel considers them. The kernel has
// pipapo twice, plain and with AVX2; they are one kind here, since they differ
// in nothing but speed.
const (
	HashFast Kind = iota
	Hash
	Rhash
	Bitmap
	Rbtree
	Pipapo
	kinds
)

var kindNames = [kinds]string{"hash_fast", "hash", "rhash", "bitmap", "rbtree", "pipapo"}

func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// cost is what a kind promises for a description: classes of growth with the
// number of elements, and the estimated memory.
type cost struct {
	lookup, space growth
	bytes         uint64
}

type growth uint8

const (
	constant growth = iota
	logarithmic
	linear
)

const unbounded = 1<<64 - 1

const anyFeature = elem.Interval | elem.Map | elem.Timeout | elem.Object | elem.Eval

// features are the set flags that each kind can serve.
var features = [kinds]elem.Flags{
	HashFast: elem.Map | elem.Object,
	Hash:     elem.Map | elem.Object,
	Rhash:    elem.Map | elem.Object | elem.Timeout | elem.Eval,
	Bitmap:   0,
	Rbtree:   elem.Interval | elem.Map | elem.Object | elem.Timeout,
	Pipapo:   elem.Interval | elem.Map | elem.Object | elem.Timeout,
}

// Select returns the kind of set that the kernel takes for the description.
// Errors are those of Desc.Check, and ErrUnsupported if no kind fits.
//
// Ref: nf_tables_api.c, nft_select_set_ops
func Select(d *Desc) (Kind, error) {
	if err := d.Check(); err != nil {
		return 0, err
	}
	best, found, bestCost := Kind(0), false, cost{}
	for k := range kinds {
		if d.Flags&anyFeature&^features[k] != 0 {
			continue
		}
		c, ok := estimate(k, d)
		if ok && (!found || c.better(bestCost, d)) {
			best, found, bestCost = k, true, c
		}
	}
	if !found {
		return 0, fmt.Errorf("%w: no kind of set has flags %#x with %d fields", elem.ErrUnsupported, uint32(d.Flags), len(d.Fields))
	}
	return best, nil
}

// better tells whether c is strictly better than old by the set's policy.
func (c cost) better(old cost, d *Desc) bool {
	first, second := [2]growth{c.lookup, old.lookup}, [2]growth{c.space, old.space}
	if d.Policy == elem.Memory {
		if d.Size > 0 {
			return c.bytes < old.bytes
		}
		first, second = second, first
	}
	if first[0] != first[1] {
		return first[0] < first[1]
	}
	return second[0] < second[1]
}

// estimate returns the cost of a kind, and whether the kind fits at all. The
// byte counts matter only between a bitmap and a hash of stated size.
func estimate(k Kind, d *Desc) (cost, bool) {
	switch k {
	case HashFast:
		return cost{constant, linear, hashBytes(d)}, d.Size > 0 && d.KeyLen == 4
	case Hash:
		return cost{constant, linear, hashBytes(d)}, d.Size > 0 && d.KeyLen != 4
	case Rhash:
		return cost{constant, linear, unbounded}, true
	case Bitmap:
		const header = 24
		return cost{constant, constant, header + 2*(1<<(8*uint(min(d.KeyLen, 2))))/8}, d.KeyLen <= 2 && d.Exprs == 0
	case Rbtree:
		c := cost{logarithmic, linear, unbounded}
		if d.Size > 0 {
			const header, node = 120, 48
			c.bytes = header + node*uint64(d.Size)
		}
		return c, len(d.Fields) <= 1
	default:
		b, ok := pipapoBytes(d)
		return cost{logarithmic, linear, b}, ok
	}
}

// hashBytes is the size of a hash with the stated number of elements.
//
// Ref: nft_set_hash.c, nft_hash_estimate
func hashBytes(d *Desc) uint64 {
	const header, bucket, node = 8, 8, 32
	return header + bucket*hashBuckets(d.Size) + node*uint64(d.Size)
}

// hashBuckets is the number of buckets for size elements: four thirds of it,
// rounded up to a power of two, at most 2^31.
func hashBuckets(size uint32) uint64 {
	n := uint64(size) * 4 / 3
	if n <= 1 {
		return 1
	}
	return min(uint64(1)<<bits.Len64(n-1), 1<<31)
}

// pipapoBytes estimates the tables of a concatenation with ranges; false if
// it is not one, or has a field that is too long.
//
// Ref: nft_set_pipapo.c, nft_pipapo_estimate
func pipapoBytes(d *Desc) (uint64, bool) {
	if d.Flags&elem.Interval == 0 || len(d.Fields) < 2 {
		return 0, false
	}
	entry := uint64(0)
	for _, n := range d.Fields {
		if n > 16 {
			return 0, false
		}
		rules := uint64(2 * (bits.Len(uint(n)*8) - 1))
		entry += rules*256/8 + rules*8
	}
	const header, field = 96, 48
	return uint64(d.Size)*entry + header + field*uint64(len(d.Fields)), true
}
