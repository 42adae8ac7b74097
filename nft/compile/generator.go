package compile

import (
	"slices"

	"verdict/diag"
	"verdict/nft/expr"
)

// generator emits the bytecode of a rule. Registers are allocated in words of
// 32 bits from the first data register, and freed after each statement.
type generator struct {
	out      []expr.Expr
	places   []diag.Span // what errors of the kernel about out mark
	at       diag.Span   // the same for what is emitted next
	next     int         // first free word
	overflow bool
}

func (g *generator) emit(e expr.Expr) {
	g.out = append(g.out, e)
	g.places = append(g.places, g.at)
}

// marked gives the places of the rule's expressions; nil if none has one.
func (g *generator) marked() []diag.Span {
	if !slices.ContainsFunc(g.places, diag.Span.IsValid) {
		return nil
	}
	return slices.Clone(g.places)
}

// dataWords is the number of words in the data registers.
const dataWords = 16

// regAt names the register at a word: the 128-bit number where the word
// starts one, else the 32-bit number.
func regAt(word int) expr.Reg {
	if word >= dataWords {
		return expr.Reg32_15
	}
	if word%4 == 0 {
		return expr.Reg1 + expr.Reg(word/4)
	}
	return expr.Reg32_00 + expr.Reg(word)
}

// take allocates the words that an operand needs: a whole 128-bit register,
// or for concatenations exactly as many words as they have.
func (g *generator) take(o operand) int {
	n := 4
	if h := o.head(); h.isConcat() || h.merged {
		n = words(h.bits)
	}
	return g.takeWords(n)
}

func (g *generator) takeWords(n int) int {
	at := g.next
	g.next += n
	if at+n > dataWords {
		g.overflow = true
	}
	return at
}

// loaded allocates what an operand needs, loads it and gives the register.
func (g *generator) loaded(o operand) expr.Reg {
	at := g.take(o)
	g.load(o, at)
	return regAt(at)
}

// load emits what puts an operand into registers starting at a word.
func (g *generator) load(o operand, word int) {
	dst := regAt(word)
	switch o := o.(type) {
	case *constant:
		g.emit(&expr.Immediate{Dst: dst, Data: expr.Data{Value: o.value()}})
	case *prefix:
		g.emit(&expr.Immediate{Dst: dst, Data: expr.Data{Value: (&constant{info: o.info, n: o.n}).value()}})
	case *verdict:
		v := o.v
		g.emit(&expr.Immediate{Dst: expr.RegVerdict, Data: expr.Data{Verdict: &v}})
	case *bitfield:
		g.load(valueOf(o), word)
	case loader:
		g.emit(o.load(dst))
	case *swap:
		g.load(o.of, word)
		g.emit(&expr.Byteorder{Src: dst, Dst: dst, ToHost: o.toHost, Len: uint32((o.bytes() + o.size - 1) / o.size * o.size), Size: uint32(o.size)})
	case *computed:
		g.binary(o, word)
	case *concat:
		for _, p := range o.parts {
			g.load(p, word)
			word += words(p.head().bits)
		}
		if word > dataWords {
			g.overflow = true
		}
	case *lookup:
		g.load(o.key, word)
		g.emit(&expr.Lookup{Set: o.set.name, SetID: o.set.id, Src: dst, Dst: dst, HasDst: true})
	case *jhash:
		saved := g.next
		h := o.hash
		h.Src, h.Dst, h.Len = g.loaded(o.of), dst, uint32(o.of.head().bytes())
		g.emit(&h)
		g.next = saved
	}
}

// binary emits a computation. Runs of and, or, xor with constants become one
// masked exclusive or.
func (g *generator) binary(b *computed, word int) {
	dst := regAt(word)
	if b.op == expr.BitwiseLshift || b.op == expr.BitwiseRshift {
		g.load(b.left, word)
		g.emit(&expr.Bitwise{Src: dst, Dst: dst, Len: uint32(b.bytes()), Op: b.op, Shift: uint32(b.right.(*constant).n.lo)})
		return
	}
	if _, ok := b.right.(*constant); !ok {
		g.load(b.left, word)
		saved := g.next
		src := g.takeWords(4)
		g.load(b.right, src)
		g.next = saved
		g.emit(&expr.Bitwise{Src: dst, Dst: dst, Len: uint32(b.bytes()), Op: b.op, Src2: regAt(src), HasSrc2: true})
		return
	}
	var chain []*computed
	var left operand = b
	for {
		x, ok := left.(*computed)
		if !ok || x.op == expr.BitwiseLshift || x.op == expr.BitwiseRshift || x.bits != b.bits && len(chain) > 0 {
			break
		}
		if _, ok := x.right.(*constant); !ok {
			break
		}
		chain = append(chain, x)
		left = x.left
	}
	g.load(left, word)
	mask, flip := ones(b.bits), num{}
	for i := len(chain) - 1; i >= 0; i-- {
		n := chain[i].right.(*constant).n
		switch chain[i].op {
		case expr.BitwiseAnd:
			mask, flip = mask.and(n), flip.and(n)
		case expr.BitwiseOr:
			mask, flip = mask.and(n.not(b.bits)), flip.or(n)
		case expr.BitwiseXor:
			flip = flip.xor(n)
		}
	}
	g.maskXor(dst, b.vtype, mask, flip)
}

// maskXor emits (reg & mask) ^ flip in place.
func (g *generator) maskXor(reg expr.Reg, t vtype, mask, flip num) {
	m := &constant{info: info{vtype: t}, n: mask}
	x := &constant{info: info{vtype: t}, n: flip}
	g.emit(&expr.Bitwise{Src: reg, Dst: reg, Len: uint32(t.bytes()), Op: expr.BitwiseMaskXor, Mask: m.value(), Xor: x.value()})
}
