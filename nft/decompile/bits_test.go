package decompile

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"verdict/nft/ruleset"
)

func drawBytes(t *rapid.T, label string, from, to int) []byte {
	return rapid.SliceOfN(rapid.Byte(), from, to).Draw(t, label)
}

// TestBits compares the operations on byte strings with big numbers.
func TestBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawBytes(t, "v", 1, 16)
		total := len(v) * 8
		number := new(big.Int).SetBytes(v)
		n := rapid.IntRange(0, total).Draw(t, "n")
		if got, want := new(big.Int).SetBytes(shifted(v, n)), new(big.Int).Rsh(number, uint(n)); got.Cmp(want) != 0 {
			t.Fatalf("%x shifted by %d: %x, want %x", v, n, got, want)
		}
		from := rapid.IntRange(0, total-1).Draw(t, "from")
		bits := rapid.IntRange(1, total-from).Draw(t, "bits")
		want := new(big.Int).Rsh(number, uint(total-from-bits))
		want.And(want, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1)))
		if got := new(big.Int).SetBytes(extract(v, from, bits)); got.Cmp(want) != 0 {
			t.Fatalf("bits %d+%d of %x: %x, want %x", from, bits, v, got, want)
		}
		if got := trailingZeros(v); number.Sign() != 0 && got != int(number.TrailingZeroBits()) {
			t.Fatalf("%x: %d trailing zeros", v, got)
		}
		if got := leadingZeros(v); got != total-number.BitLen() {
			t.Fatalf("%x: %d leading zeros", v, got)
		}
	})
}

// TestRun checks masks that are one run of ones, and that others are not.
func TestRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := 8 * rapid.IntRange(1, 16).Draw(t, "bytes")
		before := rapid.IntRange(0, total-1).Draw(t, "before")
		ones := rapid.IntRange(1, total-before).Draw(t, "ones")
		mask := make([]byte, total/8)
		for i := before; i < before+ones; i++ {
			mask[i/8] |= 0x80 >> (i % 8)
		}
		if b, o, a, ok := run(mask); !ok || b != before || o != ones || a != total-before-ones {
			t.Fatalf("%x: %d, %d, %d, %v", mask, b, o, a, ok)
		}
		if ones > 2 {
			hole := before + rapid.IntRange(1, ones-2).Draw(t, "hole")
			mask[hole/8] &^= 0x80 >> (hole % 8)
			if _, _, _, ok := run(mask); ok {
				t.Fatalf("%x has a hole at %d", mask, hole)
			}
		}
	})
}

// TestPrefixLength compares with trying every length.
func TestPrefixLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := drawBytes(t, "from", 2, 2)
		to := drawBytes(t, "to", 2, 2)
		if rapid.Bool().Draw(t, "prefix") {
			host := rapid.IntRange(0, 16).Draw(t, "host")
			for i := 16 - host; i < 16; i++ {
				from[i/8] &^= 0x80 >> (i % 8)
			}
			to = slices.Clone(from)
			for i := 16 - host; i < 16; i++ {
				to[i/8] |= 0x80 >> (i % 8)
			}
		}
		want, found := 0, false
		f, l := int(from[0])<<8|int(from[1]), int(to[0])<<8|int(to[1])
		for length := range 17 {
			size := 1 << (16 - length)
			if f%size == 0 && l == f+size-1 {
				want, found = length, true
			}
		}
		if got, ok := prefixLength(from, to); ok != found || got != want {
			t.Fatalf("%x-%x: %d, %v, want %d, %v", from, to, got, ok, want, found)
		}
	})
}

// TestIntervals compares the joined intervals of one-byte keys with the keys
// that they cover.
func TestIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var covered [256]int // number of the interval, 0 for none
		var list []*ruleset.Element
		at, n := 0, 0
		open := false
		for at < 256 {
			gap := rapid.IntRange(0, 3).Draw(t, "gap")
			length := rapid.IntRange(1, 60).Draw(t, "length")
			if gap > 0 && open {
				list = append(list, &ruleset.Element{Key: []byte{byte(at)}, Flags: ruleset.ElemIntervalEnd})
				open = false
			}
			if at += gap; at > 255 {
				break
			}
			n++
			list = append(list, &ruleset.Element{Key: []byte{byte(at)}})
			open = true
			for i := at; i < min(at+length, 256); i++ {
				covered[i] = n
			}
			at += length
		}
		list = rapid.Permutation(list).Draw(t, "order")
		joined := intervals(list)
		if len(joined) != n {
			t.Fatalf("%d intervals, want %d", len(joined), n)
		}
		for i, in := range joined {
			for key := range 256 {
				inside := bytes.Compare([]byte{byte(key)}, in.from) >= 0 && bytes.Compare([]byte{byte(key)}, in.to) <= 0
				if inside != (covered[key] == i+1) {
					t.Fatalf("interval %d is %x-%x, key %x belongs to %d", i+1, in.from, in.to, key, covered[key])
				}
			}
		}
	})
}
