package syntax

import (
	"slices"

	"verdict/catalog"
)

// ctSelector parses ct [original|reply] [ip|ip6] KEY.
func (p *parser) ctSelector() Expr {
	start := p.tok.start
	p.next()
	c := &CT{}
	if p.is("original") || p.is("reply") {
		c.Direction = p.takeWord()
	}
	if p.is("ip") || p.is("ip6") {
		c.Family = p.takeWord()
		c.Key = p.keyWord("ct address", []string{"saddr", "daddr"})
	} else {
		c.Key = p.keyWord("ct key", ctKeyNames)
	}
	c.At = p.since(start)
	return c
}

// rtSelector parses routing data, or a field of the routing header.
func (p *parser) rtSelector(header *catalog.Option) Expr {
	next := p.peek()
	if next.kind == kindWord && header.FieldByName(p.str(next)) != nil {
		return p.exthdr(header)
	}
	start := p.tok.start
	p.next()
	r := &RT{}
	if p.is("ip") || p.is("ip6") {
		r.Family = p.takeWord()
		r.Key = p.keyWord("rt key", []string{"nexthop"})
	} else if p.at(kindWord) && slices.Contains(rtKeyNames, p.str(p.tok)) {
		r.Key = p.takeWord()
	} else {
		p.unknown(codeKey, "rt key", slices.Concat(rtKeyNames, optionFieldNames(header)))
	}
	r.At = p.since(start)
	return r
}

// socketSelector parses socket KEY, and the level of cgroupv2.
func (p *parser) socketSelector() Expr {
	start := p.tok.start
	p.next()
	s := &Socket{Key: p.keyWord("socket key", socketKeyNames)}
	if s.Key.Text == "cgroupv2" {
		p.expectWord("level")
		s.Level = p.number("a level")
	}
	s.At = p.since(start)
	return s
}

// fib parses fib FLAG . FLAG RESULT.
func (p *parser) fib() Expr {
	start := p.tok.start
	p.next()
	f := &Fib{}
	for {
		f.Flags = append(f.Flags, p.keyWord("fib flag", fibFlagNames))
		if !p.accept(kindDot) {
			break
		}
	}
	f.Result = p.keyWord("fib result", fibResultNames)
	f.At = p.since(start)
	return f
}

// osf parses osf [ttl loose|skip] name|version.
func (p *parser) osf() Expr {
	start := p.tok.start
	p.next()
	o := &OSF{}
	if p.acceptWord("ttl") {
		o.TTL = p.oneOf("loose", "skip")
	}
	o.Key = p.keyWord("osf key", osfKeyNames)
	o.At = p.since(start)
	return o
}

// ipsec parses ipsec in|out [spnum N] KEY.
func (p *parser) ipsec() Expr {
	start := p.tok.start
	p.next()
	x := &IPsec{Direction: p.oneOf("in", "out")}
	if p.acceptWord("spnum") {
		x.Spnum = p.numberUpTo("the index of a policy", 255)
	}
	if p.is("ip") || p.is("ip6") {
		x.Family = p.takeWord()
		x.Key = p.keyWord("ipsec address", []string{"saddr", "daddr"})
	} else {
		x.Key = p.keyWord("ipsec key", []string{"reqid", "spi"})
	}
	x.At = p.since(start)
	return x
}

// numgen parses numgen inc|random mod N [offset N].
func (p *parser) numgen() Expr {
	start := p.tok.start
	p.next()
	n := &Numgen{Mode: p.oneOf("inc", "random")}
	p.expectWord("mod")
	n.Mod = p.number("a modulus")
	if p.acceptWord("offset") {
		n.Offset = p.number("an offset")
	}
	n.At = p.since(start)
	return n
}

// hash parses jhash EXPR mod N … and symhash mod N ….
func (p *parser) hash(symmetric bool) Expr {
	start := p.tok.start
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.next()
	h := &Hash{Symmetric: symmetric}
	if !symmetric {
		h.Of = p.concat(selecting)
	}
	p.expectWord("mod")
	h.Mod = p.number("a modulus")
	for p.at(kindWord) {
		switch {
		case !symmetric && h.Seed == nil && p.acceptWord("seed"):
			h.Seed = p.number("a seed")
			continue
		case h.Offset == nil && p.acceptWord("offset"):
			h.Offset = p.number("an offset")
			continue
		}
		break
	}
	h.At = p.since(start)
	return h
}
