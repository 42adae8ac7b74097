package bench

import (
	"unsafe"

	"verdict/set"
)

// burst is the number of keys of a batched lookup.
const burst = 64

// single looks keys up one after the other and returns the time of one. The
// processor may overlap them, as it does for packets that come back to back.
func single(v *set.View, keys []byte, size int) float64 {
	n := len(keys) / size
	found := 0
	took := timed(func() {
		for at := 0; at < len(keys); at += size {
			if v.Lookup(keys[at:at+size:at+size], 0) != nil {
				found++
			}
		}
	})
	answers += found
	return took / float64(n)
}

// answers keeps results in use.
var answers int

// noBits is zero, which the compiler does not know.
var noBits uintptr

// dependent looks keys up of which each is known only when the result of the
// one before is: the latency of a lookup.
func dependent(v *set.View, keys []byte, size int) float64 {
	n := len(keys) / size
	mask := noBits
	took := timed(func() {
		for at := 0; at < len(keys); {
			e := v.Lookup(keys[at:at+size:at+size], 0)
			at += size + int(uintptr(unsafe.Pointer(e))&mask)
		}
	})
	return took / float64(n)
}

// bursts looks keys up in bursts of 64 and returns the time of one lookup.
func bursts(v *set.View, keys []byte, size int) float64 {
	n := len(keys) / size / burst
	found := make([]*set.Entry, burst)
	took := timed(func() {
		for b := range n {
			v.LookupBatch(keys[b*burst*size:(b+1)*burst*size], size, 0, found)
		}
	})
	return took / float64(n*burst)
}

// lookups are the ways to look up, with what they measure.
var lookups = []struct {
	hit, miss What
	measure   func(*set.View, []byte, int) float64
}{
	{HitSingle, MissSingle, single},
	{HitDependent, MissDependent, dependent},
	{HitBurst, MissBurst, bursts},
}
