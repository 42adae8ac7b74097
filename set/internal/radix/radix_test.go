package radix

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 100, 2047, 2048, 50000} {
		numbers := make([]uint64, n)
		for i := range numbers {
			numbers[i] = uint64(rnd.Uint32()>>rnd.IntN(32))<<32 | uint64(i)
		}
		want := slices.Clone(numbers)
		slices.Sort(want)
		if got := Sort(numbers, make([]uint64, n)); !slices.Equal(got, want) {
			t.Errorf("%d numbers are not sorted", n)
		}
	}
}
