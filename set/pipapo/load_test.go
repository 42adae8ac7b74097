package pipapo_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
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

// Built at once or one by one, a set answers alike, and like the linear model
// on the keys that elements begin and end with.
func TestBulkAndSingle(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(int) []*elem.Entry
		n    int
	}{{"disjoint", disjoint, 20000}, {"shared", shared, 20000}, {"crossing", crossing, 4000}} {
		t.Run(c.name, func(t *testing.T) {
			es := c.make(c.n)
			bulk, err := pipapo.New(ptr(shape("net,port")))
			if err != nil {
				t.Fatal(err)
			}
			if n, _, err := bulk.InsertAll(es, 0); err != nil {
				t.Fatal(n, err)
			}
			bulk.Commit(0)
			var keys []byte
			for _, e := range es {
				keys = append(append(keys, e.Key()...), e.Last()...)
			}
			found := make([]*elem.Entry, 2*len(es))
			bulk.LookupBatch(keys, 8, 0, found)
			for i, e := range found {
				if got := bulk.Lookup(keys[8*i:8*i+8], 0); got != e || e == nil {
					t.Fatalf("%x: %v, in a burst %v", keys[8*i:8*i+8], got, e)
				}
			}
			single, err := pipapo.New(ptr(shape("net,port")))
			if err != nil {
				t.Fatal(err)
			}
			add(t, single, 0, es...)
			single.Commit(0)
			rnd := rand.New(rand.NewPCG(4, 4))
			for i, e := range found {
				k := keys[8*i : 8*i+8]
				if got := single.Lookup(k, 0); got != e {
					t.Fatalf("%x: %v one by one, %v at once", k, got, e)
				}
				k[rnd.IntN(6)] ^= 1 << rnd.IntN(8)
				if a, b := single.Lookup(k, 0), bulk.Lookup(k, 0); a != b {
					t.Fatalf("%x: %v one by one, %v at once", k, a, b)
				}
			}
		})
	}
}

// A batch stops at its first bad element, with that element's error, and an
// abort leaves the set as it was.
func TestBulkErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  *elem.Entry
		want error
	}{
		{"identical", el("10.0.3.32-10.0.3.35 . 7"), elem.ErrExist},
		{"starts inside", el("10.0.3.33-10.0.9.0 . 7"), elem.ErrNotEmpty},
		{"ends inside", el("10.0.0.0-10.0.3.33 . 7"), elem.ErrNotEmpty},
		{"start above end", el("10.9.0.9-10.9.0.1 . 7"), elem.ErrInvalid},
		{"short key", elem.New([]byte{1, 2, 3, 4}, nil), elem.ErrInvalid},
		{"ends differ in length", elem.New([]byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{1}), elem.ErrInvalid},
		{"flag", elem.NewIntervalEnd([]byte{1, 2, 3, 4, 5, 6, 7, 8}), elem.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := pipapo.New(ptr(shape("net,port")))
			if err != nil {
				t.Fatal(err)
			}
			before := el("11.0.0.0-11.0.0.9 . 7")
			add(t, s, 0, before)
			s.Commit(0)
			var es []*elem.Entry
			for i := range 500 {
				es = append(es, el(fmt.Sprintf("10.0.%d.%d-10.0.%d.%d . 7", i/64, i%64*4, i/64, i%64*4+3)))
			}
			es[400] = c.bad
			es = append(es, el("10.0.3.33 . 7")) // a later mistake
			if n, _, err := s.InsertAll(es, 0); n != 400 || !errors.Is(err, c.want) {
				t.Fatalf("%d, %v; want 400, %v", n, err, c.want)
			}
			if n := s.Next().Len(); n != 401 {
				t.Errorf("%d elements are prepared", n)
			}
			s.Abort()
			hit(t, s, "10.0.0.1 . 7", 0, nil)
			hit(t, s, "11.0.0.5 . 7", 0, before)
			if s.Live().Len() != 1 {
				t.Errorf("%d elements after the abort", s.Live().Len())
			}
		})
	}
}

// Ten thousand hostile inputs: the right error, and the set is unchanged.
func TestHostileInputs(t *testing.T) {
	for _, d := range []elem.Desc{
		{KeyLen: 68, Fields: make([]uint8, 17), Flags: elem.Interval | elem.Concat},
		{KeyLen: 24, Fields: []uint8{17, 2}, Flags: elem.Interval | elem.Concat},
		{KeyLen: 4, Fields: []uint8{4}, Flags: elem.Interval},
		{KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Concat},
	} {
		if _, err := pipapo.New(&d); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
	each(t, shape("net,port"), func(t *testing.T, s elem.Backend) {
		add(t, s, 0, el("10.0.0.0-10.0.0.255 . 1-100"), el("10.1.0.0-10.1.255.255 . 443"))
		s.Commit(0)
		rnd := rand.New(rand.NewPCG(5, 5))
		for range 10000 {
			var e *elem.Entry
			want := elem.ErrInvalid
			switch rnd.IntN(6) {
			case 0:
				e = el(fmt.Sprintf("12.0.0.%d-12.0.0.1 . 5", 2+rnd.IntN(200)))
			case 1:
				e = el(fmt.Sprintf("12.0.0.1 . %d-7", 8+rnd.IntN(60000)))
			case 2:
				e = elem.New(make([]byte, rnd.IntN(8)), nil)
			case 3:
				e, want = el("10.0.0.0-10.0.0.255 . 1-100"), elem.ErrExist
			case 4:
				e, want = el(fmt.Sprintf("10.0.0.%d . %d-200", rnd.IntN(256), 1+rnd.IntN(100))), elem.ErrNotEmpty
			case 5:
				e, want = el(fmt.Sprintf("9.0.0.0-10.1.7.%d . 440-443", rnd.IntN(256))), elem.ErrNotEmpty
			}
			if _, err := s.Insert(e, 0); !errors.Is(err, want) {
				t.Fatalf("%x-%x: %v, want %v", e.Key(), e.Last(), err, want)
			}
			if rnd.IntN(50) == 0 {
				add(t, s, 0, el("13.0.0.1 . 5"))
				s.Abort()
			}
		}
		s.Commit(0)
		if s.Live().Len() != 2 {
			t.Errorf("%d elements", s.Live().Len())
		}
	})
}

// Who adds a long list again, duplicates and all, does not pay for a build at
// every one of them.
func TestBulkOfDuplicates(t *testing.T) {
	s, err := pipapo.New(ptr(shape("net,port")))
	if err != nil {
		t.Fatal(err)
	}
	es := disjoint(50_000)
	if n, _, err := s.InsertAll(es, 0); err != nil {
		t.Fatal(n, err)
	}
	s.Commit(0)
	again, refused := disjoint(50_000), 0
	start := time.Now()
	for len(again) > 0 {
		n, old, err := s.InsertAll(again, 0)
		if err == nil {
			break
		}
		if !errors.Is(err, elem.ErrExist) || old == nil {
			t.Fatal(n, old, err)
		}
		refused++
		again = again[n+1:]
	}
	if refused != 50_000 {
		t.Errorf("%d of 50000 were refused", refused)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("adding 50,000 duplicates took %v", d)
	}
}

// With slack the mapping tables move a fraction of what they move without.
func TestSlackMovesLess(t *testing.T) {
	moved := func(exactly bool) int {
		p, err := pipapo.NewPlain(ptr(shape("net,port")))
		if err != nil {
			t.Fatal(err)
		}
		if exactly {
			p.AllocateExactly()
		}
		add(t, p, 0, disjoint(3000)...)
		p.Commit(0)
		sum := 0
		for _, f := range p.Stats().Fields {
			sum += f.Moved
			if exactly && f.Allocated != f.Rules {
				t.Errorf("%d rules, room for %d", f.Rules, f.Allocated)
			}
		}
		return sum
	}
	exact, slack := moved(true), moved(false)
	if exact < 10*slack/4 {
		t.Errorf("exact tables moved %d bytes, those with slack %d", exact, slack)
	}
}

func BenchmarkPlainLoad(b *testing.B) {
	for _, n := range []int{2000, 10_000} {
		for _, exactly := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d/exact=%v", n, exactly), func(b *testing.B) {
				es := disjoint(n)
				for b.Loop() {
					p, err := pipapo.NewPlain(ptr(shape("net,port")))
					if err != nil {
						b.Fatal(err)
					}
					if exactly {
						p.AllocateExactly()
					}
					if _, _, err := p.InsertAll(es, 0); err != nil {
						b.Fatal(err)
					}
					p.Commit(0)
				}
			})
		}
	}
}

// A hundred thousand elements that expire at once are gone with one commit.
func TestManyExpire(t *testing.T) {
	for _, lasting := range []int{1000, 900_000} {
		s, err := pipapo.New(ptr(shape("net,port")))
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() {
			lasting = min(lasting, 20_000)
		}
		es := disjoint(100_000 + lasting)
		for _, e := range es[:100_000] {
			e.SetTimeout(5_000_000_000, 5_000_000_000)
		}
		if n, _, err := s.InsertAll(es, 0); err != nil {
			t.Fatal(n, err)
		}
		s.Commit(0)
		add(t, s, 6_000_000_000, el("11.0.0.1 . 1"))
		if gone := s.Commit(6_000_000_000); len(gone) != 100_000 {
			t.Errorf("%d are collected", len(gone))
		}
		if n := s.Live().Len(); n != lasting+1 {
			t.Errorf("%d are left, want %d", n, lasting+1)
		}
		for i := 0; i < len(es); i += 101 {
			if got := s.Lookup([]byte(es[i].Last()), 0); (got == nil) != (i < 100_000) {
				t.Fatalf("element %d: %v", i, got)
			}
		}
	}
}

// A set that loses nearly all of its elements one by one still answers right,
// and does not keep their memory.
func TestShrink(t *testing.T) {
	s, err := pipapo.New(ptr(shape("net,port")))
	if err != nil {
		t.Fatal(err)
	}
	es := disjoint(30_000)
	if n, _, err := s.InsertAll(es, 0); err != nil {
		t.Fatal(n, err)
	}
	s.Commit(0)
	full := s.Stats().Bytes
	for i, e := range es[:29_000] {
		if _, err := s.Delete(e, 0); err != nil {
			t.Fatal(i, err)
		}
		if i%500 == 0 {
			s.Commit(0)
		}
	}
	s.Commit(0)
	for i, e := range es {
		if got := s.Lookup([]byte(e.Last()), 0); (got == e) != (i >= 29_000) {
			t.Fatalf("element %d: %v", i, got)
		}
	}
	if left := s.Stats().Bytes; left > full/4 {
		t.Errorf("%d bytes for 1000 elements, %d for 30000", left, full)
	}
}
