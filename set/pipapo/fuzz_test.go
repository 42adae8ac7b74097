package pipapo_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"verdict/set/settest"
)

// FuzzSet checks sequences of operations against the linear model.
func FuzzSet(f *testing.F) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, seed))
		var b []byte
		for range 400 {
			b = binary.LittleEndian.AppendUint64(b, rnd.Uint64()>>rnd.IntN(64))
		}
		f.Add(b)
	}
	f.Fuzz(settest.Fuzz(settest.Config{Desc: shape("net6,port"), New: newSet}))
}
