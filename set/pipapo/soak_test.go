package pipapo_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"verdict/internal/simd"
	"verdict/set/elem"
	"verdict/set/settest"
)

var soak = flag.Int("soak", 2_500, "random operations in each shape at each level")

// Random operations in each shape, at each level of vector instructions.
func TestSoak(t *testing.T) {
	n := *soak
	if testing.Short() {
		n = 2_000
	}
	for l := simd.Generic; l <= simd.Supported(); l++ {
		for i, s := range slices.Concat(settest.Shapes, moreShapes) {
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

// The level may change between any two lookups, as where vector registers
// cannot be used for a while: the answers stay the same.
func TestLevelChanges(t *testing.T) {
	each(t, shape("net6,port,mac"), func(t *testing.T, s elem.Backend) {
		var es []*elem.Entry
		for i := range 600 {
			es = append(es, el(fmt.Sprintf("2001:db8::%x:0-2001:db8::%x:ff . %d-%d . 02:00:00:00:%02x:%02x", i, i, i, i+9, i/200, i%200)))
		}
		add(t, s, 0, es...)
		s.Commit(0)
		rnd := rand.New(rand.NewPCG(6, 6))
		for range 5000 {
			restore := simd.Set(simd.Level(rnd.IntN(int(simd.Supported()) + 1)))
			i := rnd.IntN(len(es))
			k := []byte(es[i].Last())
			got := s.Lookup(k, 0)
			k[2+rnd.IntN(12)] ^= 0x80
			wrong := s.Lookup(k, 0)
			restore()
			if got != es[i] || wrong == es[i] {
				t.Fatalf("element %d: %v, with another key %v", i, got, wrong)
			}
		}
	})
}
