package simd

func match16Generic(box *[64]uint32, x, y uint32) uint32 {
	hits := uint32(0)
	for i := range 16 {
		if x-box[i] <= box[16+i] && y-box[32+i] <= box[48+i] {
			hits |= 1 << i
		}
	}
	return hits
}

func countGeneric(keys *[64]uint32, n int, x uint32) int {
	low := 0
	for n > 1 {
		half := n / 2
		above := int((uint64(x) - uint64(keys[(low+half-1)&63])) >> 63) // 1 if the key is above x
		low += half & (above - 1)
		n -= half
	}
	if n == 1 && keys[low&63] <= x {
		low++
	}
	return low
}
