package syntax

// leading skips what separates items and collects the comments before the
// next one.
func (p *parser) leading() Trivia {
	t, _ := p.gap(true)
	return t
}

// gap skips line ends, and semicolons where they separate, collecting the
// comments and blank lines on the way.
func (p *parser) gap(semicolons bool) (t Trivia, newlines int) {
	if len(p.comments) > 0 {
		t.Before = p.takeComments(t.Before, false)
	}
	lines := 0
	for p.tok.kind == kindNewline || semicolons && p.tok.kind == kindSemicolon {
		if p.tok.kind == kindNewline {
			lines++
			newlines++
		}
		p.next()
		if len(p.comments) > 0 {
			first := len(t.Before) == 0
			t.Before = p.takeComments(t.Before, lines > 1)
			t.Blank = t.Blank || first && lines > 1
			lines = 0
		}
	}
	if len(t.Before) == 0 {
		t.Blank = lines > 1
	} else {
		t.Detached = lines > 1
	}
	return t, newlines
}

// takeComments moves the passed comments to a list.
func (p *parser) takeComments(to []Comment, blank bool) []Comment {
	for _, c := range p.comments {
		c.Blank = blank
		blank = false
		to = append(to, c.Comment)
	}
	p.comments = p.comments[:0]
	return to
}

// takeTrailing takes the comment that stands behind the token before the
// current one on the same line, "" if there is none.
func (p *parser) takeTrailing() string {
	n := len(p.comments)
	if n == 0 || p.comments[n-1].ownLine || p.comments[n-1].Span.Start < p.prevEnd {
		return ""
	}
	text := p.comments[n-1].Text
	p.comments = p.comments[:n-1]
	return text
}

// opening parses the opening brace of an item's block and keeps the comment
// behind it.
func (p *parser) opening(t *Trivia) (brace token, ok bool) {
	brace = p.tok
	if !p.expect(kindLBrace) {
		return brace, false
	}
	t.Trailing = p.takeTrailing()
	return brace, true
}

// hasBlock reports whether an item was written with braces.
func hasBlock(item Item) bool {
	switch i := item.(type) {
	case *Table:
		return i.HasBlock
	case *Chain:
		return i.HasBlock
	case *Set:
		return i.HasBlock
	case *StatefulObj:
		return i.HasBlock
	case *Flowtable:
		return i.HasBlock
	case *Command:
		body := i.Body()
		return body != nil && hasBlock(body)
	}
	return false
}

// Body is the declaration that a command carries, nil if none.
func (c *Command) Body() Item {
	switch {
	case c.Table != nil:
		return c.Table
	case c.Chain != nil:
		return c.Chain
	case c.Set != nil:
		return c.Set
	case c.Stateful != nil:
		return c.Stateful
	case c.Flowtable != nil:
		return c.Flowtable
	}
	return nil
}
