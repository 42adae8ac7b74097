// Command tuple writes the amd64 kernels of package simd for classification
// and their stubs. Run "go generate" in the package's directory.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	probe()
	matchBucket()
	matchColumns()
	Generate()
}

func begin(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc)
}

// Where the fields of a Probe lie, in bytes.
const (
	probeShift   = 0
	probeBase    = 64
	probeColumns = 128 // pointer to the columns
	probeCount   = 136
	probeDir     = 144 // pointer to the directory
	probeRows    = 152 // pointer to the rows
	probeStride  = 160 // bytes from row to row

	columnMask   = 0
	columnFactor = 64
	columnLane   = 68
	columnSize   = 72
)

// constant fills a vector with a number.
func constant(n uint32) VecVirtual {
	r, x, z := GP32(), XMM(), ZMM()
	MOVL(U32(n), r)
	VMOVD(r, x)
	VPBROADCASTD(x, z)
	return z
}

func probe() {
	begin("probeAVX512", "func(p *byte, key *uint32, hits *[16]uint32) uint32", "probeAVX512 is ProbeTables.")
	p, key, hits := Load(Param("p"), GP64()), Load(Param("key"), GP64()), Load(Param("hits"), GP64())
	columns, count := GP64(), GP64()
	MOVQ(Mem{Base: p, Disp: probeColumns}, columns)
	MOVQ(Mem{Base: p, Disp: probeCount}, count)
	h := ZMM()
	VPXORD(h, h, h)
	Label("column")
	lane, value := GP64(), ZMM()
	MOVLQSX(Mem{Base: columns, Disp: columnLane}, lane)
	VPBROADCASTD(Mem{Base: key, Index: lane, Scale: 4}, value)
	VPANDD(Mem{Base: columns, Disp: columnMask}, value, value)
	VPMULLD_BCST(Mem{Base: columns, Disp: columnFactor}, value, value)
	VPADDD(value, h, h)
	ADDQ(Imm(columnSize), columns)
	DECQ(count)
	JNZ(LabelRef("column"))

	folded := ZMM()
	VPSRLD(Imm(16), h, folded)
	VPXORD(folded, h, h)
	VPMULLD(constant(hashFactor), h, h)

	index, entry := ZMM(), ZMM()
	VPSRLVD(Mem{Base: p, Disp: probeShift}, h, index)
	VPADDD(Mem{Base: p, Disp: probeBase}, index, index)
	all, dir := K(), GP64()
	KXNORW(all, all, all)
	MOVQ(Mem{Base: p, Disp: probeDir}, dir)
	VPXORD(entry, entry, entry)
	VPGATHERDD(Mem{Base: dir, Index: index, Scale: 4}, all, entry)

	tagMask, tag := constant(1<<tagBits-1), ZMM()
	VPSRLD(Imm(rowBits), entry, tag)
	VPANDD(tagMask, tag, tag)
	VPANDD(tagMask, h, h)
	there, same, any := K(), K(), K()
	VPTESTMD(entry, entry, there)
	VPCMPEQD(tag, h, same)
	VPMOVD2M(entry, any)
	KORW(same, any, same)
	KANDW(same, there, same)
	VPANDD(constant(1<<rowBits-1), entry, entry)
	VMOVDQU32(entry, Mem{Base: hits})
	mask, left := GP32(), GP32()
	KMOVW(same, mask)
	VZEROUPPER()

	rows, stride := GP64(), GP64()
	MOVQ(Mem{Base: p, Disp: probeRows}, rows)
	MOVQ(Mem{Base: p, Disp: probeStride}, stride)
	MOVL(mask, left)
	Label("fetch")
	TESTL(left, left)
	JZ(LabelRef("done"))
	bit, row := GP64(), GP64()
	TZCNTL(left, bit.As32())
	BLSRL(left, left)
	MOVLQZX(Mem{Base: hits, Index: bit, Scale: 4}, row)
	IMULQ(stride, row)
	PREFETCHT0(Mem{Base: rows, Index: row, Scale: 1})
	JMP(LabelRef("fetch"))
	Label("done")
	Store(mask, ReturnIndex(0))
	RET()
}

// The form of directory entries and the last factor of the hash; the generic
// code has the same.
const (
	rowBits    = 22
	tagBits    = 9
	hashFactor = 0x9e3779b1
)

func matchBucket() {
	begin("bucketAVX512", "func(row, key *uint32, lines int, from, best uint32) uint32", "bucketAVX512 is MatchBucket.")
	row, key, lines := Load(Param("row"), GP64()), Load(Param("key"), GP64()), Load(Param("lines"), GP64())
	from, best := Load(Param("from"), GP32()), Load(Param("best"), GP32())
	first := YMM()
	VMOVDQU(Mem{Base: key}, first)
	Label("row")
	order, last := GP32(), GP32()
	MOVL(Mem{Base: row, Disp: 28}, last)
	MOVL(last, order)
	ANDL(U32(0x7fffffff), order)
	CMPL(order, best)
	JAE(LabelRef("miss"))
	diff, k, mask := YMM(), K(), GP32()
	VPSUBD(Mem{Base: row}, first, diff)
	VPCMPUD(Imm(2), Mem{Base: row, Disp: 32}, diff, k)
	KMOVB(k, mask)
	ORL(Imm(0x80), mask)
	CMPL(mask, U32(0xff))
	JNE(LabelRef("next"))
	CMPL(order, from)
	JB(LabelRef("next"))
	at, words, line := GP64(), GP64(), GP64()
	MOVQ(row, at)
	MOVQ(key, words)
	MOVQ(lines, line)
	Label("line")
	DECQ(line)
	JZ(LabelRef("hit"))
	ADDQ(Imm(64), at)
	ADDQ(Imm(32), words)
	VMOVDQU(Mem{Base: words}, diff)
	VPSUBD(Mem{Base: at}, diff, diff)
	VPCMPUD(Imm(2), Mem{Base: at, Disp: 32}, diff, k)
	KMOVB(k, mask)
	CMPL(mask, U32(0xff))
	JE(LabelRef("line"))
	Label("next")
	TESTL(last, last)
	JS(LabelRef("miss"))
	size := GP64()
	MOVQ(lines, size)
	SHLQ(Imm(6), size)
	ADDQ(size, row)
	JMP(LabelRef("row"))
	Label("hit")
	VZEROUPPER()
	Store(order, ReturnIndex(0))
	RET()
	Label("miss")
	VZEROUPPER()
	Store(best, ReturnIndex(0))
	RET()
}

func matchColumns() {
	begin("columnsAVX512", "func(block *uint32, blocks int, lanes *uint32, count int, key *uint32, found *uint16)", "columnsAVX512 is MatchColumns.")
	block, blocks := Load(Param("block"), GP64()), Load(Param("blocks"), GP64())
	lanes, count := Load(Param("lanes"), GP64()), Load(Param("count"), GP64())
	key, found := Load(Param("key"), GP64()), Load(Param("found"), GP64())
	size := GP64()
	MOVQ(count, size)
	SHLQ(Imm(7), size)
	Label("block")
	k := K()
	KXNORW(k, k, k)
	j, at := GP64(), GP64()
	XORQ(j, j)
	MOVQ(block, at)
	Label("column")
	lane, value := GP64(), ZMM()
	MOVL(Mem{Base: lanes, Index: j, Scale: 4}, lane.As32())
	VPBROADCASTD(Mem{Base: key, Index: lane, Scale: 4}, value)
	VPSUBD(Mem{Base: at}, value, value)
	VPCMPUD(Imm(2), Mem{Base: at, Disp: 64}, value, k, k)
	KTESTW(k, k)
	JZ(LabelRef("none"))
	ADDQ(Imm(128), at)
	INCQ(j)
	CMPQ(j, count)
	JB(LabelRef("column"))
	Label("none")
	mask := GP32()
	KMOVW(k, mask)
	MOVW(mask.As16(), Mem{Base: found})
	ADDQ(Imm(2), found)
	ADDQ(size, block)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}
