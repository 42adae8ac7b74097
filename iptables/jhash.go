package iptables

import (
	"encoding/binary"
	"math/bits"
)

// jhashOne is the kernel's hash of one word.
// Ref: include/linux/jhash.h, jhash_1word; burtleburtle.net/bob/c/lookup3.c
// (public domain).
func jhashOne(word, seed uint32) uint32 {
	const start = 0xdeadbeef + 1<<2
	_, _, c := jhashFinal(word+seed+start, seed+start, seed+start)
	return c
}

// jhashWords is the kernel's hash of an array of words.
// Ref: include/linux/jhash.h, jhash2.
func jhashWords(raw []byte, seed uint32) uint32 {
	n := len(raw) / 4
	a := 0xdeadbeef + uint32(n)<<2 + seed
	b, c := a, a
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(raw[4*i:]) }
	at := 0
	for ; n > 3; n, at = n-3, at+3 {
		a, b, c = jhashMix(a+word(at), b+word(at+1), c+word(at+2))
	}
	if n > 2 {
		c += word(at + 2)
	}
	if n > 1 {
		b += word(at + 1)
	}
	if n > 0 {
		_, _, c = jhashFinal(a+word(at), b, c)
	}
	return c
}

func jhashMix(a, b, c uint32) (uint32, uint32, uint32) {
	for _, r := range [2][3]int{{4, 6, 8}, {16, 19, 4}} {
		a -= c
		a ^= bits.RotateLeft32(c, r[0])
		c += b
		b -= a
		b ^= bits.RotateLeft32(a, r[1])
		a += c
		c -= b
		c ^= bits.RotateLeft32(b, r[2])
		b += a
	}
	return a, b, c
}

func jhashFinal(a, b, c uint32) (uint32, uint32, uint32) {
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	c = (c ^ b) - bits.RotateLeft32(b, 24)
	return a, b, c
}
