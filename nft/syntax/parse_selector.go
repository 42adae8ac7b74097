package syntax

import (
	"slices"
	"strconv"

	"verdict/catalog"
)

// startsSelector reports whether the current word starts a selector here.
// Protocol words are values as well, so they need one of their fields behind
// them, or at least a word at the start of a statement, where no value can
// stand.
func (p *parser) startsSelector(m mode) bool {
	w, ok := selectorWords[p.str(p.tok)]
	if !ok {
		return false
	}
	if w.kind != selHeader {
		return true
	}
	t := p.peek()
	if t.kind != kindWord {
		return false
	}
	word := p.str(t)
	return p.followsProtocol(w.protocol, word) || m == matching && !reservedWords[word]
}

// followsProtocol reports whether a word continues a selector that starts
// with a protocol.
func (p *parser) followsProtocol(proto *catalog.Protocol, word string) bool {
	if proto.FieldByName(word) != nil {
		return true
	}
	switch proto.Name {
	case "ip", "tcp", "dccp":
		return word == "option"
	case "sctp":
		return word == "chunk"
	case "arp":
		return word == "saddr" || word == "daddr"
	}
	return proto.Tunnel != nil && slices.Contains(innerProtocols(proto), word)
}

// innerProtocols lists the protocols that can be matched inside a tunnel.
func innerProtocols(tunnel *catalog.Protocol) []string {
	var names []string
	for _, inner := range catalog.Protocols {
		switch {
		case inner.Tunnel != nil:
		case inner.Base == catalog.BaseLink && tunnel.Tunnel.Flags&catalog.InnerLink == 0:
		default:
			names = append(names, inner.Name)
		}
	}
	return names
}

// selector parses a selector. The current word starts one.
func (p *parser) selector() Expr {
	w := selectorWords[p.str(p.tok)]
	switch w.kind {
	case selHeader:
		return p.header(w.protocol)
	case selMetaAlone:
		m := p.metas.new()
		m.Key = p.takeWord()
		m.At = m.Key.At
		return m
	case selMeta:
		start := p.tok.start
		p.next()
		m := p.metas.new()
		m.Key, m.Qualified = p.keyWord("meta key", metaKeyNames), true
		m.At = p.since(start)
		return m
	case selCT:
		return p.ctSelector()
	case selRT:
		return p.rtSelector(w.exthdr)
	case selExthdr:
		return p.exthdr(w.exthdr)
	case selExthdrExists:
		start := p.tok.start
		p.next()
		header := p.keyWord("extension header", exthdrNames)
		return &ExthdrField{At: p.since(start), Header: header}
	case selSocket:
		return p.socketSelector()
	case selFib:
		return p.fib()
	case selOSF:
		return p.osf()
	case selIPsec:
		return p.ipsec()
	case selTunnel:
		start := p.tok.start
		p.next()
		key := p.keyWord("tunnel key", tunnelKeyNames)
		return &TunnelMeta{At: p.since(start), Key: key}
	case selNumgen:
		return p.numgen()
	}
	return p.hash(w.kind == selSymhash)
}

// takeWord takes the current token as a Word.
func (p *parser) takeWord() Word {
	w := Word{At: At{p.tokSpan(p.tok)}, Text: p.str(p.tok)}
	p.next()
	return w
}

// keyWord takes one of certain words, or fails.
func (p *parser) keyWord(what string, words []string) Word {
	if p.at(kindWord) && slices.Contains(words, p.str(p.tok)) {
		return p.takeWord()
	}
	p.unknown(codeKey, what, words)
	return Word{}
}

// oneOf takes one of certain words, or fails.
func (p *parser) oneOf(words ...string) Word {
	if p.at(kindWord) && slices.Contains(words, p.str(p.tok)) {
		return p.takeWord()
	}
	p.unexpectedOf("", words)
	return Word{}
}

// header parses PROTOCOL FIELD and what else can follow a protocol.
func (p *parser) header(proto *catalog.Protocol) Expr {
	start := p.tok.start
	protocol := p.takeWord()
	if !p.at(kindWord) {
		p.unknown(codeField, "field of "+proto.Name, fieldNames(proto))
		return nil
	}
	word := p.str(p.tok)
	if proto.FieldByName(word) == nil {
		switch {
		case proto.Name == "arp" && (word == "saddr" || word == "daddr"):
			return p.arpAddress(protocol)
		case !p.followsProtocol(proto, word):
			candidates := fieldNames(proto)
			if proto.Tunnel != nil {
				candidates = append(candidates, innerProtocols(proto)...)
			}
			p.unknown(codeField, "field of "+proto.Name, candidates)
			return nil
		case word == "option" && proto.Name == "tcp":
			return p.tcpOption(start)
		case word == "option" && proto.Name == "ip":
			return p.ipOption(start)
		case word == "option":
			p.next()
			return &DCCPOption{Kind: p.optionNumber(), At: p.since(start)}
		case word == "chunk":
			return p.sctpChunk(start)
		}
		inner := p.header(catalog.ProtocolByName(word))
		return &Inner{At: p.since(start), Tunnel: protocol, Expr: inner}
	}
	h := p.headers.new()
	h.Protocol, h.Field = protocol, p.takeWord()
	h.At = p.since(start)
	return h
}

// arpAddress parses the two words of `saddr ip`, `daddr ether` behind arp.
func (p *parser) arpAddress(protocol Word) Expr {
	start := p.tok.start
	first := p.takeWord()
	second := p.oneOf("ip", "ether")
	if p.failed {
		return nil
	}
	field := Word{At: p.since(start), Text: first.Text + " " + second.Text}
	return &HeaderField{At: p.since(protocol.Span.Start), Protocol: protocol, Field: field}
}

// optionNumber takes the number of an option.
func (p *parser) optionNumber() Word {
	if !p.at(kindNumber) {
		p.unexpected("the number of an option")
		return Word{}
	}
	if value, ok := parseNumber(p.str(p.tok)); !ok || value > 255 {
		p.fail(p.tokSpan(p.tok), codeNumber, "option number %s is larger than 255", p.str(p.tok))
		return Word{}
	}
	return p.takeWord()
}

// tcpOption parses `option KIND FIELD` or `option @KIND,OFFSET,LENGTH` behind
// tcp; start is where tcp stands.
func (p *parser) tcpOption(start int32) Expr {
	p.next()
	o := &TCPOption{}
	if p.accept(kindAt) {
		o.Raw = true
		o.RawKind = uint8(p.boundedNumber("the number of an option", 255))
		p.expect(kindComma)
		o.Offset = uint32(p.boundedNumber("an offset in bits", 1<<32-1))
		p.expect(kindComma)
		o.Length = uint32(p.boundedNumber("a length in bits", 1<<32-1))
		o.At = p.since(start)
		return o
	}
	o.Kind = p.tcpOptionKind()
	if kind := p.tcpOptionRow(o.Kind.Text); p.at(kindWord) && kind != nil {
		o.Field = p.optionField("field of tcp option "+o.Kind.Text, kind)
	}
	o.At = p.since(start)
	return o
}

// tcpOptionKind takes the name or number of a TCP option.
func (p *parser) tcpOptionKind() Word {
	if p.at(kindNumber) {
		return p.optionNumber()
	}
	if p.at(kindWord) && catalog.TCPOptionByName(p.str(p.tok)) != nil {
		return p.takeWord()
	}
	p.unknown(codeField, "tcp option", optionNames(catalog.TCPOptions))
	return Word{}
}

// tcpOptionRow finds the option that a name or number means. A number that
// nobody named has the length field only.
func (p *parser) tcpOptionRow(kind string) *catalog.Option {
	if o := catalog.TCPOptionByName(kind); o != nil {
		return o
	}
	number, err := strconv.ParseUint(kind, 0, 8)
	if err != nil {
		return nil
	}
	if o := catalog.TCPOptionByKind(uint8(number)); o != nil {
		return o
	}
	return catalog.TCPOptionByName("md5sig")
}

// optionField takes a field of an option. A word that tests for existence, or
// that starts something else, leaves the field empty.
func (p *parser) optionField(what string, o *catalog.Option) Word {
	word := p.str(p.tok)
	switch {
	case o.FieldByName(word) != nil:
		return p.takeWord()
	case reservedWords[word] || slices.Contains(statementWords, word):
		return Word{}
	}
	p.unknown(codeField, what, append(optionFieldNames(o), "exists", "missing"))
	return Word{}
}

func (p *parser) ipOption(start int32) Expr {
	p.next()
	o := &IPOption{}
	if !p.at(kindWord) || catalog.IPOptionByName(p.str(p.tok)) == nil {
		p.unknown(codeField, "ip option", optionNames(catalog.IPOptions))
		return nil
	}
	row := catalog.IPOptionByName(p.str(p.tok))
	o.Name = p.takeWord()
	if p.at(kindWord) {
		o.Field = p.optionField("field of ip option "+o.Name.Text, row)
	}
	o.At = p.since(start)
	return o
}

func (p *parser) sctpChunk(start int32) Expr {
	p.next()
	if !p.at(kindWord) || catalog.SCTPChunkByName(p.str(p.tok)) == nil {
		p.unknown(codeField, "sctp chunk", optionNames(catalog.SCTPChunks))
		return nil
	}
	row := catalog.SCTPChunkByName(p.str(p.tok))
	c := &SCTPChunk{Type: p.takeWord()}
	if p.at(kindWord) {
		c.Field = p.optionField("field of sctp chunk "+c.Type.Text, row)
	}
	c.At = p.since(start)
	return c
}

// exthdr parses a field of an IPv6 extension header.
func (p *parser) exthdr(row *catalog.Option) Expr {
	start := p.tok.start
	e := &ExthdrField{Header: p.takeWord()}
	if !p.at(kindWord) || row.FieldByName(p.str(p.tok)) == nil {
		p.unknown(codeField, "field of "+row.Name, optionFieldNames(row))
		return nil
	}
	field := row.FieldByName(p.str(p.tok))
	e.Field = p.takeWord()
	if field.Step != 0 {
		p.expect(kindLBracket)
		e.Index = p.number("an index")
		p.expect(kindRBracket)
	}
	e.At = p.since(start)
	return e
}

// startsRawPayload reports whether @ starts @BASE,OFFSET,LENGTH: a base and a
// comma follow.
func (p *parser) startsRawPayload() bool {
	t := p.peek()
	if t.kind != kindWord || !slices.Contains(payloadBases, p.str(t)) {
		return false
	}
	for i := int(t.end); i < len(p.text); i++ {
		if c := p.text[i]; c != ' ' && c != '\t' {
			return c == ','
		}
	}
	return false
}

var payloadBases = []string{"ll", "nh", "th", "ih"}

func (p *parser) rawPayload() Expr {
	start := p.tok.start
	p.next()
	r := &RawPayload{Base: p.takeWord()}
	p.expect(kindComma)
	r.Offset = uint32(p.boundedNumber("an offset in bits", 1<<32-1))
	p.expect(kindComma)
	r.Length = uint32(p.boundedNumber("a length in bits", 1<<32-1))
	r.At = p.since(start)
	return r
}
