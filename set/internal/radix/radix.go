// Package radix sorts numbers by their upper halves.
package radix

import "slices"

const (
	digit = 11
	// short is the length below which comparing is faster.
	short = 2048
)

// Sort sorts numbers by their upper 32 bits, and equal ones by the lower bits
// or in their former order. It returns the sorted numbers, which are in one of
// the two slices; both must have the same length.
func Sort(numbers, buffer []uint64) []uint64 {
	if len(numbers) < short {
		slices.Sort(numbers)
		return numbers
	}
	from, to := numbers, buffer
	for shift := 32; shift < 64; shift += digit {
		var count [1<<digit + 1]int
		for _, p := range from {
			count[p>>shift&(1<<digit-1)+1]++
		}
		for i := 1; i < len(count); i++ {
			count[i] += count[i-1]
		}
		for _, p := range from {
			d := p >> shift & (1<<digit - 1)
			to[count[d]] = p
			count[d]++
		}
		from, to = to, from
	}
	return from
}
