package pipapo_test

import (
	"flag"
	"testing"

	"verdict/internal/simd"
	"verdict/set/settest"
)

var soak = flag.Int("soak", 6_000, "random operations in each shape at each level")

// Random operations in each shape, at each level of vector instructions.
func TestSoak(t *testing.T) {
	n := *soak
	if testing.Short() {
		n = 2_000
	}
	for l := simd.Generic; l <= simd.Supported(); l++ {
		for i, s := range settest.Shapes {
			t.Run(l.String()+"/"+s.Name, func(t *testing.T) {
				defer simd.Set(l)()
				c := settest.Config{Desc: s.Desc(), New: newSet}
				settest.Soak(t, c, n, uint64(i)+10*uint64(l))
				c.Large = true
				settest.Soak(t, c, n/20, uint64(i)+10*uint64(l))
			})
		}
	}
}
