package pipapo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"verdict/set/elem"
)

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		start, end uint32
		bytes      int
		want       string
	}{
		{0xc0a80100, 0xc0a80201, 4, "c0a80100/24 c0a80200/31"},
		{1, 6, 2, "0001/16 0002/15 0004/15 0006/16"},
		{1024, 65535, 2, "0400/6 0800/5 1000/4 2000/3 4000/2 8000/1"},
		{0, 65535, 2, "0000/0"},
		{0, 0xffffffff, 4, "00000000/0"},
		{65534, 65535, 2, "fffe/15"},
		{7, 7, 1, "07/8"},
		{255, 255, 1, "ff/8"},
	} {
		var low, high [4]byte
		binary.BigEndian.PutUint32(low[:], c.start)
		binary.BigEndian.PutUint32(high[:], c.end)
		var got []string
		_ = expand(low[4-c.bytes:], high[4-c.bytes:], func(p prefix) error {
			got = append(got, fmt.Sprintf("%x/%d", p.base[:c.bytes], p.len))
			return nil
		})
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%d-%d: %s, want %s", c.start, c.end, s, c.want)
		}
	}
}

func TestExpandCount(t *testing.T) {
	for _, c := range []struct {
		start, end uint64
		bytes      int
		want       int
	}{
		{0, 65534, 2, 16}, {1, 65534, 2, 30}, {1, 1<<32 - 2, 4, 62},
	} {
		var low, high [8]byte
		binary.BigEndian.PutUint64(low[:], c.start)
		binary.BigEndian.PutUint64(high[:], c.end)
		n := 0
		_ = expand(low[8-c.bytes:], high[8-c.bytes:], func(prefix) error { n++; return nil })
		if n != c.want {
			t.Errorf("%d-%d: %d prefixes, want %d", c.start, c.end, n, c.want)
		}
	}
}

// The prefixes of a range cover it without gap or overlap.
func TestExpandCovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		a, b := uint16(rnd.Uint32()), uint16(rnd.Uint32())
		if a > b {
			a, b = b, a
		}
		next := uint32(a)
		_ = expand(binary.BigEndian.AppendUint16(nil, a), binary.BigEndian.AppendUint16(nil, b), func(p prefix) error {
			if base := uint32(binary.BigEndian.Uint16(p.base[:])); base != next {
				t.Fatalf("%d-%d: prefix at %d, want %d", a, b, base, next)
			}
			next += 1 << (16 - p.len)
			return nil
		})
		if next != uint32(b)+1 {
			t.Fatalf("%d-%d: ends at %d", a, b, next-1)
		}
	}
}

func numbered(n, size int) prefix {
	p := prefix{len: 8 * size}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	copy(p.base[max(size-8, 0):size], b[max(8-size, 0):])
	return p
}

// The numbers of rules at which a field of each length changes the width of
// its groups, there and back.
func TestGroupSwitch(t *testing.T) {
	for _, c := range []struct{ size, narrow, words, wide int }{
		{1, 65536, 1028, 65280},
		{2, 32768, 516, 32512},
		{4, 16384, 260, 16128},
		{6, 10752, 172, 10752},
		{8, 8192, 132, 7936},
		{16, 4096, 68, 3840},
	} {
		if testing.Short() && c.size < 6 {
			continue
		}
		f := field{size: c.size, bits: 8}
		s := slackFor(4096)
		for f.bits == 8 {
			if err := f.add(numbered(f.rules, c.size), maxRules, s); err != nil {
				t.Fatal(err)
			}
		}
		if f.rules != c.narrow+1 || f.words != c.words {
			t.Errorf("%d bytes: narrow at %d rules, %d words; want %d, %d", c.size, f.rules, f.words, c.narrow+1, c.words)
		}
		checkRules(t, &f)
		for f.bits == 4 {
			f.cut(f.rules-1, 1, maxRules, s)
		}
		if f.rules != c.wide {
			t.Errorf("%d bytes: wide again at %d rules, want %d", c.size, f.rules, c.wide)
		}
		checkRules(t, &f)
	}
}

// checkRules checks some rules' prefixes in the lookup table.
func checkRules(t *testing.T, f *field) {
	t.Helper()
	for r := 0; r < f.rules; r += 97 {
		low, high := f.bounds(r, r)
		if want := numbered(r, f.size); low != want.base || high != want.base {
			t.Fatalf("rule %d means %x-%x, want %x", r, low, high, want.base)
		}
	}
}

func TestCutBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		words := 1 + rnd.IntN(5)
		m := make([]uint64, words)
		var bits []bool
		for i := range m {
			m[i] = rnd.Uint64()
			for b := range 64 {
				bits = append(bits, m[i]>>b&1 != 0)
			}
		}
		n := 1 + rnd.IntN(len(bits))
		first := rnd.IntN(len(bits) - n + 1)
		if first == len(bits) {
			continue
		}
		want := append(append([]bool(nil), bits[:first]...), bits[first+n:]...)
		want = append(want, make([]bool, n)...)
		cutBits(m, first, n)
		for i, w := range want {
			if m[i/64]>>(i%64)&1 != 0 != w {
				t.Fatalf("%d words, cut %d at %d: bit %d", words, n, first, i)
			}
		}
	}
}

func TestSlack(t *testing.T) {
	for _, page := range []int{4096, 65536} {
		s := slackFor(page)
		per := page / 8
		var m slack[mapping]
		grow := 0
		for n := 1; n <= 3*per; n++ {
			before := m.allocated
			if err := m.resize(n, s); err != nil {
				t.Fatal(err)
			}
			if m.allocated != before {
				grow++
			}
			switch {
			case n <= per && m.allocated != n:
				t.Fatalf("page %d: %d allocated for %d", page, m.allocated, n)
			case n > per && (m.allocated <= n || m.allocated > n+per):
				t.Fatalf("page %d: %d allocated for %d", page, m.allocated, n)
			}
		}
		if want := per + 3; grow < per || grow > want {
			t.Errorf("page %d: %d re-allocations, at most %d expected", page, grow, want)
		}
		full := m.allocated
		m.cut(0, 1)
		_ = m.resize(len(m.items), s)
		for n := len(m.items); full-n < 2*per; n-- {
			if m.allocated != full {
				t.Fatalf("page %d: shrunk to %d with %d of %d in use", page, m.allocated, n, full)
			}
			if n == 0 {
				break
			}
			m.cut(0, 1)
			_ = m.resize(n-1, s)
		}
		c := m.clone()
		if c.allocated != m.allocated || len(c.items) != len(m.items) {
			t.Errorf("a clone has room for %d, want %d", c.allocated, m.allocated)
		}
		if err := m.resize(0, s); err != nil || m.allocated != 0 {
			t.Error("an empty table keeps room")
		}
	}
}

// Facts 7.1, 23: sizes that overflow are refused.
func TestBug23TableSizes(t *testing.T) {
	f := field{size: 16, bits: 8}
	f.rules = 1 << 24
	if err := f.resize(1<<24, maxRules, slackFor(0)); !errors.Is(err, elem.ErrNoMemory) {
		t.Errorf("table above the limit: %v", err)
	}
	var m slack[mapping]
	if err := m.resize(1<<28, slackFor(0)); !errors.Is(err, elem.ErrNoMemory) {
		t.Errorf("mapping table above the limit: %v", err)
	}
	if err := f.resize(maxRules, maxRules, slackFor(0)); !errors.Is(err, elem.ErrNoSpace) {
		t.Errorf("too many rules: %v", err)
	}
}

// Facts 7.1, 32: tables that a failure left half-changed do not reach a later
// transaction.
func TestBug32FailureWithinAnElement(t *testing.T) {
	d := elem.Desc{KeyLen: 8, Fields: []uint8{2, 2}, Flags: elem.Interval | elem.Concat}
	d.KeyLen = 8
	entry := func(low, high uint16) *elem.Entry {
		k := binary.BigEndian.AppendUint16(nil, low)
		e := binary.BigEndian.AppendUint16(nil, high)
		return elem.New(append(k, 0, 0, 0, 1, 0, 0), append(e, 0, 0, 0, 1, 0, 0))
	}
	p, err := NewPlain(&d)
	if err != nil {
		t.Fatal(err)
	}
	p.limit = 8
	// As the first change: the transaction goes on as if nothing had been.
	if _, err := p.Insert(entry(1, 65534), 0); !errors.Is(err, elem.ErrNoSpace) {
		t.Fatalf("30 rules: %v", err)
	}
	one := entry(4, 5)
	if _, err := p.Insert(one, 0); err != nil {
		t.Fatalf("after a failed first change: %v", err)
	}
	// As a later change: the transaction is lost.
	if _, err := p.Insert(entry(7, 65534), 0); !errors.Is(err, elem.ErrNoSpace) {
		t.Fatalf("too many rules: %v", err)
	}
	if _, err := p.Insert(entry(2, 2), 0); !errors.Is(err, elem.ErrNoMemory) {
		t.Errorf("insert after a failure: %v", err)
	}
	if _, err := p.Delete(one, 0); !errors.Is(err, elem.ErrNoEntry) {
		t.Errorf("delete after a failure: %v", err)
	}
	p.Abort()
	if _, err := p.Insert(entry(2, 2), 0); err != nil {
		t.Errorf("in the next transaction: %v", err)
	}
	p.Commit(0)
	if p.Live().Len() != 1 {
		t.Errorf("%d elements", p.Live().Len())
	}
}

// The example of the facts, 1.8: tables of two elements.
func TestTablesOfTwoElements(t *testing.T) {
	d := elem.Desc{KeyLen: 8, Fields: []uint8{4, 2}, Flags: elem.Interval | elem.Concat}
	p, err := NewPlain(&d)
	if err != nil {
		t.Fatal(err)
	}
	e0 := elem.New([]byte{10, 0, 0, 5, 4, 0, 0, 0}, nil)
	e1 := elem.New([]byte{192, 168, 1, 0, 8, 0, 0, 0}, []byte{192, 168, 2, 1, 8, 0, 0, 0})
	for _, e := range []*elem.Entry{e0, e1} {
		if _, err := p.Insert(e, 0); err != nil {
			t.Fatal(err)
		}
	}
	p.Commit(0)
	m := p.live.Load()
	f := &m.fields[0]
	for v := range 256 {
		want := uint64(0b010)
		switch v {
		case 0, 1:
			want = 0b110
		case 5:
			want = 0b011
		}
		if got := f.bucket(3, v)[0]; got != want {
			t.Errorf("last byte %d: rules %b, want %b", v, got, want)
		}
	}
	if got := fmt.Sprint(f.maps.items); got != "[{0 1} {1 1} {1 1}]" {
		t.Errorf("mapping table %s", got)
	}
	if got := p.Lookup([]byte{192, 168, 1, 5, 8, 0, 0, 0}, 0); got != e1 {
		t.Errorf("192.168.1.5 . 2048: %v", got)
	}
	if got := p.Lookup([]byte{192, 168, 2, 5, 8, 0, 0, 0}, 0); got != nil {
		t.Errorf("192.168.2.5 . 2048: %v", got)
	}
}

// Lookups rely on these sizes: a node is compared as 64 keys, buckets lie on
// cache lines.
func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(node{}); n != nodeBytes {
		t.Errorf("a node has %d bytes", n)
	}
	if n := unsafe.Sizeof(bucket{}); n != bucketBytes || n%cacheLine != 0 {
		t.Errorf("a bucket has %d bytes", n)
	}
}
