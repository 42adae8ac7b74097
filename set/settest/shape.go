package settest

import (
	"math/big"

	"verdict/set/elem"
)

// source gives random numbers below n: a seeded generator or rapid.
type source interface{ IntN(n int) int }

// draw is a source with the density of the elements: how often they meet.
type draw struct {
	source
	large bool
}

// Shape is a layout of keys.
type Shape struct {
	Name   string
	Fields []uint8
}

// Shapes are the key layouts of the kernel's own performance script.
var Shapes = []Shape{
	{"net,port", []uint8{4, 2}},
	{"port,net", []uint8{2, 4}},
	{"net6,port", []uint8{16, 2}},
	{"port,proto", []uint8{2, 1}},
	{"net6,port,mac", []uint8{16, 2, 6}},
	{"net6,port,mac,proto", []uint8{16, 2, 6, 1}},
	{"net,mac", []uint8{4, 6}},
}

// Desc describes a set of concatenated ranges with the shape's keys.
func (s Shape) Desc() elem.Desc {
	d := elem.Desc{Flags: elem.Interval | elem.Concat | elem.Timeout, Fields: s.Fields}
	for _, n := range s.Fields {
		d.KeyLen += elem.Padded(int(n))
	}
	return d
}

// value draws the value of a field of n bytes. Few different values are
// drawn, so that elements meet; they differ in any of the bytes.
func value(src draw, n int) []byte {
	v := make([]byte, n)
	if src.large {
		v[n-1] = byte(src.IntN(256))
		if n > 1 {
			v[n-2] = byte(src.IntN(64))
			v[src.IntN(n)] ^= byte(src.IntN(4))
		}
		return v
	}
	switch src.IntN(8) {
	case 0: // all zero
	case 1:
		for i := range v {
			v[i] = 0xff
		}
	case 2: // one byte of it
		v[src.IntN(n)] = byte(src.IntN(4) * 85)
	default:
		v[n-1] = byte(src.IntN(24))
		if n > 1 && src.IntN(2) == 0 {
			v[src.IntN(n-1)] = byte(1 + src.IntN(2))
		}
	}
	return v
}

// span draws a range of values of n bytes: a single one, a short range, a
// prefix or everything; now and then one with its start above its end.
func span(src draw, n int) (low, high []byte) {
	low = value(src, n)
	high = append([]byte(nil), low...)
	kind := src.IntN(10)
	if src.large && kind > 6 && src.IntN(30) > 0 {
		kind = 0
	}
	switch kind {
	case 0, 1, 2, 3:
	case 4, 5, 6:
		high = plus(low, int64(src.IntN(12)))
	case 7:
		host := src.IntN(8*n + 1)
		for i := range host {
			low[n-1-i/8] &^= 1 << (i % 8)
			high[n-1-i/8] |= 1 << (i % 8)
		}
	case 8:
		high = value(src, n)
		if string(low) > string(high) && src.IntN(4) > 0 {
			low, high = high, low
		}
	default:
		for i := range low {
			low[i], high[i] = 0, 0xff
		}
	}
	return low, high
}

// plus returns v + d, at most all ones.
func plus(v []byte, d int64) []byte {
	sum := new(big.Int).Add(new(big.Int).SetBytes(v), big.NewInt(d))
	if sum.BitLen() > 8*len(v) {
		top := make([]byte, len(v))
		for i := range top {
			top[i] = 0xff
		}
		return top
	}
	return sum.FillBytes(make([]byte, len(v)))
}

// box draws an element of a set of concatenated ranges.
func box(src draw, fields []uint8) *elem.Entry {
	var low, high []byte
	for _, n := range fields {
		l, h := span(src, int(n))
		pad := make([]byte, elem.Padded(int(n))-int(n))
		low, high = append(append(low, l...), pad...), append(append(high, h...), pad...)
	}
	if string(low) == string(high) && src.IntN(2) == 0 {
		return elem.New(low, nil)
	}
	return elem.New(low, high)
}

// point draws a key.
func point(src draw, fields []uint8) []byte {
	var key []byte
	for _, n := range fields {
		key = append(key, value(src, int(n))...)
		if len(fields) > 1 {
			key = append(key, make([]byte, elem.Padded(int(n))-int(n))...)
		}
	}
	return key
}
