// Command asm writes the amd64 kernels of package simd and their stubs. Run
// "go generate" in the package's directory.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	for _, v := range []vector{avx2, avx512} {
		and(v, 8)
		and(v, 4)
	}
	match16AVX2()
	match16AVX512()
	countAVX2()
	countAVX512()
	prefetch()
	Generate()
}

// vector is what differs between the two instruction sets in the kernels that
// are written for both.
type vector struct {
	name  string
	bytes int
	reg   func() Register
	load  func(m Op, r Register)
	and   func(m Op, r Register)
	store func(r Register, m Op)
}

var avx2 = vector{
	name: "AVX2", bytes: 32,
	reg:   func() Register { return YMM() },
	load:  func(m Op, r Register) { VMOVDQU(m, r) },
	and:   func(m Op, r Register) { VPAND(m, r, r) },
	store: func(r Register, m Op) { VMOVDQU(r, m) },
}

var avx512 = vector{
	name: "AVX512", bytes: 64,
	reg:   func() Register { return ZMM() },
	load:  func(m Op, r Register) { VMOVDQU64(m, r) },
	and:   func(m Op, r Register) { VPANDQ(m, r, r) },
	store: func(r Register, m Op) { VMOVDQU64(r, m) },
}

func begin(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc)
}

const blockVectors = 8

// and writes and8 or and4: the intersection of the buckets that the bytes of a
// key select. Blocks of eight vectors stay in registers while the key's groups
// are gone through; then single vectors.
func and(v vector, bits int) {
	name := map[int]string{8: "and8", 4: "and4"}[bits] + v.name
	begin(name, "func(dst, table *uint64, stride, n int, key *byte, bytes int, keep bool)",
		name+" intersects n words; stride is the size of a bucket in words. n is a multiple of a vector.")
	dst, table := Load(Param("dst"), GP64()), Load(Param("table"), GP64())
	stride, n := Load(Param("stride"), GP64()), Load(Param("n"), GP64())
	key, length := Load(Param("key"), GP64()), Load(Param("bytes"), GP64())
	keep := Load(Param("keep"), GP8())
	SHLQ(Imm(3), stride)
	SHLQ(Imm(3), n)
	pass := func(label string, vectors int) {
		regs := make([]Register, vectors)
		for i := range regs {
			regs[i] = v.reg()
		}
		size := vectors * v.bytes
		Label(label)
		if vectors > 1 {
			CMPQ(n, U32(uint32(size)))
			JB(LabelRef(label + "Done"))
		} else {
			TESTQ(n, n)
			JE(LabelRef(label + "Done"))
		}
		for _, r := range regs {
			ones(v, r)
		}
		TESTB(keep, keep)
		JZ(LabelRef(label + "Fresh"))
		for i, r := range regs {
			v.load(Mem{Base: dst, Disp: i * v.bytes}, r)
		}
		Label(label + "Fresh")
		base, k, left := GP64(), GP64(), GP64()
		MOVQ(table, base)
		MOVQ(key, k)
		MOVQ(length, left)
		Label(label + "Group")
		row, value := GP64(), GP64()
		meet := func() {
			IMULQ(stride, value)
			LEAQ(Mem{Base: base, Index: value, Scale: 1}, row)
			for i, r := range regs {
				v.and(Mem{Base: row, Disp: i * v.bytes}, r)
			}
		}
		span := GP64()
		MOVQ(stride, span)
		if bits == 8 {
			MOVBQZX(Mem{Base: k}, value)
			meet()
			SHLQ(Imm(8), span)
			ADDQ(span, base)
		} else {
			SHLQ(Imm(4), span)
			MOVBQZX(Mem{Base: k}, value)
			SHRQ(Imm(4), value)
			meet()
			ADDQ(span, base)
			MOVBQZX(Mem{Base: k}, value)
			ANDQ(Imm(15), value)
			meet()
			ADDQ(span, base)
		}
		INCQ(k)
		DECQ(left)
		JNZ(LabelRef(label + "Group"))
		for i, r := range regs {
			v.store(r, Mem{Base: dst, Disp: i * v.bytes})
		}
		ADDQ(U32(uint32(size)), dst)
		ADDQ(U32(uint32(size)), table)
		SUBQ(U32(uint32(size)), n)
		JMP(LabelRef(label))
		Label(label + "Done")
	}
	pass("block", blockVectors)
	pass("vector", 1)
	VZEROUPPER()
	RET()
}

func ones(v vector, r Register) {
	if v.bytes == 32 {
		VPCMPEQD(r, r, r)
		return
	}
	VPTERNLOGD(Imm(0xff), r, r, r)
}

func match16AVX2() {
	begin("match16AVX2", "func(box *[64]uint32, x, y uint32) uint32", "match16AVX2 is Match16.")
	box := Load(Param("box"), GP64())
	x, y := YMM(), YMM()
	broadcast(x, "x")
	broadcast(y, "y")
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
	Store(masks[0], ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// broadcast loads a parameter into all lanes.
func broadcast(v VecVirtual, param string) {
	r, x := Load(Param(param), GP32()), XMM()
	VMOVD(r, x)
	VPBROADCASTD(x, v)
}

func match16AVX512() {
	begin("match16AVX512", "func(box *[64]uint32, x, y uint32) uint32", "match16AVX512 is Match16.")
	box := Load(Param("box"), GP64())
	x, y := ZMM(), ZMM()
	broadcast(x, "x")
	broadcast(y, "y")
	VPSUBD(Mem{Base: box}, x, x)
	VPSUBD(Mem{Base: box, Disp: 128}, y, y)
	inX, both, mask := K(), K(), GP32()
	VPCMPUD(Imm(2), Mem{Base: box, Disp: 64}, x, inX)
	VPCMPUD(Imm(2), Mem{Base: box, Disp: 192}, y, inX, both)
	KMOVW(both, mask)
	Store(mask, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// countAVX2 counts in all 64 keys and leaves out those from n on.
func countAVX2() {
	begin("countAVX2", "func(keys *[64]uint32, n int, x uint32) int", "countAVX2 is CountNotAbove.")
	keys := Load(Param("keys"), GP64())
	x := YMM()
	broadcast(x, "x")
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
	finishCount(bits)
}

func countAVX512() {
	begin("countAVX512", "func(keys *[64]uint32, n int, x uint32) int", "countAVX512 is CountNotAbove.")
	keys := Load(Param("keys"), GP64())
	x := ZMM()
	broadcast(x, "x")
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
	finishCount(bits)
}

// finishCount returns how many of the first n bits are set.
func finishCount(bits GPVirtual) {
	n := Load(Param("n"), GP64())
	BZHIQ(n, bits, bits)
	POPCNTQ(bits, bits)
	Store(bits, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

func prefetch() {
	begin("prefetch", "func(p *byte, lines int)", "prefetch is Prefetch.")
	p, lines := Load(Param("p"), GP64()), Load(Param("lines"), GP64())
	Label("line")
	PREFETCHT0(Mem{Base: p})
	ADDQ(Imm(64), p)
	DECQ(lines)
	JG(LabelRef("line"))
	RET()
}
