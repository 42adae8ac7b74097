package pipapo_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"verdict/set/elem"
	"verdict/set/pipapo"
	"verdict/set/settest"
)

// loaded returns a set with the elements, and keys of hits and misses, one
// after the other.
func loaded(b testing.TB, es []*elem.Entry) (s *pipapo.Set, hits, misses []byte) {
	b.Helper()
	s, err := pipapo.New(ptr(shape("net,port")))
	if err != nil {
		b.Fatal(err)
	}
	if _, _, err := s.InsertAll(es, 0); err != nil {
		b.Fatal(err)
	}
	s.Commit(0)
	rnd := rand.New(rand.NewPCG(9, 9))
	for range 1 << 16 {
		k := []byte(es[rnd.IntN(len(es))].Last())
		hits = append(hits, k...)
		k[5] ^= 0x55
		misses = append(misses, k...)
	}
	return s, hits, misses
}

func BenchmarkLookup(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(int) []*elem.Entry
		n    int
	}{
		{"disjoint", disjoint, 1000}, {"disjoint", disjoint, 30000}, {"disjoint", disjoint, 800000},
		{"shared", shared, 1000}, {"shared", shared, 30000}, {"shared", shared, 800000}, {"crossing", crossing, 100000},
	} {
		s, hits, misses := loaded(b, c.make(c.n))
		for _, k := range []struct {
			name string
			keys []byte
		}{{"hit", hits}, {"miss", misses}} {
			b.Run(fmt.Sprintf("%s/%d/%s", c.name, c.n, k.name), func(b *testing.B) {
				i := 0
				for b.Loop() {
					s.Lookup(k.keys[i:i+8], 0)
					i = (i + 8) % len(k.keys)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/%s/burst", c.name, c.n, k.name), func(b *testing.B) {
				found := make([]*elem.Entry, 64)
				i := 0
				for n := 0; n < b.N; n += 64 {
					s.LookupBatch(k.keys[i:i+64*8], 8, 0, found)
					i = (i + 64*8) % len(k.keys)
				}
			})
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct {
		name string
		make func(int) []*elem.Entry
		n    int
	}{{"disjoint", disjoint, 1000}, {"disjoint", disjoint, 800000}, {"shared", shared, 800000}, {"crossing", crossing, 100000}} {
		b.Run(fmt.Sprintf("%s/%d", c.name, c.n), func(b *testing.B) {
			es := c.make(c.n)
			for b.Loop() {
				s, err := pipapo.New(ptr(shape("net,port")))
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := s.InsertAll(es, 0); err != nil {
					b.Fatal(err)
				}
				s.Commit(0)
				b.ReportMetric(float64(s.Stats().Bytes)/float64(c.n), "B/element")
			}
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	s, _, _ := loaded(b, disjoint(800000))
	for b.Loop() {
		n := 0
		s.Live().Walk(func(*elem.Entry) bool { n++; return true })
		if n != 800000 {
			b.Fatal(n)
		}
	}
}

// One element more and one less in a set of 800,000, each a transaction.
func BenchmarkUpdate(b *testing.B) {
	s, _, _ := loaded(b, disjoint(800000))
	i := 0
	for b.Loop() {
		i++
		e := elem.New([]byte{11, byte(i >> 16), byte(i >> 8), byte(i), 0, 80, 0, 0}, nil)
		if _, err := s.Insert(e, 0); err != nil {
			b.Fatal(err)
		}
		s.Commit(0)
		if _, err := s.Delete(e, 0); err != nil {
			b.Fatal(err)
		}
		s.Commit(0)
	}
}

// The shapes of the kernel's own performance script.
func BenchmarkShapes(b *testing.B) {
	for _, shape := range settest.Shapes {
		b.Run(shape.Name, func(b *testing.B) {
			for _, n := range []int{1000, 30_000} {
				settest.Benchmark(b, settest.Config{Desc: shape.Desc(), New: newSet}, n, func(i int) []*elem.Entry {
					return []*elem.Entry{shape.Element(i)}
				})
			}
		})
	}
}
