package syntax

import (
	"slices"

	"verdict/diag"
)

// tableBlock parses the block of a table.
func (p *parser) tableBlock(t *Table) {
	brace, ok := p.opening(&t.Trivia)
	if !ok {
		return
	}
	t.HasBlock = true
	t.Items = p.blockItems((*parser).tableItem, brace, "table "+t.Name.Text, []string{"table"})
}

// tableWords are what a table's block may hold.
var tableWords = []string{
	"chain", "comment", "counter", "ct", "define", "flags", "flowtable", "include", "limit", "map", "quota",
	"redefine", "secmark", "set", "synproxy", "tunnel", "undefine",
}

func (p *parser) tableItem() Item {
	if item, ok := p.scopeItem((*parser).tableItem); ok {
		return item
	}
	if p.tok.kind != kindWord {
		p.unexpected("a declaration of the table", "'}'")
		return nil
	}
	start := p.tok.start
	switch p.str(p.tok) {
	case "flags":
		flags := p.flagList("dormant", "owner", "persist")
		return &TableFlags{At: p.since(start), Flags: flags}
	case "comment":
		return p.commentProperty()
	case "chain":
		p.next()
		c := &Chain{Name: p.name("the name of a chain")}
		p.chainBlock(c)
		c.At = p.since(start)
		return c
	case "set", "map":
		s := &Set{IsMap: p.is("map")}
		p.next()
		s.Name = p.name("the name of a set")
		p.setBlock(s)
		s.At = p.since(start)
		return s
	case "flowtable":
		p.next()
		f := &Flowtable{Name: p.name("the name of a flowtable")}
		p.flowtableBlock(f)
		f.At = p.since(start)
		return f
	}
	if kind, ok := p.objectKind(); ok {
		o := &StatefulObj{Kind: kind, Name: p.name("the name of an object")}
		p.objectBlock(o)
		o.At = p.since(start)
		return o
	}
	p.unknownTableItem()
	return nil
}

func (p *parser) unknownTableItem() {
	word := p.str(p.tok)
	d := p.unknown(codeProperty, "declaration", tableWords)
	if d.Hint == "" && slices.Contains(startWords, word) {
		d.Hint = "rules stand inside a chain"
	}
}

// chainBlock parses the block of a chain.
func (p *parser) chainBlock(c *Chain) {
	brace, ok := p.opening(&c.Trivia)
	if !ok {
		return
	}
	c.HasBlock = true
	c.Items = p.blockItems((*parser).chainItem, brace, "chain "+c.Name.Text, declarations)
}

// chainWords are the properties of a chain.
var chainWords = []string{"comment", "define", "devices", "flags", "include", "policy", "redefine", "type", "undefine"}

func (p *parser) chainItem() Item {
	if item, ok := p.scopeItem((*parser).chainItem); ok {
		return item
	}
	start := p.tok.start
	if p.tok.kind == kindWord {
		switch p.str(p.tok) {
		case "type":
			return p.hook()
		case "policy":
			p.next()
			value := p.policyValue()
			return &Policy{At: p.since(start), Value: value}
		case "flags":
			flags := p.flagList("offload")
			return &ChainFlags{At: p.since(start), Flags: flags}
		case "comment":
			return p.commentProperty()
		case "devices":
			p.next()
			devices := p.devices()
			return &DevicesProperty{At: p.since(start), Devices: devices}
		}
		if !p.startsStatement() {
			p.unknown(codeStatement, "statement", slices.Concat(startWords, chainWords))
			return nil
		}
	}
	return p.blockRule()
}

// startsStatement reports whether the current word starts a statement.
func (p *parser) startsStatement() bool {
	word := p.str(p.tok)
	_, selects := selectorWords[word]
	return selects || statementParsers[word] != nil
}

// blockRule parses a rule inside a block.
func (p *parser) blockRule() Item {
	start := p.tok.start
	r := p.rules.new()
	p.ruleBody(r)
	r.At = p.since(start)
	return r
}

// anonymousChain parses the block behind jump or goto.
func (p *parser) anonymousChain() []Item {
	brace := p.tok
	p.next()
	return p.blockItems((*parser).blockRule, brace, "the anonymous chain", declarations)
}

func (p *parser) policyValue() Expr {
	if p.at(kindDollar) {
		return p.operand(valuing)
	}
	w := p.oneOf("accept", "drop")
	return &Literal{At: w.At, Text: w.Text}
}

// hook parses type T hook H [device D | devices = …] priority P.
func (p *parser) hook() Item {
	start := p.tok.start
	p.next()
	h := &Hook{Type: p.oneOf("filter", "nat", "route")}
	p.expectWord("hook")
	if !p.at(kindWord) {
		p.unexpected("the name of a hook")
	}
	h.Hook = p.takeWord()
	switch {
	case p.acceptWord("device"):
		h.Devices = p.device()
	case p.acceptWord("devices"):
		h.Many = true
		h.Devices = p.devices()
	}
	p.expectWord("priority")
	h.Priority = p.priority()
	h.At = p.since(start)
	return h
}

// device parses the name of one device.
func (p *parser) device() Expr {
	switch p.tok.kind {
	case kindQuoted, kindWord, kindWild:
		return p.literal()
	case kindDollar:
		return p.operand(valuing)
	}
	p.unexpected("the name of a device")
	return nil
}

// devices parses = { … } or = $name.
func (p *parser) devices() Expr {
	p.expect(kindAssign)
	switch p.tok.kind {
	case kindLBrace:
		return p.setLiteral(valuing)
	case kindDollar:
		return p.operand(valuing)
	}
	p.unexpected("'{'", "a variable")
	return nil
}

// priority parses a number, a name with or without an offset, or a variable.
func (p *parser) priority() *Priority {
	start := p.tok.start
	if !p.failed {
		start = p.prevEnd - int32(len("priority"))
	}
	pr := &Priority{}
	switch p.tok.kind {
	case kindNumber:
		pr.Base = p.literal()
	case kindDash:
		if l := p.negative(); l != nil {
			pr.Base = l
		}
	case kindDollar:
		pr.Base = p.operand(valuing)
	case kindWord, kindQuoted:
		pr.Base = p.literal()
		sign := 1
		if p.at(kindDash) {
			sign = -1
		}
		if p.at(kindPlus) || p.at(kindDash) {
			p.next()
			pr.Offset = sign * int(p.boundedNumber("an offset", 1<<31-1))
		}
	default:
		p.unexpected("a priority")
	}
	pr.At = p.since(start)
	return pr
}

// flowtableBlock parses the block of a flowtable.
func (p *parser) flowtableBlock(f *Flowtable) {
	brace, ok := p.opening(&f.Trivia)
	if !ok {
		return
	}
	f.HasBlock = true
	parse := func(p *parser) Item { return p.flowtableItem(f) }
	items := p.blockItems(parse, brace, "flowtable "+f.Name.Text, declarations)
	for _, item := range items {
		f.Comments = append(f.Comments, item.Around().all()...)
	}
}

// all gives the comments of trivia that has no place of its own.
func (t *Trivia) all() []Comment {
	comments := t.Before
	if t.Trailing != "" {
		comments = append(comments, Comment{Text: t.Trailing})
	}
	return comments
}

func (p *parser) flowtableItem(f *Flowtable) Item {
	start := p.tok.start
	word := ""
	if p.at(kindWord) {
		word = p.str(p.tok)
	}
	switch word {
	case "hook":
		p.next()
		f.Hook = p.oneOf("ingress")
		p.expectWord("priority")
		f.Priority = p.priority()
	case "devices":
		p.next()
		f.Devices = p.devices()
	case "flags":
		f.Flags = append(f.Flags, p.flagList("offload")...)
	case "counter":
		p.next()
		f.Counter = true
	default:
		if item, ok := p.scopeItem(func(p *parser) Item { return p.flowtableItem(f) }); ok {
			return p.onlyComments(item)
		}
		p.unknown(codeProperty, "property of a flowtable", []string{"hook", "devices", "flags", "counter"})
		return nil
	}
	return &Empty{At: p.since(start)}
}

// onlyComments refuses scope items where the tree has no place for them.
func (p *parser) onlyComments(item Item) Item {
	if p.failed {
		return nil
	}
	place := diag.Span{}
	if item != nil {
		place = item.Place()
	}
	p.fail(place, codeUnexpected, "definitions and includes are not supported here")
	return nil
}
