package syntax

import "verdict/diag"

// ruleBody parses the statements of a rule and its comment, up to what ends
// the rule.
func (p *parser) ruleBody(rule *Rule) {
	base := len(p.scratchStatements)
	for !p.ruleEnds() {
		if p.is("comment") {
			p.next()
			rule.Comment = p.commentText()
			break
		}
		if s := p.statement(); s != nil {
			p.scratchStatements = append(p.scratchStatements, s)
		}
	}
	if len(p.scratchStatements) == base && !p.failed && !rule.Comment.Given() {
		p.unexpected("a statement")
	}
	rule.Statements = p.statements.carve(p.scratchStatements[base:])
	p.scratchStatements = p.scratchStatements[:base]
}

// ruleEnds reports whether the current token ends a rule.
func (p *parser) ruleEnds() bool {
	switch p.tok.kind {
	case kindNewline, kindSemicolon, kindRBrace, kindEOF, kindBad:
		return true
	}
	return false
}

// quotedText takes a string: quoted, or a single bare word. An empty one is
// refused.
func (p *parser) quotedText(what string) Word {
	if p.at(kindQuoted) && p.tok.end == p.tok.start+2 {
		p.fail(p.tokSpan(p.tok), codeUnexpected, "unexpected empty string, expected %s", what)
		return Word{}
	}
	return p.quotedOrBare(what)
}

// commentText takes the text of a comment, which may be empty.
func (p *parser) commentText() Word { return p.quotedOrBare("a comment") }

func (p *parser) quotedOrBare(what string) Word {
	switch p.tok.kind {
	case kindQuoted:
		w := Word{At: At{p.tokSpan(p.tok)}, Text: p.text[p.tok.start+1 : p.tok.end-1]}
		p.next()
		return w
	case kindWord, kindWild:
		return p.takeWord()
	}
	p.unexpected(what)
	return Word{}
}

// name takes a word that names something. Reserved words are refused.
func (p *parser) name(what string) Word {
	if p.tok.kind != kindWord {
		d := p.unexpected(what)
		if p.resume.kind == kindQuoted {
			d.Hint = "names are written without quotes"
		}
		return Word{}
	}
	if word := p.str(p.tok); reservedWords[word] {
		d := p.fail(p.tokSpan(p.tok), codeReserved, "'%s' is a reserved word, expected %s", word, what)
		d.Expected = []string{what}
		return Word{}
	}
	return p.takeWord()
}

// statement parses one statement of a rule; nil after an error.
func (p *parser) statement() Statement {
	if p.tok.kind == kindWord {
		if parse := statementParsers[p.str(p.tok)]; parse != nil {
			return parse(p)
		}
		if _, ok := selectorWords[p.str(p.tok)]; !ok {
			p.unknownStatement()
			return nil
		}
		return p.match()
	}
	switch p.tok.kind {
	case kindAt, kindLParen, kindDollar:
		return p.match()
	case kindNumber, kindValue, kindBracket, kindQuoted, kindWild:
		d := p.fail(p.tokSpan(p.tok), codeUnexpected, "unexpected %s: a statement cannot start with a value", p.describe(p.tok))
		d.Hint = "several values for one match stand in braces: { A, B }"
		return nil
	}
	p.unexpected("a statement")
	return nil
}

func (p *parser) unknownStatement() *diag.Diagnostic {
	return p.unknown(codeStatement, "statement", startWords)
}

// statementParsers are the statements by their first word, except those that
// compare or set what a selector gives. It is filled in init, because
// statements hold rules again.
var statementParsers map[string]func(*parser) Statement

func init() {
	statementParsers = map[string]func(*parser) Statement{
		"accept": (*parser).verdictStatement, "drop": (*parser).verdictStatement,
		"continue": (*parser).verdictStatement, "return": (*parser).verdictStatement,
		"jump": (*parser).verdictStatement, "goto": (*parser).verdictStatement,
		"counter": (*parser).counterStatement, "quota": (*parser).quotaStatement,
		"limit": (*parser).limitStatement, "last": (*parser).lastStatement,
		"ct": (*parser).ctStatement, "meta": (*parser).metaStatement, "tunnel": (*parser).tunnelStatement,
		"log": (*parser).logStatement, "reject": (*parser).rejectStatement,
		"snat": (*parser).natStatement, "dnat": (*parser).natStatement,
		"masquerade": (*parser).masqueradeStatement, "redirect": (*parser).redirectStatement,
		"tproxy": (*parser).tproxyStatement, "synproxy": (*parser).synproxyStatement,
		"queue": (*parser).queueStatement, "dup": (*parser).dupStatement, "fwd": (*parser).fwdStatement,
		"notrack": (*parser).notrackStatement, "flow": (*parser).flowStatement,
		"reset": (*parser).resetStatement,
		"add":   (*parser).setStatement, "update": (*parser).setStatement, "delete": (*parser).setStatement,
		"set": (*parser).oldSetStatement, "meter": (*parser).meterStatement, "xt": (*parser).xtStatement,
	}
}

func (p *parser) verdictStatement() Statement {
	v := p.verdict()
	s := p.verdictSts.new()
	s.At, s.Verdict = v.At, v
	return s
}

// match parses a statement that starts with a selector: a comparison, an
// assignment, or a verdict map.
func (p *parser) match() Statement {
	if p.at(kindWord) {
		w := selectorWords[p.str(p.tok)]
		if t := p.peek(); w.kind == selHeader && (t.kind != kindWord || !p.followsProtocol(w.protocol, p.str(t))) {
			p.header(w.protocol) // says what is missing
			return nil
		}
	}
	left := p.concat(matching)
	if p.failed {
		return nil
	}
	if l, ok := leftmost(left).(*Literal); ok {
		p.fail(l.Span, codeUnexpected, "a statement cannot start with a value")
		return nil
	}
	return p.matchTail(left)
}

// leftmost is the operand that an expression starts with.
func leftmost(e Expr) Expr {
	for {
		switch x := e.(type) {
		case *Binary:
			e = x.Left
		case *Concat:
			e = x.Parts[0]
		case *Range:
			e = x.From
		case *Prefix:
			e = x.Base
		default:
			return e
		}
	}
}

// matchTail parses what follows the selector of a statement.
func (p *parser) matchTail(left Expr) Statement {
	op := OpImplicit
	switch p.tok.kind {
	case kindWord:
		switch p.str(p.tok) {
		case "map":
			left = p.mapping(left)
			if p.failed || !p.enter() {
				return nil
			}
			defer p.leave()
			return p.matchTail(left)
		case "vmap":
			if m, ok := p.mapping(left).(*MapExpr); ok {
				return &VMapStatement{At: m.At, Map: m}
			}
			return nil
		case "set":
			return p.assign(left)
		case "eq":
			op = OpEq
		case "ne":
			op = OpNeq
		case "lt":
			op = OpLt
		case "le":
			op = OpLte
		case "gt":
			op = OpGt
		case "ge":
			op = OpGte
		case "not":
			op = OpNot
		}
	case kindEq:
		op = OpEq
	case kindNeq:
		op = OpNeq
	case kindLt:
		op = OpLt
	case kindLte:
		op = OpLte
	case kindGt:
		op = OpGt
	case kindGte:
		op = OpGte
	case kindNot:
		op = OpNot
	}
	if op != OpImplicit {
		p.next()
	}
	right := p.matched()
	if p.failed {
		return nil
	}
	m := p.matches.new()
	*m = Match{At: p.since(left.Place().Start), Left: left, Op: op, Right: right}
	return m
}

// assign parses `set VALUE` behind what is set.
func (p *parser) assign(left Expr) Statement {
	p.next()
	right := p.assigned()
	if p.failed {
		return nil
	}
	return &Assign{At: p.since(left.Place().Start), Left: left, Right: right}
}

// metaStatement parses statements that start with meta. `meta secmark set X`
// names an object unless X is a ct key.
func (p *parser) metaStatement() Statement {
	s := p.match()
	a, ok := s.(*Assign)
	if !ok {
		return s
	}
	if m, isMeta := a.Left.(*Meta); isMeta && m.Key.Text == "secmark" {
		if _, fromCT := a.Right.(*CT); !fromCT {
			return &ObjectRef{At: a.At, Kind: ObjSecmark, Name: a.Right}
		}
	}
	return s
}

// ctObjects are the ct keys that `set` gives an object.
var ctObjects = map[string]Object{"helper": ObjCTHelper, "timeout": ObjCTTimeout, "expectation": ObjCTExpectation}

// ctStatement parses statements that start with ct: connection limits, the
// objects that ct assigns, and everything that starts with a ct key.
func (p *parser) ctStatement() Statement {
	start := p.tok.start
	next := p.peek()
	if next.kind == kindWord {
		word := p.str(next)
		if word == "count" {
			return p.connLimit()
		}
		if kind, ok := ctObjects[word]; ok && (word != "helper" || p.setFollows(next)) {
			p.next()
			p.next()
			if !p.expectWord("set") {
				return nil
			}
			name := p.expression()
			if p.failed {
				return nil
			}
			return &ObjectRef{At: p.since(start), Kind: kind, Name: name}
		}
	}
	return p.match()
}

// setFollows reports whether the word behind a token is set.
func (p *parser) setFollows(t token) bool {
	l := lexer{text: p.text, pos: int(t.end)}
	next := l.scan()
	return next.kind == kindWord && p.str(next) == "set"
}

// objectName parses the name behind `counter name` and the like: a string, or
// a map that gives one. It returns nil (as a Statement) after an error.
func (p *parser) objectName(start int32, kind Object) Statement {
	p.next()
	name := p.expression()
	if p.failed {
		return nil
	}
	return &ObjectRef{At: p.since(start), Kind: kind, Name: name}
}

// tunnelStatement parses `tunnel name X` and matches of tunnel keys.
func (p *parser) tunnelStatement() Statement {
	start := p.tok.start
	if next := p.peek(); next.kind == kindWord && p.str(next) == "name" {
		p.next()
		return p.objectName(start, ObjTunnel)
	}
	return p.match()
}
