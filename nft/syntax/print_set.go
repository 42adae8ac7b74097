package syntax

// set writes a set or map. head is what stands before the brace.
func (p *printer) set(s *Set, head string) {
	p.str(head)
	if !s.HasBlock {
		return
	}
	p.open(&s.Trivia)
	for i, item := range s.Items {
		around := item.Around()
		if i > 0 && carriedOn(s.Items[i-1], item) {
			p.byte(' ')
		} else {
			p.before(around, i > 0)
			if _, ok := item.(*Empty); ok {
				continue
			}
			p.startLine()
		}
		p.property(item)
		if i+1 < len(s.Items) && carriedOn(item, s.Items[i+1]) {
			continue
		}
		if _, size := item.(*Size); p.inline && size && around.Trailing != "" {
			p.comment(around.Trailing)
		}
		if p.inline {
			p.byte(';')
		} else {
			p.trailing(item)
		}
		p.endLine()
	}
	p.close()
	if p.inline {
		p.byte(' ')
	}
}

// carriedOn reports whether two items are statements of the elements that
// stand on one line.
func carriedOn(previous, item Item) bool {
	_, first := previous.(*ElementStatement)
	_, second := item.(*ElementStatement)
	return first && second && previous.Around().Trailing == "" && len(item.Around().Before) == 0
}

// setProperty writes a property of a set.
func (p *printer) setProperty(item Item) {
	switch i := item.(type) {
	case *KeyType:
		p.keyType(i)
	case *SetFlags:
		p.str("flags ")
		p.words(i.Flags, ",")
	case *Timeout:
		p.str("timeout ")
		p.duration(i.Value)
	case *GCInterval:
		p.str("gc-interval ")
		p.duration(i.Value)
	case *Size:
		p.str("size ")
		p.expr(i.Value)
	case *SetPolicy:
		p.str("policy ")
		p.str(i.Value.Text)
	case *AutoMerge:
		p.str("auto-merge")
	case *ElementStatement:
		p.statement(i.Statement)
	case *Elements:
		p.str("elements = ")
		if s, ok := i.Value.(*SetLiteral); ok && !p.source {
			p.elementLines(s)
			return
		}
		p.expr(i.Value)
	}
}

func (p *printer) keyType(k *KeyType) {
	if k.Typeof {
		p.str("typeof ")
	} else {
		p.str("type ")
	}
	p.expr(k.Key)
	if k.Data == nil && k.Object == ObjNone {
		return
	}
	p.str(" : ")
	if k.Interval {
		p.str("interval ")
	}
	if k.Object != ObjNone {
		p.str(k.Object.String())
		return
	}
	p.expr(k.Data)
}

// elementLines writes the elements of a named set as listings do: PerLine on
// a line, the further lines under the first element.
func (p *printer) elementLines(s *SetLiteral) {
	p.str("{ ")
	i := -1
	for e := range s.All() {
		i++
		if i > 0 {
			p.byte(',')
			if s.PerLine > 0 && i%s.PerLine == 0 && !p.inline {
				p.str("\n\t\t\t     ")
			} else {
				p.byte(' ')
			}
		}
		p.expr(e)
	}
	p.str(" }")
}

// setLiteral writes { … }: on one line, or in sources that had several lines
// with one element a line.
func (p *printer) setLiteral(s *SetLiteral) {
	if p.source && s.spread() {
		p.spreadElements(s)
		return
	}
	if len(s.Elements) == 0 {
		p.str("{ }")
		return
	}
	p.str("{ ")
	first := true
	for e := range s.All() {
		if !first {
			p.str(", ")
		}
		first = false
		p.expr(e)
	}
	p.str(" }")
}

// spread reports whether a source's list goes over several lines.
func (s *SetLiteral) spread() bool {
	return s.PerLine > 0 || len(s.Notes) > 0 || len(s.End) > 0
}

// spreadElements writes one element a line, with the comments around them.
func (p *printer) spreadElements(s *SetLiteral) {
	p.str("{\n")
	p.indent++
	notes := s.Notes
	for i, e := range s.Elements {
		var note Trivia
		if len(notes) > 0 && notes[0].Index == i {
			note = notes[0].Trivia
			notes = notes[1:]
		}
		p.before(&note, i > 0)
		p.tabs()
		p.expr(e)
		if i+1 < len(s.Elements) {
			p.byte(',')
		}
		if note.Trailing != "" {
			p.byte(' ')
			p.comment(note.Trailing)
		}
		p.newline()
	}
	p.comments(s.End, len(s.Elements) > 0)
	p.indent--
	p.tabs()
	p.byte('}')
}

// element writes KEY, what belongs to the element, and : DATA.
func (p *printer) element(e *Element) {
	p.expr(e.Key)
	for _, s := range e.Statements {
		p.byte(' ')
		p.statement(s)
	}
	switch {
	case e.Never:
		p.str(" timeout never")
	case e.Timeout != nil:
		p.str(" timeout ")
		p.duration(e.Timeout)
	}
	if e.Expires != nil {
		p.str(" expires ")
		p.duration(e.Expires)
	}
	if e.Comment.Given() {
		p.str(" comment ")
		p.quote(e.Comment.Text)
	}
	if e.Data != nil {
		p.str(" : ")
		p.expr(e.Data)
	}
}
