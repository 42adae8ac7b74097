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
	for _, s := range []search{searchAVX2, searchAVX512} {
		s.match16()
		s.count64()
		s.find()
		s.matchEach()
		s.countEach()
	}
	prefetch()
	prefetchEach()
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

func prefetchEach() {
	begin("prefetchEach", "func(ps **byte, n, lines int)", "prefetchEach is PrefetchEach.")
	ps, n, lines := Load(Param("ps"), GP64()), Load(Param("n"), GP64()), Load(Param("lines"), GP64())
	p, left := GP64(), GP64()
	Label("next")
	MOVQ(Mem{Base: ps}, p)
	MOVQ(lines, left)
	Label("line")
	PREFETCHT0(Mem{Base: p})
	ADDQ(Imm(64), p)
	DECQ(left)
	JG(LabelRef("line"))
	ADDQ(Imm(8), ps)
	DECQ(n)
	JG(LabelRef("next"))
	RET()
}
