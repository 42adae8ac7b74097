package syntax

// setBlock parses the block of a set or map.
func (p *parser) setBlock(s *Set) {
	brace, ok := p.opening(&s.Trivia)
	if !ok {
		return
	}
	s.HasBlock = true
	kind := "set "
	if s.IsMap {
		kind = "map "
	}
	s.Items = p.blockItems((*parser).setItem, brace, kind+s.Name.Text, declarations)
}

// setWords are the properties of sets and maps.
var setWords = []string{
	"auto-merge", "comment", "counter", "ct", "define", "elements", "flags", "gc-interval", "include", "last", "limit",
	"policy", "quota", "redefine", "size", "timeout", "type", "typeof", "undefine",
}

func (p *parser) setItem() Item {
	if item, ok := p.scopeItem((*parser).setItem); ok {
		return item
	}
	if p.tok.kind != kindWord {
		p.unexpected("a property of the set", "'}'")
		return nil
	}
	start := p.tok.start
	switch p.str(p.tok) {
	case "type":
		return p.keyType()
	case "typeof":
		return p.keyTypeof()
	case "flags":
		flags := p.flagList("constant", "dynamic", "interval", "timeout")
		return &SetFlags{At: p.since(start), Flags: flags}
	case "timeout":
		p.next()
		value := p.duration()
		return &Timeout{At: p.since(start), Value: value}
	case "gc-interval":
		p.next()
		value := p.duration()
		return &GCInterval{At: p.since(start), Value: value}
	case "size":
		p.next()
		value := p.sizeValue()
		return &Size{At: p.since(start), Value: value}
	case "policy":
		p.next()
		value := p.oneOf("performance", "memory")
		return &SetPolicy{At: p.since(start), Value: value}
	case "auto-merge":
		p.next()
		return &AutoMerge{At: p.since(start)}
	case "elements":
		return p.setElements()
	case "comment":
		return p.commentProperty()
	}
	if p.startsStateful() {
		s := p.statement()
		return &ElementStatement{At: p.since(start), Statement: s}
	}
	p.unknown(codeProperty, "property of a set", setWords)
	return nil
}

func (p *parser) sizeValue() Expr {
	switch p.tok.kind {
	case kindNumber:
		if n, ok := parseNumber(p.str(p.tok)); !ok || n > 1<<32-1 {
			p.fail(p.tokSpan(p.tok), codeNumber, "%s is too large for a size, at most %d", p.describe(p.tok), uint32(1<<32-1))
			return nil
		}
		return p.literal()
	case kindDollar:
		return p.operand(valuing)
	}
	p.unexpected("a number")
	return nil
}

// setElements parses elements = { … } or elements = $name.
func (p *parser) setElements() Item {
	start := p.tok.start
	p.next()
	p.expect(kindAssign)
	e := &Elements{}
	switch p.tok.kind {
	case kindLBrace:
		e.Value = p.setLiteral(valuing)
	case kindDollar:
		e.Value = p.operand(valuing)
	default:
		p.unexpected("'{'", "a variable")
	}
	e.At = p.since(start)
	return e
}

// keyType parses type K [: [interval] D].
func (p *parser) keyType() Item {
	start := p.tok.start
	p.next()
	k := &KeyType{Key: p.dataType()}
	if p.accept(kindColon) {
		k.Interval = p.acceptWord("interval")
		if kind, ok := p.dataObject(); ok {
			k.Object = kind
		} else {
			k.Data = p.dataType()
		}
	}
	k.At = p.since(start)
	return k
}

// dataType parses names of data types joined by dots.
func (p *parser) dataType() Expr {
	first := p.typeName()
	if !p.at(kindDot) {
		return first
	}
	c := &Concat{Parts: []Expr{first}}
	for p.accept(kindDot) {
		c.Parts = append(c.Parts, p.typeName())
	}
	c.At = p.since(first.Span.Start)
	return c
}

func (p *parser) typeName() *Literal {
	if !p.at(kindWord) {
		p.unexpected("a data type")
		return &Literal{}
	}
	return p.literal()
}

// dataObject takes the kind of object that an object map gives, if there is
// one.
func (p *parser) dataObject() (Object, bool) {
	if !p.at(kindWord) {
		return ObjNone, false
	}
	switch p.str(p.tok) {
	case "counter", "quota", "limit", "synproxy", "secmark":
		return p.objectKind()
	case "ct", "tunnel":
		// `ct helper` is both an object kind and a selector: the object kind
		// ends the property.
		next := p.peek()
		if next.kind != kindWord {
			return p.objectKind()
		}
		if _, isObject := ctObjects[p.str(next)]; isObject && p.is("ct") {
			return p.objectKind()
		}
	}
	return ObjNone, false
}

// keyTypeof parses typeof E [: [interval] E].
func (p *parser) keyTypeof() Item {
	start := p.tok.start
	p.next()
	k := &KeyType{Typeof: true, Key: p.typeofExpr()}
	if p.accept(kindColon) {
		k.Interval = p.acceptWord("interval")
		switch {
		case p.is("verdict"):
			k.Data = p.literal()
		default:
			if kind, ok := p.dataObject(); ok {
				k.Object = kind
			} else {
				k.Data = p.typeofExpr()
			}
		}
	}
	k.At = p.since(start)
	return k
}

// typeofExpr parses selectors joined by dots.
func (p *parser) typeofExpr() Expr {
	first := p.typeofPart()
	if !p.at(kindDot) || p.failed {
		return first
	}
	c := &Concat{Parts: []Expr{first}}
	for p.accept(kindDot) {
		c.Parts = append(c.Parts, p.typeofPart())
	}
	c.At = p.since(first.Place().Start)
	return c
}

func (p *parser) typeofPart() Expr {
	if p.at(kindWord) {
		if _, ok := selectorWords[p.str(p.tok)]; !ok {
			d := p.unknown(codeStatement, "selector", startWords)
			if d.Hint == "" {
				d.Hint = "typeof takes an expression such as `ip saddr`; use `type` for the name of a data type"
			}
			return nil
		}
		return p.selector()
	}
	if p.at(kindAt) && p.startsRawPayload() {
		return p.rawPayload()
	}
	p.unexpected("a selector")
	return nil
}
