package settest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"verdict/set/elem"
)

// Benchmark measures a backend with n elements, each made by one call of make:
// loading them, lookups that hit and that miss, single and in bursts, and a
// transaction of one element added or deleted.
func Benchmark(b *testing.B, c Config, n int, make func(i int) []*elem.Entry) {
	var es []*elem.Entry
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	for _, i := range rnd.Perm(n) {
		es = append(es, make(i)...)
	}
	b.Run(fmt.Sprintf("load/%d", n), func(b *testing.B) {
		for b.Loop() {
			load(b, c, es)
		}
	})
	s := load(b, c, es)
	hits, misses := benchKeys(rnd, es, s.Live())
	for _, k := range []struct {
		name string
		keys []byte
	}{{"hit", hits}, {"miss", misses}} {
		if len(k.keys) > 0 {
			benchLookups(b, s, fmt.Sprintf("%s/%d", k.name, n), k.keys, c.Desc.KeyLen)
		}
	}
	b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) {
		for b.Loop() {
			more := make(n)
			if k, _, err := s.InsertAll(more, 0); err != nil {
				b.Fatal(k, err)
			}
			s.Commit(0)
			for _, e := range more {
				if _, err := s.Delete(e, 0); err != nil {
					b.Fatal(err)
				}
			}
			s.Commit(0)
		}
	})
}

func load(b *testing.B, c Config, es []*elem.Entry) elem.Backend {
	s, err := c.New(&c.Desc)
	if err != nil {
		b.Fatal(err)
	}
	if n, _, err := s.InsertAll(es, 0); err != nil {
		b.Fatal(n, err)
	}
	s.Commit(0)
	return s
}

// benchKeys returns keys of elements, and keys of about the same values that
// are in none.
func benchKeys(rnd *rand.Rand, es []*elem.Entry, v elem.View) (hits, misses []byte) {
	const n = 1 << 14
	size := len(es[0].Key())
	for tries := 0; tries < 8*n && (len(hits) < n*size || len(misses) < n*size); tries++ {
		key := []byte(es[rnd.IntN(len(es))].Last())
		if rnd.IntN(2) == 0 {
			key[rnd.IntN(size)] ^= 1 << rnd.IntN(8)
		}
		if v.Lookup(key, 0) == nil {
			misses = append(misses, key...)
		} else {
			hits = append(hits, key...)
		}
	}
	return hits, misses
}

func benchLookups(b *testing.B, s elem.Backend, name string, keys []byte, size int) {
	b.Run(name, func(b *testing.B) {
		i := 0
		for b.Loop() {
			s.Lookup(keys[i:i+size], 0)
			if i += size; i == len(keys) {
				i = 0
			}
		}
	})
	const burst = 64
	view, found := s.Live(), make([]*elem.Entry, burst)
	b.Run(name+"/burst", func(b *testing.B) {
		i := 0
		for n := 0; n < b.N; n += burst {
			if i+burst*size > len(keys) {
				i = 0
			}
			view.LookupBatch(keys[i:i+burst*size], size, 0, found)
			i += burst * size
		}
	})
}
