package syntax

// counterStatement parses counter [packets N bytes N] or counter name X.
func (p *parser) counterStatement() Statement {
	start := p.tok.start
	p.next()
	if p.is("name") {
		return p.objectName(start, ObjCounter)
	}
	return p.counterBody(start)
}

// counterBody parses [packets N] [bytes N].
func (p *parser) counterBody(start int32) *Counter {
	c := p.counters.new()
	for {
		switch {
		case p.acceptWord("packets"):
			c.Packets, c.Given = p.boundedNumber("a number of packets", 1<<64-1), true
			continue
		case p.acceptWord("bytes"):
			c.Bytes, c.Given = p.boundedNumber("a number of bytes", 1<<64-1), true
			continue
		}
		break
	}
	c.At = p.since(start)
	return c
}

// quotaStatement parses quota [over|until] N UNIT [used N UNIT] or quota name X.
func (p *parser) quotaStatement() Statement {
	start := p.tok.start
	p.next()
	if p.is("name") {
		return p.objectName(start, ObjQuota)
	}
	q := p.quotaBody(start)
	if p.failed {
		return nil
	}
	return q
}

// over parses [over|until], the latter of which says nothing.
func (p *parser) over() bool {
	if p.acceptWord("over") {
		return true
	}
	p.acceptWord("until")
	return false
}

func (p *parser) quotaBody(start int32) *Quota {
	q := &Quota{Over: p.over()}
	q.Bytes = p.byteCount()
	if p.acceptWord("used") {
		q.Used = p.byteCount()
	}
	q.At = p.since(start)
	return q
}

// limitStatement parses limit rate … or limit name X.
func (p *parser) limitStatement() Statement {
	start := p.tok.start
	p.next()
	if p.is("name") {
		return p.objectName(start, ObjLimit)
	}
	l := p.limitBody(start)
	if p.failed {
		return nil
	}
	return l
}

// limitBody parses rate [over] N[ UNIT]/TIME [burst N UNIT].
func (p *parser) limitBody(start int32) *Limit {
	l := &Limit{}
	p.expectWord("rate")
	l.Over = p.over()
	rateStart := p.tok.start
	value, unit := p.quantity()
	if unit == "" && p.at(kindWord) {
		p.splitRate()
		if byteUnits[p.str(p.tok)] != 0 {
			unit = p.str(p.tok)
			p.next()
		}
	}
	l.Rate = value
	if unit != "" {
		l.ByBytes = true
		l.Rate = p.scaled(rateStart, value, unit)
	}
	p.expect(kindSlash)
	l.Unit = rateUnits[p.oneOf(rateUnitNames...).Text]
	if p.acceptWord("burst") {
		l.Burst, l.BurstGiven = p.burst(l.ByBytes), true
	}
	l.At = p.since(start)
	return l
}

// splitRate cuts the word kbytes/second behind its unit: words may hold
// slashes.
func (p *parser) splitRate() {
	word := p.str(p.tok)
	for _, unit := range byteUnitNames {
		if len(word) > len(unit) && word[:len(unit)] == unit && word[len(unit)] == '/' {
			p.tok.end = p.tok.start + int32(len(unit))
			p.pos, p.hasPeek = int(p.tok.end), false
			return
		}
	}
}

func (p *parser) burst(byBytes bool) uint64 {
	if byBytes {
		return p.byteCount()
	}
	n := p.boundedNumber("a number of packets", 1<<32-1)
	p.expectWord("packets")
	return n
}

// connLimit parses ct count [over] N.
func (p *parser) connLimit() Statement {
	start := p.tok.start
	p.next()
	p.next()
	c := &ConnLimit{Over: p.over()}
	c.Count = uint32(p.boundedNumber("a number of connections", 1<<32-1))
	c.At = p.since(start)
	return c
}

// lastStatement parses last [used T|never].
func (p *parser) lastStatement() Statement {
	start := p.tok.start
	p.next()
	l := &Last{}
	if p.acceptWord("used") {
		if l.Never = p.acceptWord("never"); !l.Never {
			l.Used = p.duration()
		}
	}
	l.At = p.since(start)
	return l
}

// startsStateful reports whether the current word starts a statement that an
// element or a set can carry.
func (p *parser) startsStateful() bool {
	if p.tok.kind != kindWord {
		return false
	}
	switch p.str(p.tok) {
	case "counter", "quota", "limit", "last":
		return true
	case "ct":
		t := p.peek()
		return t.kind == kindWord && p.str(t) == "count"
	}
	return false
}

// synproxyStatement parses synproxy [mss N] [wscale N] … or synproxy name X.
func (p *parser) synproxyStatement() Statement {
	start := p.tok.start
	p.next()
	if p.is("name") {
		return p.objectName(start, ObjSynproxy)
	}
	s := &Synproxy{}
	for p.synproxyOption(s) {
	}
	s.At = p.since(start)
	return s
}

// synproxyOption takes one option, if there is one.
func (p *parser) synproxyOption(s *Synproxy) bool {
	switch {
	case p.acceptWord("mss"):
		s.MSS = p.numberUpTo("a segment size", 65535)
	case p.acceptWord("wscale"):
		s.WScale = p.numberUpTo("a window scale", 255)
	case p.acceptWord("timestamp"):
		s.Timestamp = true
	case p.acceptWord("sack-perm"):
		s.SackPerm = true
	default:
		return false
	}
	return !p.failed
}
