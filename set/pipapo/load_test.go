package pipapo_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"verdict/set/elem"
	"verdict/set/pipapo"
)

// disjoint makes n elements 10.x.y.z-10.x.y.z+3 . port, each with addresses
// of its own.
func disjoint(n int) []*elem.Entry {
	b := elem.NewBatch(8)
	es := make([]*elem.Entry, n)
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	for i, p := range rnd.Perm(n) {
		var low, high [8]byte
		a := uint32(10)<<24 + uint32(p)*4
		port := uint16(1 + rnd.IntN(65535))
		binary.BigEndian.PutUint32(low[:], a)
		binary.BigEndian.PutUint32(high[:], a+3)
		binary.BigEndian.PutUint16(low[4:], port)
		binary.BigEndian.PutUint16(high[4:], port)
		es[i] = b.New(low[:], high[:])
	}
	return es
}

// shared makes n elements with 80 ports to each range of addresses.
func shared(n int) []*elem.Entry {
	b := elem.NewBatch(8)
	es := make([]*elem.Entry, n)
	rnd := rand.New(rand.NewPCG(2, uint64(n)))
	for i, p := range rnd.Perm(n) {
		var low, high [8]byte
		a := uint32(10)<<24 + uint32(p/80)*16
		port := uint16(p%80) * 800
		binary.BigEndian.PutUint32(low[:], a)
		binary.BigEndian.PutUint32(high[:], a+15)
		binary.BigEndian.PutUint16(low[4:], port)
		binary.BigEndian.PutUint16(high[4:], port+uint16(rnd.IntN(700)))
		es[i] = b.New(low[:], high[:])
	}
	return es
}

// crossing draws elements whose ranges overlap in both fields until n are
// accepted.
func crossing(n int) []*elem.Entry {
	b := elem.NewBatch(8)
	rnd := rand.New(rand.NewPCG(3, uint64(n)))
	s, _ := pipapo.New(ptr(shape("net,port")))
	es := make([]*elem.Entry, 0, n)
	for len(es) < n {
		var low, high [8]byte
		a, p := rnd.Uint32()>>1, uint16(rnd.IntN(60000))
		width, tall := uint32(rnd.IntN(1<<23)), uint16(rnd.IntN(200))
		binary.BigEndian.PutUint32(low[:], a)
		binary.BigEndian.PutUint32(high[:], a+width)
		binary.BigEndian.PutUint16(low[4:], p)
		binary.BigEndian.PutUint16(high[4:], p+tall)
		e := b.New(low[:], high[:])
		if _, err := s.Insert(e, 0); err == nil {
			es = append(es, e)
		}
	}
	return es
}

func ptr[T any](v T) *T { return &v }

func TestLoadTime(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(int) []*elem.Entry
		n    int
	}{{"disjoint", disjoint, 1000}, {"disjoint", disjoint, 30000}, {"disjoint", disjoint, 800000}, {"shared", shared, 800000}, {"crossing", crossing, 100000}} {
		es := c.make(c.n)
		runtime.GC()
		var a, z runtime.MemStats
		runtime.ReadMemStats(&a)
		s, _ := pipapo.New(ptr(shape("net,port")))
		t0 := time.Now()
		if _, _, err := s.InsertAll(es, 0); err != nil {
			t.Fatal(err)
		}
		s.Commit(0)
		d := time.Since(t0)
		runtime.GC()
		runtime.ReadMemStats(&z)
		keys := make([][]byte, 1<<16)
		rnd := rand.New(rand.NewPCG(1, 1))
		for i := range keys {
			keys[i] = []byte(es[rnd.IntN(len(es))].Last())
		}
		hits := 0
		t1 := time.Now()
		for range 10 {
			for _, k := range keys {
				if s.Lookup(k, 0) != nil {
					hits++
				}
			}
		}
		look := time.Since(t1)
		fmt.Printf("%s %d: %v, %d B/elem, lookup %.1f ns, hits %d %+v\n", c.name, c.n, d, (int64(z.HeapAlloc)-int64(a.HeapAlloc))/int64(c.n), float64(look.Nanoseconds())/655360, hits, s.Stats())
	}
}
