package vm

import (
	"encoding/binary"
	"math/bits"
)

// hash hashes register bytes, or the flow. Ref: nft_hash.c.
func (m *Machine) hash(in *inst) outcome {
	e := m.prog.hashes[in.ref]
	var h uint32
	if e.Symmetric {
		h = m.flowHash()
	} else {
		h = jenkins(m.bytes(in.src, int(e.Len)), e.Seed)
	}
	m.put32(in.dst, uint32(uint64(h)*uint64(e.Mod)>>32)+e.Offset)
	return outNext
}

// jenkins is Bob Jenkins' lookup3 over bytes, as the kernel's jhash.
// Ref: include/linux/jhash.h; burtleburtle.net/bob/c/lookup3.c (public domain).
func jenkins(key []byte, seed uint32) uint32 {
	const golden = 0xdeadbeef
	a := golden + uint32(len(key)) + seed
	b, c := a, a
	for len(key) > 12 {
		a += binary.LittleEndian.Uint32(key)
		b += binary.LittleEndian.Uint32(key[4:])
		c += binary.LittleEndian.Uint32(key[8:])
		a, b, c = jenkinsMix(a, b, c)
		key = key[12:]
	}
	if len(key) == 0 {
		return c
	}
	var tail [12]byte
	copy(tail[:], key)
	a += binary.LittleEndian.Uint32(tail[:])
	b += binary.LittleEndian.Uint32(tail[4:])
	c += binary.LittleEndian.Uint32(tail[8:])
	return jenkinsFinal(a, b, c)
}

func jenkinsMix(a, b, c uint32) (uint32, uint32, uint32) {
	a -= c
	a ^= bits.RotateLeft32(c, 4)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 6)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 8)
	b += a
	a -= c
	a ^= bits.RotateLeft32(c, 16)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 19)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func jenkinsFinal(a, b, c uint32) uint32 {
	c ^= b
	c -= bits.RotateLeft32(b, 14)
	a ^= c
	a -= bits.RotateLeft32(c, 11)
	b ^= a
	b -= bits.RotateLeft32(a, 25)
	c ^= b
	c -= bits.RotateLeft32(b, 16)
	a ^= c
	a -= bits.RotateLeft32(c, 4)
	b ^= a
	b -= bits.RotateLeft32(a, 14)
	c ^= b
	c -= bits.RotateLeft32(b, 24)
	return c
}

// flowHash hashes the flow so that both directions agree. The kernel's own
// seed is unknown; any seed gives a valid outcome, this one depends on the
// machine's.
func (m *Machine) flowHash() uint32 {
	v := m.pkt.View
	source, destination := v.SrcAddr().As16(), v.DstAddr().As16()
	from, to, _ := v.Ports()
	var key [37]byte
	for i := range source {
		key[i] = source[i] ^ destination[i]
		key[16+i] = source[i] & destination[i]
	}
	binary.LittleEndian.PutUint16(key[32:], from^to)
	binary.LittleEndian.PutUint16(key[34:], from&to)
	key[36] = v.L4Proto
	return jenkins(key[:], m.HashSeed)
}
