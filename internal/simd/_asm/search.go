package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// search is what differs between the two instruction sets in the kernels that
// search among numbers.
type search struct {
	name string
	reg  func() VecVirtual
	// match leaves in a mask which of the sixteen pairs of ranges at box hold
	// what all lanes of x and y have.
	match func(box Register, x, y VecVirtual) GPVirtual
	// notAbove leaves in a mask which of the 64 keys are not above what all lanes
	// of x have.
	notAbove func(keys Register, x VecVirtual) GPVirtual
}

var searchAVX2 = search{name: "AVX2", reg: func() VecVirtual { return YMM() }, match: match2, notAbove: count2}

var searchAVX512 = search{name: "AVX512", reg: func() VecVirtual { return ZMM() }, match: match512, notAbove: count512}

func match2(box Register, x, y VecVirtual) GPVirtual {
	masks := [2]GPVirtual{GP32(), GP32()}
	for half := range 2 {
		inX, inY := YMM(), YMM()
		at := half * 32
		within := func(v, in VecVirtual, row int) {
			least := YMM()
			VPSUBD(Mem{Base: box, Disp: row + at}, v, in)
			VPMINUD(Mem{Base: box, Disp: row + 64 + at}, in, least)
			VPCMPEQD(least, in, in)
		}
		within(x, inX, 0)
		within(y, inY, 128)
		VPAND(inX, inY, inX)
		VMOVMSKPS(inX, masks[half])
	}
	SHLL(Imm(8), masks[1])
	ORL(masks[1], masks[0])
	return masks[0]
}

func match512(box Register, x, y VecVirtual) GPVirtual {
	fromX, fromY := ZMM(), ZMM()
	VPSUBD(Mem{Base: box}, x, fromX)
	VPSUBD(Mem{Base: box, Disp: 128}, y, fromY)
	inX, both, mask := K(), K(), GP32()
	VPCMPUD(Imm(2), Mem{Base: box, Disp: 64}, fromX, inX)
	VPCMPUD(Imm(2), Mem{Base: box, Disp: 192}, fromY, inX, both)
	KMOVW(both, mask)
	return mask
}

func count2(keys Register, x VecVirtual) GPVirtual {
	bits := GP64()
	XORQ(bits, bits)
	for i := 7; i >= 0; i-- {
		most, mask := YMM(), GP32()
		VPMAXUD(Mem{Base: keys, Disp: i * 32}, x, most)
		VPCMPEQD(most, x, most)
		VMOVMSKPS(most, mask)
		SHLQ(Imm(8), bits)
		ORQ(mask.As64(), bits)
	}
	return bits
}

func count512(keys Register, x VecVirtual) GPVirtual {
	ks := [4]OpmaskVirtual{K(), K(), K(), K()}
	for i, k := range ks {
		VPCMPUD(Imm(5), Mem{Base: keys, Disp: i * 64}, x, k) // x >= key
	}
	low, high := K(), K()
	KUNPCKWD(ks[0], ks[1], low)
	KUNPCKWD(ks[2], ks[3], high)
	KUNPCKDQ(low, high, low)
	bits := GP64()
	KMOVQ(low, bits)
	return bits
}

// atMost leaves in bits how many of the first n bits are set.
func atMost(n Op, bits GPVirtual) {
	count := GP64()
	if m, ok := n.(Mem); ok {
		MOVL(m, count.As32())
	} else {
		MOVQ(n, count)
	}
	BZHIQ(count, bits, bits)
	POPCNTQ(bits, bits)
}

// broadcast loads a parameter into all lanes.
func broadcast(v VecVirtual, param string) {
	r, x := Load(Param(param), GP32()), XMM()
	VMOVD(r, x)
	VPBROADCASTD(x, v)
}

func (s search) match16() {
	begin("match16"+s.name, "func(box *[64]uint32, x, y uint32) uint32", "match16"+s.name+" is Match16.")
	box := Load(Param("box"), GP64())
	x, y := s.reg(), s.reg()
	broadcast(x, "x")
	broadcast(y, "y")
	Store(s.match(box, x, y), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func (s search) count64() {
	begin("count"+s.name, "func(keys *[64]uint32, n int, x uint32) int", "count"+s.name+" is CountNotAbove.")
	keys := Load(Param("keys"), GP64())
	x := s.reg()
	broadcast(x, "x")
	bits := s.notAbove(keys, x)
	atMost(Load(Param("n"), GP64()), bits)
	Store(bits, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func (s search) find() {
	begin("find"+s.name, "func(keys *[64]uint32, n int, k uint32, boxes *[64]uint32, stride int, x, y uint32) (i int, hits uint32)",
		"find"+s.name+" is Find16.")
	keys := Load(Param("keys"), GP64())
	k, x, y := s.reg(), s.reg(), s.reg()
	broadcast(k, "k")
	bits := s.notAbove(keys, k)
	atMost(Load(Param("n"), GP64()), bits)
	DECQ(bits)
	Store(bits, ReturnIndex(0))
	IMULQ(Load(Param("stride"), GP64()), bits)
	ADDQ(Load(Param("boxes"), GP64()), bits)
	for line := range 2 { // a caller goes on to what lies behind the box
		PREFETCHT0(Mem{Base: bits, Disp: 256 + 64*line})
	}
	broadcast(x, "x")
	broadcast(y, "y")
	Store(s.match(bits, x, y), ReturnIndex(1))
	VZEROUPPER()
	RET()
}

func (s search) matchEach() {
	begin("match16Each"+s.name, "func(boxes **[64]uint32, x, y, hits *uint32, n int)", "match16Each"+s.name+" is Match16Each.")
	boxes, xs, ys := Load(Param("boxes"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	hits, n := Load(Param("hits"), GP64()), Load(Param("n"), GP64())
	Label("next")
	box, x, y := GP64(), s.reg(), s.reg()
	MOVQ(Mem{Base: boxes}, box)
	VPBROADCASTD(Mem{Base: xs}, x)
	VPBROADCASTD(Mem{Base: ys}, y)
	MOVL(s.match(box, x, y), Mem{Base: hits})
	for _, p := range []Register{xs, ys, hits} {
		ADDQ(Imm(4), p)
	}
	ADDQ(Imm(8), boxes)
	DECQ(n)
	JG(LabelRef("next"))
	VZEROUPPER()
	RET()
}

func (s search) countEach() {
	begin("countEach"+s.name, "func(keys **[64]uint32, n, x, counts *uint32, lookups int)", "countEach"+s.name+" is CountEach.")
	lists, ns, xs := Load(Param("keys"), GP64()), Load(Param("n"), GP64()), Load(Param("x"), GP64())
	counts, left := Load(Param("counts"), GP64()), Load(Param("lookups"), GP64())
	Label("next")
	keys, x := GP64(), s.reg()
	MOVQ(Mem{Base: lists}, keys)
	VPBROADCASTD(Mem{Base: xs}, x)
	bits := s.notAbove(keys, x)
	atMost(Mem{Base: ns}, bits)
	MOVL(bits.As32(), Mem{Base: counts})
	for _, p := range []Register{ns, xs, counts} {
		ADDQ(Imm(4), p)
	}
	ADDQ(Imm(8), lists)
	DECQ(left)
	JG(LabelRef("next"))
	VZEROUPPER()
	RET()
}
