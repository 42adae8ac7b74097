package syntax

// natStatement parses snat and dnat.
func (p *parser) natStatement() Statement {
	start := p.tok.start
	n := &NAT{Kind: NATSource}
	if p.is("dnat") {
		n.Kind = NATDestination
	}
	p.next()
	if p.is("ip") || p.is("ip6") {
		if next := p.peek(); next.kind == kindWord && natFamilyFollowers[p.str(next)] {
			n.Family = p.takeWord()
		}
	}
	switch {
	case n.Family.Given() && p.is("addr"):
		p.next()
		p.expect(kindDot)
		p.expectWord("port")
		n.Mode = NATAddrPort
		p.expectWord("to")
	case p.acceptWord("interval"):
		n.Mode = NATInterval
		p.expectWord("to")
	case p.acceptWord("prefix"):
		n.Mode = NATPrefix
		p.expectWord("to")
	case n.Family.Given():
		p.expectWord("to")
	default:
		p.acceptWord("to")
	}
	n.Addr, n.Port = p.addressAndPort()
	n.Flags = p.natFlags()
	n.At = p.since(start)
	return n
}

// natFamilyFollowers are the words that make ip and ip6 behind snat and dnat
// the family of the translation.
var natFamilyFollowers = wordSet("to", "addr", "interval", "prefix")

// addressAndPort parses ADDR, ADDR:PORT or :PORT.
func (p *parser) addressAndPort() (addr, port Expr) {
	if !p.at(kindColon) {
		addr = p.expression()
	}
	if p.accept(kindColon) {
		port = p.expression()
	}
	return addr, port
}

// masqueradeStatement parses masquerade [to :PORT] [FLAGS].
func (p *parser) masqueradeStatement() Statement {
	return p.natToPort(NATMasquerade, func() { p.expect(kindColon) })
}

// redirectStatement parses redirect [to [:]PORT] [FLAGS].
func (p *parser) redirectStatement() Statement {
	return p.natToPort(NATRedirect, func() { p.accept(kindColon) })
}

func (p *parser) natToPort(kind NATKind, colon func()) Statement {
	start := p.tok.start
	p.next()
	n := &NAT{Kind: kind}
	if p.acceptWord("to") {
		colon()
		n.Port = p.expression()
	}
	n.Flags = p.natFlags()
	n.At = p.since(start)
	return n
}

// tproxyStatement parses tproxy [ip|ip6] to ADDR[:PORT].
func (p *parser) tproxyStatement() Statement {
	start := p.tok.start
	p.next()
	t := &TProxy{}
	if p.is("ip") || p.is("ip6") {
		t.Family = p.takeWord()
	}
	p.expectWord("to")
	t.Addr, t.Port = p.addressAndPort()
	t.At = p.since(start)
	return t
}
