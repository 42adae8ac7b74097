package syntax

import "verdict/catalog"

// mode says what words mean in an expression.
type mode uint8

const (
	selecting mode = iota // protocol and key words start selectors
	matching              // likewise, at the start of a statement
	valuing               // words are values
)

// precedence of a binary operator, 0 for other tokens.
func (p *parser) operator() (op Operator, precedence int) {
	switch p.tok.kind {
	case kindOr:
		return OpOr, 1
	case kindXor:
		return OpXor, 2
	case kindAnd:
		return OpAnd, 3
	case kindLshift:
		return OpLshift, 4
	case kindRshift:
		return OpRshift, 4
	case kindWord:
		switch p.str(p.tok) {
		case "or":
			return OpOr, 1
		case "xor":
			return OpXor, 2
		case "and":
			return OpAnd, 3
		case "lshift":
			return OpLshift, 4
		case "rshift":
			return OpRshift, 4
		}
	}
	return OpImplicit, 0
}

// maxOperators bounds the length of a chain of operators, which is the depth of
// its tree.
const maxOperators = 1000

// bits parses operands joined by the bitwise operators and shifts.
func (p *parser) bits(m mode) Expr { return p.binary(p.operand(m), m, 1) }

func (p *parser) binary(left Expr, m mode, lowest int) Expr {
	for operators := 0; ; operators++ {
		op, precedence := p.operator()
		if precedence == 0 || precedence < lowest {
			return left
		}
		if operators == maxOperators {
			p.fail(p.tokSpan(p.tok), codeNesting, "too many operators in one expression, at most %d are read", maxOperators)
			return left
		}
		p.next()
		right := p.operand(m)
		for {
			_, tighter := p.operator()
			if tighter <= precedence {
				break
			}
			right = p.binary(right, m, tighter)
		}
		if p.failed {
			return left
		}
		left = &Binary{At: p.since(left.Place().Start), Op: op, Left: left, Right: right}
	}
}

// part parses one part of a concatenation: bits, a range or a prefix.
func (p *parser) part(m mode) Expr {
	e := p.bits(m)
	switch p.tok.kind {
	case kindDash:
		p.next()
		to := p.bits(m)
		if p.failed {
			return e
		}
		r := p.ranges.new()
		*r = Range{At: p.since(e.Place().Start), From: e, To: to}
		return r
	case kindSlash:
		if next := p.peek().kind; next != kindNumber && next != kindDollar {
			return e
		}
		p.next()
		length := p.operand(valuing)
		if p.failed {
			return e
		}
		prefix := p.prefixes.new()
		*prefix = Prefix{At: p.since(e.Place().Start), Base: e, Length: length}
		return prefix
	}
	return e
}

// concat parses parts joined by dots; one part stands for itself.
func (p *parser) concat(m mode) Expr {
	first := p.part(m)
	if p.tok.kind != kindDot {
		return first
	}
	base := len(p.scratchExprs)
	p.scratchExprs = append(p.scratchExprs, first)
	for p.accept(kindDot) {
		p.scratchExprs = append(p.scratchExprs, p.part(m))
	}
	parts := p.exprs.carve(p.scratchExprs[base:])
	p.scratchExprs = p.scratchExprs[:base]
	if p.failed {
		return first
	}
	c := p.concats.new()
	*c = Concat{At: p.since(first.Place().Start), Parts: parts}
	return c
}

// operand parses a literal, a variable, a selector or a parenthesis. It
// returns nil only after an error.
func (p *parser) operand(m mode) Expr {
	switch p.tok.kind {
	case kindNumber, kindValue, kindBracket, kindQuoted, kindWild:
		return p.literal()
	case kindWord:
		if m != valuing && p.startsSelector(m) {
			return p.selector()
		}
		if word := p.str(p.tok); reservedWords[word] && !valueWords[word] {
			p.wantOperand(m)
			return nil
		}
		return p.literal()
	case kindDollar:
		if v := p.variable(); v != nil {
			return v
		}
		return nil
	case kindAt:
		if p.startsRawPayload() {
			return p.rawPayload()
		}
		if m == valuing {
			return p.setRef()
		}
	case kindLParen:
		return p.parenthesis(m)
	}
	p.wantOperand(m)
	return nil
}

func (p *parser) wantOperand(m mode) {
	if m == valuing {
		p.unexpected("a value")
		return
	}
	p.unexpected("an expression")
}

func (p *parser) parenthesis(m mode) Expr {
	start := p.tok.start
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.next()
	e := p.bits(m)
	if !p.expect(kindRParen) {
		return nil
	}
	if b, ok := e.(*Binary); ok {
		b.At = p.since(start)
	}
	return e
}

// literal takes the current token as a literal.
func (p *parser) literal() *Literal {
	t := p.tok
	l := p.literals.new()
	l.At = At{p.tokSpan(t)}
	l.Text = p.str(t)
	switch t.kind {
	case kindNumber:
		if value, ok := parseNumber(l.Text); ok {
			l.Kind, l.Value = LitNumber, value
		}
	case kindQuoted:
		l.Kind, l.Text = LitQuoted, l.Text[1:len(l.Text)-1]
	case kindBracket:
		l.Text = l.Text[1 : len(l.Text)-1]
	}
	p.next()
	return l
}

// negative parses - NUMBER.
func (p *parser) negative() *Literal {
	start := p.tok.start
	p.next()
	if !p.at(kindNumber) {
		p.unexpected("a number")
		return nil
	}
	l := p.literal()
	l.At = p.since(start)
	l.Text, l.Value = "-"+l.Text, -l.Value
	return l
}

// variable parses $NAME; nil after an error.
func (p *parser) variable() *Variable {
	start := p.tok.start
	p.next()
	if !p.at(kindWord) {
		p.unexpected("the name of a variable")
		return nil
	}
	name := p.str(p.tok)
	p.next()
	return &Variable{At: p.since(start), Name: name}
}

// setRef parses @NAME. The result is nil (as an Expr) after an error.
func (p *parser) setRef() Expr {
	if s := p.setReference(); s != nil {
		return s
	}
	return nil
}

func (p *parser) setReference() *SetRef {
	start := p.tok.start
	if !p.accept(kindAt) {
		if d := p.unexpected("'@'"); p.resume.kind == kindWord {
			d.Hint = "sets are referred to by @ and their name"
		}
		return nil
	}
	name := p.name("the name of a set")
	return &SetRef{At: p.since(start), Name: name.Text}
}

// expression parses what a statement sets or translates to: selectors and
// values, joined, and mapped by a map.
func (p *parser) expression() Expr {
	e := p.concat(selecting)
	if p.is("map") {
		return p.mapping(e)
	}
	return e
}

// mapping parses map { … } or map @m behind a key.
func (p *parser) mapping(key Expr) Expr {
	if p.failed {
		return key
	}
	start := key.Place().Start
	verdict := p.is("vmap")
	p.next()
	var source Expr
	switch p.tok.kind {
	case kindLBrace:
		source = p.setLiteral(valuing)
	case kindAt:
		source = p.setRef()
	case kindDollar:
		source = p.operand(valuing)
	default:
		p.unexpected("'{'", "'@'")
	}
	if p.failed {
		return key
	}
	return &MapExpr{At: p.since(start), Key: key, Map: source, Verdict: verdict}
}

// assigned parses the right side of `set`: an expression or a list of flags.
func (p *parser) assigned() Expr {
	e := p.expression()
	return p.list2(e, selecting)
}

// list2 continues a value to a list where a comma follows.
func (p *parser) list2(first Expr, m mode) Expr {
	if p.tok.kind != kindComma || p.failed {
		return first
	}
	items := []Expr{first}
	for p.accept(kindComma) {
		items = append(items, p.bits(m))
	}
	if p.failed {
		return first
	}
	return &List{At: p.since(first.Place().Start), Items: items}
}

// matched parses the right side of a comparison.
func (p *parser) matched() Expr {
	switch p.tok.kind {
	case kindLBrace:
		return p.setLiteral(valuing)
	case kindAt:
		return p.setRef()
	}
	value := p.list2(p.concat(valuing), valuing)
	if p.tok.kind != kindSlash {
		return value
	}
	p.next()
	mask := p.list2(p.bits(valuing), valuing)
	if p.failed {
		return value
	}
	return &FlagMatch{At: p.since(value.Place().Start), Value: value, Mask: mask}
}

// mixedExpr parses an expression of which it is not known whether it selects
// or is a value, as describe takes it.
func (p *parser) mixedExpr() Expr {
	switch {
	case p.at(kindLBrace):
		return p.setLiteral(valuing)
	case p.at(kindWord) && p.startsSelector(selecting):
		e := p.expression()
		if p.is("vmap") {
			return p.mapping(e)
		}
		return e
	case p.at(kindWord) && p.verdictWord():
		return p.verdict()
	}
	return p.matched()
}

// initializer parses the value of a define.
func (p *parser) initializer() Expr {
	switch p.tok.kind {
	case kindLBrace:
		if s := p.elementList(valuing); s != nil {
			return s
		}
		return nil
	case kindDash:
		if l := p.negative(); l != nil {
			return l
		}
		return nil
	case kindStar:
		p.unexpected("a value")
		return nil
	}
	return p.list2(p.concat(valuing), valuing)
}

// verdictKinds are the verdicts by word.
var verdictKinds = map[string]catalog.VerdictKind{
	"accept": catalog.VerdictAccept, "drop": catalog.VerdictDrop, "continue": catalog.VerdictContinue,
	"return": catalog.VerdictReturn, "jump": catalog.VerdictJump, "goto": catalog.VerdictGoto,
}

// verdictWord reports whether the current word is a verdict.
func (p *parser) verdictWord() bool {
	_, ok := verdictKinds[p.str(p.tok)]
	return ok
}

// verdict parses a verdict, including the anonymous chain of jump { … }.
func (p *parser) verdict() *VerdictExpr {
	start := p.tok.start
	v := p.verdicts.new()
	v.Kind = verdictKinds[p.str(p.tok)]
	p.next()
	if v.Kind == catalog.VerdictJump || v.Kind == catalog.VerdictGoto {
		switch p.tok.kind {
		case kindLBrace:
			v.Block = p.anonymousChain()
		case kindDollar:
			v.Chain = p.operand(valuing)
		default:
			name := p.name("the name of a chain")
			v.Chain = &Literal{At: name.At, Text: name.Text}
		}
	}
	v.At = p.since(start)
	return v
}
