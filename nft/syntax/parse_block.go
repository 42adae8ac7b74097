package syntax

import (
	"fmt"

	"verdict/diag"
)

// itemParser parses one item of a block or file; nil after an error.
type itemParser func(*parser) Item

// fileItems parses the items of a whole file.
func (p *parser) fileItems() (items []Item, end []Comment) {
	return p.items((*parser).fileItem, false)
}

// blockItems parses the items of a block and its closing brace. brace is the
// opening one, owner what the block belongs to. Comments at the end become an
// *Empty.
//
// foreign are the words of declarations that cannot stand in the block: where
// one does, the closing brace is missing before it.
func (p *parser) blockItems(parse itemParser, brace token, owner string, foreign []string) []Item {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	outer := p.foreign
	p.foreign = foreign
	defer func() { p.foreign = outer }()
	items, end := p.items(parse, true)
	if len(end) > 0 {
		items = append(items, &Empty{Trivia: Trivia{Before: end, Blank: end[0].Blank}})
	}
	p.closing(brace, owner)
	return items
}

// closing takes the closing brace of a block.
func (p *parser) closing(brace token, owner string) {
	if p.atForeign() {
		p.depth--
		p.closedEarly = true
		if p.foreignAt == p.tok.start || p.stopped {
			return
		}
		p.foreignAt = p.tok.start
		d := p.list.Errorf(p.tokSpan(p.tok), codeUnclosed, "unexpected %s: the block of %s is not closed", p.describe(p.tok), owner)
		p.startsAt(d, brace)
		p.stopped = p.list.Errors() >= p.opts.MaxErrors
		return
	}
	if p.at(kindEOF) && !p.stopped {
		if p.unclosed {
			p.failed, p.resume, p.tok.kind = true, p.tok, kindBad
			return
		}
		p.unclosed = true
		d := p.fail(p.tokSpan(p.tok), codeUnclosed, "unexpected end of file: the block of %s is not closed", owner)
		p.startsAt(d, brace)
		return
	}
	p.expect(kindRBrace)
}

// startsAt says where the block or list that a diagnostic is about starts.
func (p *parser) startsAt(d *diag.Diagnostic, brace token) {
	start := p.tokSpan(brace)
	d.Related = []diag.Span{start}
	d.Expected = []string{"'}'"}
	d.Hint = fmt.Sprintf("it starts in line %d", start.Pos().Line)
}

// atForeign reports whether the current token declares something that cannot
// stand in the current block.
func (p *parser) atForeign() bool {
	return p.tok.kind == kindWord && len(p.foreign) > 0 && p.declarationAt(int(p.tok.start), p.foreign)
}

// items parses items up to the end of the source, or in blocks up to the
// closing brace. Items with errors are reported and left out.
func (p *parser) items(parse itemParser, inBlock bool) (items []Item, end []Comment) {
	base := p.depth
	commented := false
	for {
		if p.stopped && !p.failed {
			p.toEnd()
		}
		trivia := p.leading()
		if p.at(kindEOF) || p.failed || inBlock && (p.at(kindRBrace) || p.atForeign()) {
			return items, trivia.Before
		}
		item := parse(p)
		if c, ok := item.(*CommentProperty); ok && !p.failed {
			if commented {
				p.fail(c.Span, codeDuplicate, "the comment is given a second time")
			}
			commented = true
		}
		if !p.failed && item != nil {
			around := item.Around()
			trivia.Trailing = around.Trailing
			*around = trivia
			p.separator(item, inBlock)
		}
		if p.failed {
			p.resync(base)
			continue
		}
		items = append(items, item)
	}
}

// separator takes what stands between an item and the next, and the comment
// behind the item.
func (p *parser) separator(item Item, inBlock bool) {
	around := item.Around()
	comment := p.takeTrailing()
	if p.closedEarly {
		p.closedEarly = false
		return
	}
	switch p.tok.kind {
	case kindNewline, kindEOF:
	case kindSemicolon:
		for p.accept(kindSemicolon) {
		}
		if comment == "" {
			comment = p.takeTrailing()
		}
	case kindRBrace:
		if inBlock && endsItself(item) {
			break
		}
		if !inBlock {
			p.fail(p.tokSpan(p.tok), codeStray, "unexpected '}': no block is open here")
			return
		}
		p.missingSeparator()
	default:
		if _, carried := item.(*ElementStatement); carried && p.startsStateful() {
			break
		}
		if !endsItself(item) {
			d := p.unexpected("';'", "a new line")
			if hasBlock(item) {
				d.Hint = "a new line or ';' must follow the block"
			}
		}
	}
	if comment == "" {
		return
	}
	if hasBlock(item) {
		around.Closing = comment
	} else {
		around.Trailing = comment
	}
}

// missingSeparator reports that ';' is missing before '}', and goes on.
func (p *parser) missingSeparator() {
	if p.stopped {
		return
	}
	d := p.list.Errorf(p.tokSpan(p.tok), codeSeparator, "unexpected '}', expected ';' or a new line")
	d.Hint = "put ';' before the '}'"
	d.Expected = []string{"';'", "a new line"}
	p.stopped = p.list.Errors() >= p.opts.MaxErrors
}

// endsItself reports whether nothing need separate an item from the next.
func endsItself(item Item) bool {
	switch item.(type) {
	case *Elements, *AutoMerge:
		return true
	}
	return false
}

// scopeItem parses what every block and file may hold: define, redefine,
// undefine and include. ok is false where the current word is none of them.
func (p *parser) scopeItem(parse itemParser) (item Item, ok bool) {
	if p.tok.kind != kindWord {
		return nil, false
	}
	switch p.str(p.tok) {
	case "define", "redefine":
		return p.define(), true
	case "undefine":
		start := p.tok.start
		p.next()
		name := p.name("the name of a variable")
		return &Undefine{At: p.since(start), Name: name}, true
	case "include":
		return p.include(parse), true
	}
	return nil, false
}

func (p *parser) define() Item {
	start := p.tok.start
	d := &Define{Redefine: p.is("redefine")}
	p.next()
	d.Name = p.name("the name of a variable")
	p.expect(kindAssign)
	d.Value = p.initializer()
	d.At = p.since(start)
	return d
}

// commentProperty parses comment "TEXT" as a property.
func (p *parser) commentProperty() Item {
	start := p.tok.start
	p.next()
	text := p.commentText()
	return &CommentProperty{At: p.since(start), Text: text}
}

// flagList takes flags separated by commas behind the word flags.
func (p *parser) flagList(words ...string) []Word {
	p.next()
	flags := []Word{p.oneOf(words...)}
	for p.accept(kindComma) {
		flags = append(flags, p.oneOf(words...))
	}
	return flags
}
