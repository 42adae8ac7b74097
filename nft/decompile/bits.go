package decompile

import (
	"math/bits"
	"slices"
)

// Values are handled as byte strings, most significant byte first, whatever
// their length.

// bigEndian gives a value's bytes most significant first. It copies only
// little-endian values.
func bigEndian(f *format, v []byte) []byte {
	if !f.host() || len(v) < 2 {
		return v
	}
	c := slices.Clone(v)
	slices.Reverse(c)
	return c
}

// uint64Of is the value of the last 8 bytes.
func uint64Of(v []byte) uint64 {
	if len(v) > 8 {
		v = v[len(v)-8:]
	}
	var n uint64
	for _, b := range v {
		n = n<<8 | uint64(b)
	}
	return n
}

func isZero(v []byte) bool {
	for _, b := range v {
		if b != 0 {
			return false
		}
	}
	return true
}

func isOnes(v []byte) bool {
	for _, b := range v {
		if b != 0xff {
			return false
		}
	}
	return true
}

// run describes a mask that is one run of ones: the bits before it, in it and
// behind it. ok is false for other masks.
func run(mask []byte) (before, ones, after int, ok bool) {
	total := len(mask) * 8
	first := leadingZeros(mask)
	if first == total {
		return 0, 0, 0, false
	}
	last := total - trailingZeros(mask)
	for i := first; i < last; i++ {
		if mask[i/8]&(0x80>>(i%8)) == 0 {
			return 0, 0, 0, false
		}
	}
	return first, last - first, total - last, true
}

func leadingZeros(v []byte) int {
	for i, b := range v {
		if b != 0 {
			return i*8 + bits.LeadingZeros8(b)
		}
	}
	return len(v) * 8
}

func trailingZeros(v []byte) int {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i] != 0 {
			return (len(v)-1-i)*8 + bits.TrailingZeros8(v[i])
		}
	}
	return len(v) * 8
}

// extract gives n bits of a value from bit from on (0 is the most significant
// one), right-aligned in as few bytes as hold them.
func extract(v []byte, from, n int) []byte {
	if from%8 == 0 && n%8 == 0 && from/8+n/8 <= len(v) {
		return v[from/8 : from/8+n/8]
	}
	out := make([]byte, (n+7)/8)
	for i := range n {
		src := from + i
		if src/8 >= len(v) || v[src/8]&(0x80>>(src%8)) == 0 {
			continue
		}
		dst := len(out)*8 - n + i
		out[dst/8] |= 0x80 >> (dst % 8)
	}
	return out
}

// shifted is the value moved down by n bits.
func shifted(v []byte, n int) []byte {
	if n == 0 {
		return v
	}
	total := len(v) * 8
	if n >= total {
		return []byte{0}
	}
	out := make([]byte, len(v))
	copy(out[n/8:], v)
	if s := uint(n % 8); s != 0 {
		for i := len(out) - 1; i > 0; i-- {
			out[i] = out[i]>>s | out[i-1]<<(8-s)
		}
		out[0] >>= s
	}
	return out
}

func padded(v []byte, length int) []byte {
	if len(v) >= length {
		return v
	}
	out := make([]byte, length)
	copy(out, v)
	return out
}
