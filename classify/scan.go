package classify

import (
	"math/bits"

	"verdict/internal/simd"
)

// scan compares all rows with a key, sixteen in one step.
type scan struct {
	lanes  []uint32 // of the columns that some row bounds
	blocks []uint32
	orders []uint32
}

// scanBlocks is how many blocks of sixteen rows a scan looks at in one go.
const scanBlocks = 8

// newScan stores rows, which are in ascending order. lanes says where columns
// are in a key.
func newScan(r *rows, lanes []int) *scan {
	s := &scan{orders: r.orders}
	var used []int
	for c := range r.columns {
		for i := range r.count() {
			if !r.row(i)[c].all() {
				used = append(used, c)
				s.lanes = append(s.lanes, uint32(lanes[c]))
				break
			}
		}
	}
	if len(used) == 0 && len(r.columns) > 0 { // every row matches: any column will do
		used, s.lanes = []int{0}, []uint32{uint32(lanes[0])}
	}
	blocks := (r.count() + 15) / 16
	s.blocks = make([]uint32, blocks*len(used)*32)
	for i := range r.count() {
		block := s.blocks[i/16*len(used)*32:]
		row := r.row(i)
		for j, c := range used {
			block[32*j+i%16], block[32*j+16+i%16] = row[c].Low, row[c].Width
		}
	}
	return s
}

// next returns the lowest order from one on that matches and is below best, or
// best.
func (s *scan) next(key []uint32, from, best uint32) uint32 {
	if len(s.lanes) == 0 { // no columns: everything matches
		return firstOrder(s.orders, from, best)
	}
	var found [scanBlocks]uint16
	size := len(s.lanes) * 32
	for first := 0; first < len(s.orders); first += 16 * scanBlocks {
		if s.orders[first] >= best {
			return best
		}
		last := min(first+16*scanBlocks, len(s.orders))
		if s.orders[last-1] < from {
			continue
		}
		blocks := 1 // that begin with an order below best
		for first+16*blocks < last && s.orders[first+16*blocks] < best {
			blocks++
		}
		part := found[:blocks]
		simd.MatchColumns(s.blocks[first/16*size:], s.lanes, key, part)
		for b, mask := range part {
			for m := uint32(mask); m != 0; m &= m - 1 {
				i := first + 16*b + bits.TrailingZeros32(m)
				if i >= last {
					break
				}
				if o := s.orders[i]; o >= from {
					return min(o, best)
				}
			}
		}
	}
	return best
}

// firstOrder is the first of ascending orders from one on, or best.
func firstOrder(orders []uint32, from, best uint32) uint32 {
	for _, o := range orders {
		if o >= from {
			return min(o, best)
		}
	}
	return best
}

func (s *scan) bytes() int { return 4 * (len(s.blocks) + len(s.orders) + len(s.lanes)) }
