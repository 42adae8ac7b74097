package syntax

// setLiteral parses { … } with at least one element.
func (p *parser) setLiteral(m mode) Expr {
	s := p.elementList(m)
	if s == nil {
		return nil
	}
	if len(s.Elements) == 0 {
		// Point at the closing brace, as for any missing element.
		end := s.Span
		end.Start = end.End - 1
		p.fail(end, codeUnexpected, "unexpected '}', expected an element")
		return nil
	}
	return s
}

// elementList parses { … }; nil after an error. Line ends and comments may
// stand between elements.
func (p *parser) elementList(m mode) *SetLiteral {
	brace := p.tok
	if !p.expect(kindLBrace) {
		return nil
	}
	if !p.enter() {
		return nil
	}
	defer p.leave()

	s := &SetLiteral{}
	base := len(p.scratchExprs)
	lines := lineCounter{}
	for {
		before := p.elementGap(&lines)
		index := len(p.scratchExprs) - base
		if p.at(kindRBrace) || p.failed {
			s.End = before.Before
			break
		}
		if p.at(kindEOF) {
			d := p.fail(p.tokSpan(p.tok), codeUnclosed, "unexpected end of file: this list is not closed")
			p.startsAt(d, brace)
			p.unclosed = true
			break
		}
		if p.keep && (len(before.Before) > 0 || before.Blank && index > 0) {
			s.Notes = append(s.Notes, Note{Index: index, Trivia: before})
		}
		var member Expr
		if run := p.plainRun(); run != nil {
			member = run
		} else {
			member = p.member(m)
		}
		if p.failed {
			break
		}
		p.scratchExprs = append(p.scratchExprs, member)
		lines.count++
		if !p.moreElements(s, index, &lines) {
			break
		}
	}
	s.Elements = append([]Expr(nil), p.scratchExprs[base:]...)
	clear(p.scratchExprs[base:])
	p.scratchExprs = p.scratchExprs[:base]
	if p.failed {
		return nil
	}
	s.End = append(s.End, p.takeComments(nil, false)...)
	p.next()
	s.At = p.since(brace.start)
	s.PerLine = lines.perLine()
	return s
}

// lineCounter finds out how many elements stand on a line.
type lineCounter struct {
	count, most int
	several     bool
}

func (c *lineCounter) newline() {
	c.several = true
	c.most = max(c.most, c.count)
	c.count = 0
}

func (c *lineCounter) perLine() int {
	if !c.several {
		return 0
	}
	return max(c.most, c.count, 1)
}

// elementGap passes line ends before an element, a comma or the closing brace.
func (p *parser) elementGap(lines *lineCounter) Trivia {
	if p.tok.kind != kindNewline && len(p.comments) == 0 {
		return Trivia{}
	}
	t, newlines := p.gap(false)
	if newlines > 0 {
		lines.newline()
	}
	return t
}

// moreElements takes the comma behind an element and keeps the comment that
// stands there. It reports whether elements may follow.
func (p *parser) moreElements(s *SetLiteral, index int, lines *lineCounter) bool {
	comment := p.takeTrailing()
	for p.tok.kind == kindNewline {
		lines.newline()
		p.next()
	}
	comma := p.accept(kindComma)
	if comma && comment == "" {
		comment = p.takeTrailing()
	}
	if comment != "" {
		if n := len(s.Notes); n > 0 && s.Notes[n-1].Index == index {
			s.Notes[n-1].Trailing = comment
		} else {
			s.Notes = append(s.Notes, Note{Index: index, Trivia: Trivia{Trailing: comment}})
		}
	}
	if comma || p.at(kindRBrace) {
		return comma
	}
	p.unexpected("','", "'}'")
	return false
}

// member parses one member of a list: an element, a list in the list, or a
// variable that stands for elements.
func (p *parser) member(m mode) Expr {
	if p.at(kindLBrace) {
		return p.setLiteral(m)
	}
	e := p.element(m)
	if v, ok := e.Key.(*Variable); ok && e.bare() {
		return v
	}
	return e
}

// bare reports whether the element is nothing but its key.
func (e *Element) bare() bool {
	return e.Data == nil && len(e.Statements) == 0 && e.Timeout == nil && !e.Never && e.Expires == nil && !e.Comment.Given()
}

// element parses KEY, what belongs to the element, and : DATA.
func (p *parser) element(m mode) *Element {
	start := p.tok.start
	e := p.elements.new()
	if p.at(kindStar) {
		e.Key = &Wildcard{At: At{p.tokSpan(p.tok)}}
		p.next()
	} else {
		e.Key = p.concat(m)
	}
	if p.at(kindWord) {
		p.elementOptions(e, m)
	}
	if p.accept(kindColon) {
		e.Data = p.elementData(m)
		if p.at(kindWord) && elementOption(p) {
			d := p.unexpected("','", "'}'")
			d.Hint = "what belongs to an element stands before its ':'"
		}
	}
	e.At = p.since(start)
	return e
}

func elementOption(p *parser) bool {
	return p.is("timeout") || p.is("expires") || p.is("comment") || p.startsStateful()
}

// elementOptions parses the timeouts, comment and stateful statements of an
// element.
func (p *parser) elementOptions(e *Element, m mode) {
	for p.at(kindWord) {
		switch {
		case p.acceptWord("timeout"):
			if e.Never = p.acceptWord("never"); !e.Never {
				e.Timeout = p.duration()
			}
		case p.acceptWord("expires"):
			e.Expires = p.duration()
		case p.acceptWord("comment"):
			e.Comment = p.commentText()
		case p.startsStateful():
			if s := p.statement(); s != nil {
				e.Statements = append(e.Statements, s)
			}
		default:
			p.unknown(codeWord, "option of an element", elementWords)
			return
		}
	}
}

var elementWords = []string{"timeout", "expires", "comment", "counter", "quota", "limit", "last", "ct"}

// elementData parses what an element maps to.
func (p *parser) elementData(m mode) Expr {
	if p.at(kindWord) && p.verdictWord() {
		return p.verdict()
	}
	if m == selecting {
		return p.expression()
	}
	return p.concat(valuing)
}
