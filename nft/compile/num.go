package compile

import (
	"encoding/binary"
	"math/bits"
)

// num is an unsigned number of up to 128 bits, wide enough for every field
// and key of the language.
type num struct{ hi, lo uint64 }

func small(v uint64) num { return num{lo: v} }

func (a num) isZero() bool { return a.hi|a.lo == 0 }

func (a num) cmp(b num) int {
	switch {
	case a.hi != b.hi:
		if a.hi < b.hi {
			return -1
		}
		return 1
	case a.lo < b.lo:
		return -1
	case a.lo > b.lo:
		return 1
	}
	return 0
}

func (a num) and(b num) num { return num{a.hi & b.hi, a.lo & b.lo} }
func (a num) or(b num) num  { return num{a.hi | b.hi, a.lo | b.lo} }
func (a num) xor(b num) num { return num{a.hi ^ b.hi, a.lo ^ b.lo} }

// not inverts within a width.
func (a num) not(width int) num { return a.xor(ones(width)) }

// plus1 adds one; the result wraps at 128 bits.
func (a num) plus1() num {
	lo, carry := bits.Add64(a.lo, 1, 0)
	return num{a.hi + carry, lo}
}

// minus1 subtracts one; the result wraps at 128 bits.
func (a num) minus1() num {
	lo, borrow := bits.Sub64(a.lo, 1, 0)
	return num{a.hi - borrow, lo}
}

func (a num) shl(n int) num {
	switch {
	case n <= 0:
		return a
	case n >= 128:
		return num{}
	case n >= 64:
		return num{hi: a.lo << (n - 64)}
	}
	return num{a.hi<<n | a.lo>>(64-n), a.lo << n}
}

func (a num) shr(n int) num {
	switch {
	case n <= 0:
		return a
	case n >= 128:
		return num{}
	case n >= 64:
		return num{lo: a.hi >> (n - 64)}
	}
	return num{a.hi >> n, a.lo>>n | a.hi<<(64-n)}
}

// width is the number of significant bits.
func (a num) width() int {
	if a.hi != 0 {
		return 64 + bits.Len64(a.hi)
	}
	return bits.Len64(a.lo)
}

// lowZeros is the number of zero bits below the lowest set bit, 128 for zero.
func (a num) lowZeros() int {
	if a.lo != 0 {
		return bits.TrailingZeros64(a.lo)
	}
	return 64 + bits.TrailingZeros64(a.hi)
}

// ones is a number whose low width bits are set.
func ones(width int) num {
	switch {
	case width <= 0:
		return num{}
	case width >= 128:
		return num{^uint64(0), ^uint64(0)}
	case width > 64:
		return num{1<<(width-64) - 1, ^uint64(0)}
	case width == 64:
		return num{lo: ^uint64(0)}
	}
	return num{lo: 1<<width - 1}
}

// prefixMask has the leading length bits of width set.
func prefixMask(length, width int) num { return ones(width).xor(ones(width - length)) }

// put writes the number into dst, least significant byte first where host is
// set, else most significant byte first.
func (a num) put(dst []byte, host bool) {
	n := len(dst)
	if host {
		for i := range dst {
			dst[i] = a.byteAt(i)
		}
		return
	}
	switch n {
	case 4:
		binary.BigEndian.PutUint32(dst, uint32(a.lo))
	case 2:
		binary.BigEndian.PutUint16(dst, uint16(a.lo))
	default:
		for i := range dst {
			dst[i] = a.byteAt(n - 1 - i)
		}
	}
}

// byteAt is the byte of weight 256^i.
func (a num) byteAt(i int) byte {
	switch {
	case i < 8:
		return byte(a.lo >> (8 * i))
	case i < 16:
		return byte(a.hi >> (8 * (i - 8)))
	}
	return 0
}

// numFromBytes reads bytes, most significant first.
func numFromBytes(b []byte) num {
	var a num
	for _, c := range b {
		a = a.shl(8)
		a.lo |= uint64(c)
	}
	return a
}

// parseNum reads a decimal, 0x hexadecimal or 0 octal number. fits is false
// where it has more than 128 bits.
func parseNum(text string) (v num, ok, fits bool) {
	if text == "" {
		return num{}, false, true
	}
	base, digits := uint64(10), text
	switch {
	case len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'):
		base, digits = 16, text[2:]
	case len(text) > 1 && text[0] == '0':
		base, digits = 8, text[1:]
	}
	fits = true
	for i := 0; i < len(digits); i++ {
		d := digitValue(digits[i])
		if d >= base {
			return num{}, false, true
		}
		hi, carry := bits.Mul64(v.lo, base)
		top, mid := bits.Mul64(v.hi, base)
		lo, c := bits.Add64(carry, d, 0)
		mid, c = bits.Add64(mid, hi, c)
		if top != 0 || c != 0 {
			fits = false
		}
		v = num{mid, lo}
	}
	return v, true, fits
}

func digitValue(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10
	}
	return 255
}

// decimal is the number in base ten, for messages.
func (a num) decimal() string {
	if a.isZero() {
		return "0"
	}
	var buf [40]byte
	i := len(buf)
	for !a.isZero() {
		var r uint64
		a.hi, r = a.hi/10, a.hi%10
		a.lo, r = bits.Div64(r, a.lo, 10)
		i--
		buf[i] = byte('0' + r)
	}
	return string(buf[i:])
}
