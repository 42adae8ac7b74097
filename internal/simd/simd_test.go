package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"verdict/internal/testdata"
)

// eachLevel runs a test with every level that this machine has.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for l := range levels {
		t.Run(l.String(), func(t *testing.T) {
			if l > Supported() {
				testdata.Missing(t, "vector", fmt.Sprintf("no %v here", l))
			}
			defer Set(l)()
			test(t)
		})
	}
}

const canary = 0xdeadbeefcafef00d

// framed returns a slice of n random words inside a larger array of canaries,
// offset words from its beginning, and a check that they are still there.
func framed(rnd *rand.Rand, n, offset int) ([]uint64, func() bool) {
	all := make([]uint64, n+offset+16)
	for i := range all {
		all[i] = canary
	}
	s := all[offset : offset+n : offset+n]
	for i := range s {
		s[i] = rnd.Uint64() | rnd.Uint64()
	}
	return s, func() bool {
		for i, w := range all {
			if (i < offset || i >= offset+n) && w != canary {
				return false
			}
		}
		return true
	}
}

func TestAnd(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 1))
		for size := 1; size <= 140; size++ {
			for _, length := range []int{1, 2, 4, 6, 7, 16} {
				if size > 20 && size%7 != 0 && length != 4 {
					continue
				}
				for _, bits := range []int{8, 4} {
					checkAnd(t, rnd, size, length, bits, rnd.IntN(2) == 0)
				}
			}
		}
	})
}

func checkAnd(t *testing.T, rnd *rand.Rand, size, length, bits int, keep bool) {
	t.Helper()
	table, intact := framed(rnd, length*8/bits<<bits*size, rnd.IntN(8))
	dst, clean := framed(rnd, size, rnd.IntN(8))
	key := make([]byte, length)
	for i := range key {
		key[i] = byte(rnd.Uint32())
	}
	want := make([]uint64, size)
	for i := range want {
		want[i] = ^uint64(0)
		if keep {
			want[i] = dst[i]
		}
		for g, b := range key {
			if bits == 8 {
				want[i] &= table[(g*256+int(b))*size+i]
			} else {
				want[i] &= table[(g*32+int(b>>4))*size+i] & table[(g*32+16+int(b&15))*size+i]
			}
		}
	}
	if bits == 8 {
		And8(dst, table, size, key, keep)
	} else {
		And4(dst, table, size, key, keep)
	}
	for i := range want {
		if dst[i] != want[i] {
			t.Fatalf("%d bits, %d words, %d bytes, keep %v: word %d is %x, want %x", bits, size, length, keep, i, dst[i], want[i])
		}
	}
	if !intact() || !clean() {
		t.Fatalf("%d bits, %d words, %d bytes: wrote outside", bits, size, length)
	}
}

func TestMatch16(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(2, 2))
		for range 20000 {
			box, x, y := randomBox(rnd)
			want := uint32(0)
			for i := range 16 {
				inX := x >= box[i] && uint64(x) <= uint64(box[i])+uint64(box[16+i])
				inY := y >= box[32+i] && uint64(y) <= uint64(box[32+i])+uint64(box[48+i])
				if inX && inY {
					want |= 1 << i
				}
			}
			if got := Match16(&box, x, y); got != want {
				t.Fatalf("%v, %x, %x: %b, want %b", box, x, y, got, want)
			}
		}
	})
}

// randomBox draws ranges that do not wrap around, and two numbers near them.
func randomBox(rnd *rand.Rand) (box [64]uint32, x, y uint32) {
	edge := []uint32{0, 1, 1<<31 - 1, 1 << 31, ^uint32(0) - 1, ^uint32(0)}
	draw := func() uint32 {
		if rnd.IntN(3) == 0 {
			return edge[rnd.IntN(len(edge))]
		}
		return rnd.Uint32() >> rnd.IntN(32)
	}
	for row := 0; row < 64; row += 32 {
		for i := range 16 {
			low, high := draw(), draw()
			if low > high {
				low, high = high, low
			}
			box[row+i], box[row+16+i] = low, high-low
		}
	}
	i := rnd.IntN(16)
	return box, box[i] + box[16+i] + uint32(rnd.IntN(3)) - 1, box[32+i] + uint32(rnd.IntN(3)) - 1
}

func TestCountNotAbove(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(3, 3))
		for range 20000 {
			var keys [64]uint32
			n := rnd.IntN(65)
			step := uint32(1) << rnd.IntN(27)
			k := uint32(0)
			for i := range keys {
				keys[i] = rnd.Uint32() // beyond n anything goes
				if i < n {
					keys[i] = k
					k += 1 + uint32(rnd.IntN(int(step)))
				}
			}
			x := uint32(rnd.Uint64N(uint64(k) + 2))
			want := 0
			for want < n && keys[want] <= x {
				want++
			}
			if got := CountNotAbove(&keys, n, x); got != want {
				t.Fatalf("%d of %v not above %d: %d, want %d", n, keys, x, got, want)
			}
		}
	})
}

// TestSearchEach: the kernels for several at once, and the one that does two
// things, give what the single ones give.
func TestSearchEach(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(4, 4))
		for range 300 {
			all := rnd.IntN(40)
			keys, boxes := make([]*[64]uint32, all), make([]*[64]uint32, all)
			n, x, y, counts, hits := make([]uint32, all), make([]uint32, all), make([]uint32, all), make([]uint32, all), make([]uint32, all)
			for i := range all {
				var box [64]uint32
				box, x[i], y[i] = randomBox(rnd)
				boxes[i], keys[i] = &box, new([64]uint32)
				n[i] = 1 + uint32(rnd.IntN(64))
				for j := range keys[i] {
					keys[i][j] = uint32(j) * (x[i]/64 + 1)
				}
			}
			CountEach(keys, n, x, counts)
			Match16Each(boxes, x, y, hits)
			for i := range all {
				if want := CountNotAbove(keys[i], int(n[i]), x[i]); counts[i] != uint32(want) {
					t.Fatalf("count %d of %d: %d, want %d", i, all, counts[i], want)
				}
				if want := Match16(boxes[i], x[i], y[i]); hits[i] != want {
					t.Fatalf("match %d of %d: %b, want %b", i, all, hits[i], want)
				}
				row := make([][112]uint32, n[i]) // as far apart as buckets
				at := int(counts[i]) - 1
				copy(row[at][:], boxes[i][:])
				found, matched := Find16(keys[i], int(n[i]), x[i], (*[64]uint32)(row[0][:]), unsafe.Sizeof(row[0]), x[i], y[i])
				if found != at || matched != hits[i] {
					t.Fatalf("find: %d %b, want %d %b", found, matched, at, hits[i])
				}
			}
		}
	})
}

func TestPrefetch(t *testing.T) {
	Prefetch(nil, 3)
	PrefetchEach([]unsafe.Pointer{nil, nil}, 3)
	PrefetchEach(nil, 3)
	x := new([256]byte)
	Prefetch(unsafe.Pointer(x), 4)
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		most     Level
		override string
		want     Level
	}{
		{AVX512, "", AVX512}, {AVX512, "generic", Generic}, {AVX512, "avx2", AVX2},
		{AVX2, "avx512", AVX2}, {Generic, "avx2", Generic}, {AVX2, "nonsense", AVX2},
	} {
		if got := choose(c.most, c.override); got != c.want {
			t.Errorf("%v with %q: %v, want %v", c.most, c.override, got, c.want)
		}
	}
}

func BenchmarkAnd(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, rules := range []int{512, 4096, 32768} {
		size := rules / 64
		table, _ := framed(rnd, 4*256*size, 0)
		dst := make([]uint64, size)
		key := []byte{10, 1, 2, 3}
		for l := range Supported() + 1 {
			b.Run(fmt.Sprintf("%d/%v", rules, l), func(b *testing.B) {
				defer Set(l)()
				for b.Loop() {
					And8(dst, table, size, key, false)
				}
			})
		}
	}
}

func BenchmarkMatch16(b *testing.B) {
	box, x, y := randomBox(rand.New(rand.NewPCG(1, 1)))
	for l := range Supported() + 1 {
		b.Run(l.String(), func(b *testing.B) {
			defer Set(l)()
			for b.Loop() {
				Match16(&box, x, y)
			}
		})
	}
}

func BenchmarkCountNotAbove(b *testing.B) {
	var keys [64]uint32
	for i := range keys {
		keys[i] = uint32(i) * 7
	}
	for l := range Supported() + 1 {
		b.Run(l.String(), func(b *testing.B) {
			defer Set(l)()
			x := uint32(0)
			for b.Loop() {
				x += uint32(CountNotAbove(&keys, 64, x&511))
			}
		})
	}
}
