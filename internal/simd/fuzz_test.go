package simd

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzKernels compares the vector forms with the generic ones.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("some bytes"), uint8(9), uint32(3), uint32(4), true)
	f.Add(bytes.Repeat([]byte{0xff, 0, 1}, 100), uint8(64), ^uint32(0), uint32(0), false)
	f.Fuzz(func(t *testing.T, data []byte, size uint8, x, y uint32, keep bool) {
		if len(data) == 0 || size == 0 {
			return
		}
		at := func(i int) byte { return data[i%len(data)] }
		var box [64]uint32
		for i := range box {
			box[i] = binary.LittleEndian.Uint32([]byte{at(4 * i), at(4*i + 1), at(4*i + 2), at(4*i + 3)})
		}
		words := int(size)
		table := make([]uint64, 2*256*words)
		for i := range table {
			table[i] = uint64(at(i)) * 0x0101010101010101 << (i % 7)
		}
		key := []byte{at(1), at(5)}
		var want, got [2][]uint64
		run := func(out *[2][]uint64) (uint32, int) {
			for i := range out {
				out[i] = make([]uint64, words)
				out[i][0] = uint64(x)<<32 | uint64(y)
			}
			And8(out[0], table, words, key, keep)
			And4(out[1], table, words, key, keep)
			return Match16(&box, x, y), CountNotAbove(&box, 0, x)
		}
		restore := Set(Generic)
		wantMatch, wantCount := run(&want)
		restore()
		for l := AVX2; l <= Supported(); l++ {
			restore := Set(l)
			match, count := run(&got)
			restore()
			if match != wantMatch || count != wantCount {
				t.Errorf("%v: %x, %d; want %x, %d", l, match, count, wantMatch, wantCount)
			}
			for k := range want {
				for i := range want[k] {
					if got[k][i] != want[k][i] {
						t.Fatalf("%v: word %d is %x, want %x", l, i, got[k][i], want[k][i])
					}
				}
			}
		}
	})
}
