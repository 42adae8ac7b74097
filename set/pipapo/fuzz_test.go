package pipapo_test

import (
	"math/rand/v2"
	"testing"

	"verdict/set/settest"
)

// FuzzSet checks sequences of operations against the linear model.
func FuzzSet(f *testing.F) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, seed))
		var b []byte
		for range 600 {
			b = append(b, byte(rnd.Uint32()))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		settest.Fuzz(t, settest.Config{Desc: shape("net6,port"), New: newSet}, input)
	})
}
