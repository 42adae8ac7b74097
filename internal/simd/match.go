package simd

// Match16 compares two numbers with sixteen pairs of ranges. box has four rows
// of sixteen: lower ends for x, widths for x, lower ends for y, widths for y.
// Bit i of the result tells that x and y are both in their range i.
func Match16(box *[64]uint32, x, y uint32) uint32 { return match16Generic(box, x, y) }

func match16Generic(box *[64]uint32, x, y uint32) uint32 {
	hits := uint32(0)
	for i := range 16 {
		if x-box[i] <= box[16+i] && y-box[32+i] <= box[48+i] {
			hits |= 1 << i
		}
	}
	return hits
}

// CountNotAbove returns how many of the first n ascending keys are not above
// x. n is at most 64; keys from n on may have any value.
func CountNotAbove(keys *[64]uint32, n int, x uint32) int { return countGeneric(keys, n, x) }

func countGeneric(keys *[64]uint32, n int, x uint32) int {
	low := 0
	for n > 1 {
		half := n / 2
		if keys[(low+half-1)&63] <= x {
			low += half
		}
		n -= half
	}
	if n == 1 && keys[low&63] <= x {
		low++
	}
	return low
}
