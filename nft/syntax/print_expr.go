package syntax

import (
	"strconv"
	"strings"

	"verdict/catalog"
)

// expr writes an expression.
func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case *Literal:
		if e.Kind == LitQuoted {
			p.quote(e.Text)
		} else {
			p.str(e.Text)
		}
	case *Variable:
		p.byte('$')
		p.str(e.Name)
	case *SetRef:
		p.byte('@')
		p.str(e.Name)
	case *SetLiteral:
		p.setLiteral(e)
	case *Element:
		p.element(e)
	case *Wildcard:
		p.byte('*')
	case *List:
		p.join(e.Items, ",")
	case *Concat:
		p.join(e.Parts, " . ")
	case *Range:
		p.expr(e.From)
		p.sign(e.From, '-')
		p.expr(e.To)
	case *Prefix:
		p.expr(e.Base)
		p.sign(e.Base, '/')
		p.expr(e.Length)
	case *Binary:
		p.binary(e)
	case *MapExpr:
		p.mapExpr(e)
	case *FlagMatch:
		p.expr(e.Value)
		p.str(" / ")
		p.expr(e.Mask)
	case *VerdictExpr:
		p.verdict(e)
	default:
		p.selector(e)
	}
}

// sign writes the sign of a range or prefix. Words may hold both signs, so
// that blanks must keep them apart.
func (p *printer) sign(left Expr, sign byte) {
	if !endsInWord(left) {
		p.byte(sign)
		return
	}
	p.byte(' ')
	p.byte(sign)
	p.byte(' ')
}

// endsInWord reports whether the text of an expression ends in a bare word.
func endsInWord(e Expr) bool {
	switch e := e.(type) {
	case *Literal:
		return e.Kind == LitWord && e.Text != "" && charClasses[e.Text[0]] == classLetter &&
			wordByte[e.Text[len(e.Text)-1]] && !strings.Contains(e.Text, ":")
	case *Binary:
		return endsInWord(e.Right)
	case *Range:
		return endsInWord(e.To)
	case *Prefix:
		return endsInWord(e.Length)
	case *List:
		return endsInWord(e.Items[len(e.Items)-1])
	case *Concat:
		return endsInWord(e.Parts[len(e.Parts)-1])
	case *SetLiteral, *Wildcard:
		return false
	}
	return true // variables, references and keys
}

func (p *printer) join(items []Expr, separator string) {
	for i, e := range items {
		if i > 0 {
			p.str(separator)
		}
		p.expr(e)
	}
}

// precedences of the binary operators; those of shifts bind tightest.
var precedences = [...]int{OpOr: 1, OpXor: 2, OpAnd: 3, OpLshift: 4, OpRshift: 4, OpNot: 0}

// binary writes an operation, with parentheses only where they are needed.
func (p *printer) binary(e *Binary) {
	own := precedences[min(e.Op, OpNot)]
	p.operandOf(e.Left, own)
	p.byte(' ')
	p.str(e.Op.String())
	p.byte(' ')
	p.operandOf(e.Right, own+1)
}

func (p *printer) operandOf(e Expr, lowest int) {
	if b, ok := e.(*Binary); ok && precedences[min(b.Op, OpNot)] < lowest {
		p.byte('(')
		p.binary(b)
		p.byte(')')
		return
	}
	p.expr(e)
}

func (p *printer) mapExpr(m *MapExpr) {
	p.expr(m.Key)
	if m.Verdict {
		p.str(" vmap ")
	} else {
		p.str(" map ")
	}
	p.expr(m.Map)
}

// selector writes what takes something from the packet or its context.
func (p *printer) selector(e Expr) {
	switch e := e.(type) {
	case *HeaderField:
		p.str(e.Protocol.Text)
		p.byte(' ')
		p.str(e.Field.Text)
	case *Inner:
		p.str(e.Tunnel.Text)
		p.byte(' ')
		p.expr(e.Expr)
	case *RawPayload:
		p.byte('@')
		p.str(e.Base.Text)
		p.bitRange(e.Offset, e.Length)
	case *Meta:
		p.meta(e)
	case *CT:
		p.str("ct")
		p.option(e.Direction)
		p.option(e.Family)
		p.option(e.Key)
	case *RT:
		p.str("rt")
		p.option(e.Family)
		p.option(e.Key)
	case *Socket:
		p.str("socket ")
		p.str(e.Key.Text)
		p.numberOption(" level ", e.Level)
	case *Fib:
		p.str("fib ")
		p.words(e.Flags, " . ")
		p.option(e.Result)
	case *OSF:
		p.str("osf")
		if e.TTL.Given() {
			p.str(" ttl ")
			p.str(e.TTL.Text)
		}
		p.option(e.Key)
	case *Numgen:
		p.str("numgen ")
		p.str(e.Mode.Text)
		p.numberOption(" mod ", e.Mod)
		p.numberOption(" offset ", e.Offset)
	case *Hash:
		p.hash(e)
	case *IPsec:
		p.str("ipsec ")
		p.str(e.Direction.Text)
		p.numberOption(" spnum ", e.Spnum)
		p.option(e.Family)
		p.option(e.Key)
	case *TunnelMeta:
		p.str("tunnel ")
		p.str(e.Key.Text)
	default:
		p.optionSelector(e)
	}
}

func (p *printer) optionSelector(e Expr) {
	switch e := e.(type) {
	case *ExthdrField:
		if !e.Field.Given() {
			p.str("exthdr ")
		}
		p.str(e.Header.Text)
		p.option(e.Field)
		if e.Index != nil {
			p.byte('[')
			p.number(e.Index.Value)
			p.byte(']')
		}
	case *TCPOption:
		p.str("tcp option ")
		if e.Raw {
			p.byte('@')
			p.number(uint64(e.RawKind))
			p.bitRange(e.Offset, e.Length)
			return
		}
		p.str(e.Kind.Text)
		p.option(e.Field)
	case *IPOption:
		p.str("ip option ")
		p.str(e.Name.Text)
		p.option(e.Field)
	case *SCTPChunk:
		p.str("sctp chunk ")
		p.str(e.Type.Text)
		p.option(e.Field)
	case *DCCPOption:
		p.str("dccp option ")
		p.str(e.Kind.Text)
	}
}

func (p *printer) bitRange(offset, length uint32) {
	p.byte(',')
	p.number(uint64(offset))
	p.byte(',')
	p.number(uint64(length))
}

// meta writes a key of meta. Listings leave out the word meta before some
// keys, sources keep what was written.
func (p *printer) meta(m *Meta) {
	alone := false
	if p.source {
		alone = !m.Qualified
	} else if k := catalog.MetaKey(m.Key.Text); k != nil {
		alone = k.PrintAlone
	}
	if !alone {
		p.str("meta ")
	}
	p.str(m.Key.Text)
}

func (p *printer) hash(h *Hash) {
	if h.Symmetric {
		p.str("symhash")
	} else {
		p.str("jhash ")
		p.expr(h.Of)
	}
	p.numberOption(" mod ", h.Mod)
	if h.Seed != nil {
		p.str(" seed 0x")
		p.b = strconv.AppendUint(p.b, h.Seed.Value, 16)
	}
	p.numberOption(" offset ", h.Offset)
}
