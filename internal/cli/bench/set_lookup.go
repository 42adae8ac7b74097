package bench

import (
	"runtime"
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
	runtime.KeepAlive(found)
	return took / float64(n)
}

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

// Allocations counts what lookups in a set of a shape allocate: some thousand
// single ones, and as many bursts of 64, hits and misses.
func Allocations(s *Shape, n int) (one, many uint64, err error) {
	entries := s.entries(n)
	built, err := s.build(entries)
	if err != nil {
		return 0, 0, err
	}
	hits, misses := s.keys(n, built, entries)
	view, size, found := built.View(), s.Desc.KeyLen, make([]*set.Entry, burst)
	for _, keys := range [][]byte{hits, misses} {
		one += mallocs(func() { single(view, keys, size) })
		many += mallocs(func() {
			for at := 0; at+burst*size <= len(keys); at += burst * size {
				view.LookupBatch(keys[at:at+burst*size], size, 0, found)
			}
		})
	}
	return one, many, nil
}

// mallocs is the smallest number of allocations of f in some runs: the
// runtime's own come now and then.
func mallocs(f func()) uint64 {
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}
