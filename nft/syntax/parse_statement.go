package syntax

import "slices"

// logStatement parses log with its options in any order.
func (p *parser) logStatement() Statement {
	start := p.tok.start
	p.next()
	l := &Log{}
	seen := uint8(0)
	once := func(option uint8) {
		if seen&(1<<option) != 0 {
			p.fail(p.tokSpan(p.tok), codeDuplicate, "the option %s is given a second time", p.describe(p.tok))
		}
		seen |= 1 << option
		p.next()
	}
	for p.at(kindWord) {
		switch p.str(p.tok) {
		case "prefix":
			once(0)
			l.Prefix = p.logPrefix()
		case "group":
			once(1)
			l.Group = p.numberUpTo("a log group", 65535)
		case "snaplen":
			once(2)
			l.Snaplen = p.numberUpTo("a length", 1<<32-1)
		case "queue-threshold":
			once(3)
			l.QueueThreshold = p.numberUpTo("a number of packets", 65535)
		case "level":
			once(4)
			l.Level = p.oneOf(logLevels...)
		case "flags":
			p.next()
			l.Flags = append(l.Flags, p.logFlag())
		default:
			l.At = p.since(start)
			return l
		}
	}
	l.At = p.since(start)
	return l
}

var logLevels = []string{"emerg", "alert", "crit", "err", "warn", "notice", "info", "debug", "audit"}

func (p *parser) logPrefix() Expr {
	switch p.tok.kind {
	case kindQuoted, kindWord, kindWild, kindValue, kindNumber:
		return p.literal()
	case kindDollar:
		return p.operand(valuing)
	}
	p.unexpected("a string")
	return nil
}

// logFlag parses one group of flags behind the word flags.
func (p *parser) logFlag() LogFlag {
	start := p.tok.start
	f := LogFlag{Name: p.oneOf("all", "tcp", "ip", "skuid", "ether")}
	switch f.Name.Text {
	case "tcp":
		f.Sub = append(f.Sub, p.oneOf("sequence", "options"))
		for p.accept(kindComma) {
			f.Sub = append(f.Sub, p.oneOf("sequence", "options"))
		}
	case "ip":
		f.Sub = append(f.Sub, p.oneOf("options"))
	}
	f.At = p.since(start)
	return f
}

// rejectStatement parses reject [with …].
func (p *parser) rejectStatement() Statement {
	start := p.tok.start
	p.next()
	r := &Reject{}
	if p.acceptWord("with") {
		r.With = p.oneOf("icmp", "icmpv6", "icmpx", "tcp")
		if r.With.Text == "tcp" {
			p.expectWord("reset")
		} else {
			r.Old = p.acceptWord("type")
			r.Code = p.operand(valuing)
		}
	}
	r.At = p.since(start)
	return r
}

// queueStatement parses queue with its number or expression and flags.
func (p *parser) queueStatement() Statement {
	start := p.tok.start
	p.next()
	q := &Queue{}
	if p.acceptWord("flags") {
		p.queueFlags(q)
	}
	switch {
	case p.acceptWord("to"):
		q.Number = p.expression()
	case p.acceptWord("num"):
		q.Number = p.part(valuing)
		if p.is("bypass") || p.is("fanout") {
			p.queueFlags(q)
		}
	case p.is("bypass") || p.is("fanout"):
		p.queueFlags(q)
	}
	q.At = p.since(start)
	return q
}

func (p *parser) queueFlags(q *Queue) {
	for {
		switch p.oneOf("bypass", "fanout").Text {
		case "bypass":
			q.Bypass = true
		case "fanout":
			q.Fanout = true
		}
		if !p.accept(kindComma) {
			return
		}
	}
}

// dupStatement parses dup to ADDR [device D].
func (p *parser) dupStatement() Statement {
	start := p.tok.start
	p.next()
	d := &Dup{}
	p.expectWord("to")
	d.Addr = p.expression()
	if p.acceptWord("device") {
		d.Device = p.expression()
	}
	d.At = p.since(start)
	return d
}

// fwdStatement parses fwd to D, or fwd ip to ADDR device D.
func (p *parser) fwdStatement() Statement {
	start := p.tok.start
	p.next()
	f := &Fwd{}
	if p.is("ip") || p.is("ip6") {
		f.Family = p.takeWord()
	}
	p.expectWord("to")
	to := p.expression()
	if f.Family.Given() {
		f.Addr = to
		p.expectWord("device")
		f.Device = p.expression()
	} else {
		f.Device = to
	}
	f.At = p.since(start)
	return f
}

func (p *parser) notrackStatement() Statement {
	start := p.tok.start
	p.next()
	return &Notrack{At: p.since(start)}
}

// flowStatement parses flow add @ft, and flow offload @ft of older versions.
func (p *parser) flowStatement() Statement {
	start := p.tok.start
	p.next()
	p.oneOf("add", "offload")
	f := &FlowAdd{Table: p.setReference()}
	f.At = p.since(start)
	return f
}

// resetStatement parses reset tcp option KIND.
func (p *parser) resetStatement() Statement {
	start := p.tok.start
	p.next()
	optionStart := p.tok.start
	p.expectWord("tcp")
	p.expectWord("option")
	o := &TCPOption{Kind: p.tcpOptionKind()}
	o.At = p.since(optionStart)
	return &ResetTCPOption{At: p.since(start), Option: o}
}

// setOps are the words of the statements that change sets.
var setOps = map[string]SetOp{"add": SetAdd, "update": SetRefresh, "delete": SetDelete}

// setStatement parses add|update|delete @S { KEY … [: DATA] }.
func (p *parser) setStatement() Statement {
	start := p.tok.start
	s := &SetUpdate{Op: setOps[p.str(p.tok)]}
	p.next()
	s.Set = p.setReference()
	s.Element = p.statementElement()
	s.At = p.since(start)
	return s
}

// statementElement parses { KEY … [: DATA] } of a rule, where key and data
// are selectors.
func (p *parser) statementElement() *Element {
	p.expect(kindLBrace)
	p.skipNewlines()
	e := p.element(selecting)
	p.skipNewlines()
	p.expect(kindRBrace)
	return e
}

// oldSetStatement parses set add|update KEY … @S.
func (p *parser) oldSetStatement() Statement {
	start := p.tok.start
	p.next()
	word := p.oneOf("add", "update", "delete").Text
	s := &SetUpdate{Op: setOps[word]}
	s.Element = p.element(selecting)
	s.Set = p.setReference()
	s.At = p.since(start)
	return s
}

// meterStatement parses meter NAME [size N] { KEY STATEMENT }.
func (p *parser) meterStatement() Statement {
	start := p.tok.start
	p.next()
	m := &Meter{Name: p.name("the name of a meter")}
	if p.acceptWord("size") {
		m.Size = p.numberUpTo("a size", 1<<32-1)
	}
	m.Element = p.statementElement()
	m.At = p.since(start)
	return m
}

// xtStatement parses xt match|target NAME, which listings print for rules of
// iptables-nft.
func (p *parser) xtStatement() Statement {
	start := p.tok.start
	p.next()
	x := &XT{Target: p.oneOf("match", "target").Text == "target"}
	x.Name = p.quotedText("a name")
	x.At = p.since(start)
	return x
}

// natFlags takes flags separated by commas, if there are any.
func (p *parser) natFlags() []Word {
	var flags []Word
	for p.at(kindWord) && slices.Contains(natFlagNames, p.str(p.tok)) {
		flags = append(flags, p.takeWord())
		if !p.accept(kindComma) {
			break
		}
		if !p.at(kindWord) || !slices.Contains(natFlagNames, p.str(p.tok)) {
			p.unexpectedOf("", natFlagNames)
		}
	}
	return flags
}

var natFlagNames = []string{"random", "fully-random", "persistent"}
