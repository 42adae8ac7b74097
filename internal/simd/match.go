package simd

import "unsafe"

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

func findGeneric(keys *[64]uint32, n int, k uint32, boxes *[64]uint32, stride uintptr, x, y uint32) (i int, hits uint32) {
	i = countGeneric(keys, n, k) - 1
	box := (*[64]uint32)(unsafe.Add(unsafe.Pointer(boxes), uintptr(i)*stride))
	return i, match16Generic(box, x, y)
}

func countEachGeneric(keys []*[64]uint32, n, x, counts []uint32) {
	for i := range counts {
		counts[i] = uint32(countGeneric(keys[i], int(n[i]), x[i]))
	}
}

func match16EachGeneric(boxes []*[64]uint32, x, y, hits []uint32) {
	for i := range hits {
		hits[i] = match16Generic(boxes[i], x[i], y[i])
	}
}
