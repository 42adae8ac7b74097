package syntax

import "slices"

// objectKinds are the stateful objects of one word.
var objectKinds = map[string]Object{
	"counter": ObjCounter, "quota": ObjQuota, "limit": ObjLimit, "synproxy": ObjSynproxy,
	"secmark": ObjSecmark, "tunnel": ObjTunnel,
}

// objectKind takes the words that name a kind of stateful object, if they
// stand here.
func (p *parser) objectKind() (Object, bool) {
	if !p.at(kindWord) {
		return ObjNone, false
	}
	if kind, ok := objectKinds[p.str(p.tok)]; ok {
		p.next()
		return kind, true
	}
	if !p.is("ct") {
		return ObjNone, false
	}
	p.next()
	return ctObjects[p.oneOf("helper", "timeout", "expectation").Text], true
}

// objectBlock parses the block of a stateful object.
func (p *parser) objectBlock(o *StatefulObj) {
	brace, ok := p.opening(&o.Trivia)
	if !ok {
		return
	}
	o.HasBlock = true
	p.prepareObject(o, brace.start)
	outer := p.foreign
	p.foreign = declarations
	defer func() { p.foreign = outer }()
	for {
		t := p.leading()
		o.Comments = append(o.Comments, t.Before...)
		if p.at(kindRBrace) || p.at(kindEOF) || p.failed || p.atForeign() {
			break
		}
		p.objectItem(o)
		if c := p.takeTrailing(); c != "" {
			o.Comments = append(o.Comments, Comment{Text: c})
		}
	}
	p.closing(brace, o.Kind.String()+" "+o.Name.Text)
}

// prepareObject makes the body that belongs to the kind, where an empty one
// means something.
func (p *parser) prepareObject(o *StatefulObj, start int32) {
	at := At{p.tokSpan(token{start: start, end: start + 1})}
	switch o.Kind {
	case ObjCounter:
		o.Counter = &Counter{At: at}
	case ObjSynproxy:
		o.Synproxy = &Synproxy{At: at}
	case ObjCTHelper:
		o.Helper = &HelperSpec{At: at}
	case ObjCTTimeout:
		o.TimeoutSpec = &TimeoutSpec{At: at}
	case ObjCTExpectation:
		o.Expectation = &ExpectationSpec{At: at}
	case ObjTunnel:
		o.Tunnel = &TunnelSpec{At: at}
	}
}

// objectItem parses one property of an object.
func (p *parser) objectItem(o *StatefulObj) {
	start := p.tok.start
	if p.is("comment") {
		p.next()
		o.Comment = p.commentText()
		return
	}
	switch o.Kind {
	case ObjCounter:
		if !p.is("packets") && !p.is("bytes") {
			p.unknown(codeProperty, "property of a counter", []string{"packets", "bytes", "comment"})
			return
		}
		o.Counter = p.counterBody(start)
	case ObjQuota:
		o.Quota = p.quotaBody(start)
	case ObjLimit:
		o.Limit = p.limitBody(start)
	case ObjSynproxy:
		if !p.synproxyOption(o.Synproxy) {
			p.unknown(codeProperty, "property of a synproxy", []string{"mss", "wscale", "timestamp", "sack-perm", "comment"})
		}
	case ObjSecmark:
		o.Secmark = p.quotedText("a security context")
	case ObjCTHelper:
		p.helperItem(o.Helper)
	case ObjCTTimeout:
		p.timeoutItem(o.TimeoutSpec)
	case ObjCTExpectation:
		p.expectationItem(o.Expectation)
	case ObjTunnel:
		p.tunnelItem(o)
	}
}

// inlineObject parses the body of an object that stands without braces, as in
// `add quota ip t q over 25 mbytes`.
func (p *parser) inlineObject(o *StatefulObj) {
	if p.ruleEnds() {
		return
	}
	if o.Kind == ObjSynproxy {
		o.Synproxy = &Synproxy{At: At{p.tokSpan(p.tok)}}
		for p.synproxyOption(o.Synproxy) {
		}
		return
	}
	switch o.Kind {
	case ObjCounter, ObjQuota, ObjLimit, ObjSecmark:
		p.objectItem(o)
	}
}

func (p *parser) helperItem(h *HelperSpec) {
	switch {
	case p.acceptWord("type"):
		h.Type = p.quotedText("the name of a helper")
		p.expectWord("protocol")
		h.Protocol = p.protocolName()
	case p.acceptWord("l3proto"):
		h.L3Proto = p.familyName()
	default:
		p.unknown(codeProperty, "property of a ct helper", []string{"type", "l3proto", "comment"})
	}
}

// protocolName takes tcp or udp, or another word that names a protocol.
func (p *parser) protocolName() Word {
	if !p.at(kindWord) {
		p.unexpectedOf("", []string{"tcp", "udp"})
		return Word{}
	}
	return p.takeWord()
}

// familyName takes the name of a family.
func (p *parser) familyName() Word {
	return p.oneOf(familyNames...)
}

func (p *parser) timeoutItem(t *TimeoutSpec) {
	switch {
	case p.acceptWord("protocol"):
		t.Protocol = p.protocolName()
	case p.acceptWord("l3proto"):
		t.L3Proto = p.familyName()
	case p.acceptWord("policy"):
		p.expect(kindAssign)
		p.expect(kindLBrace)
		t.Policy = append(t.Policy, p.timeoutPolicy()...)
		p.expect(kindRBrace)
	default:
		p.unknown(codeProperty, "property of a ct timeout", []string{"protocol", "l3proto", "policy", "comment"})
	}
}

// timeoutPolicy parses STATE : TIME pairs up to the closing brace.
func (p *parser) timeoutPolicy() []TimeoutState {
	var states []TimeoutState
	for {
		p.skipNewlines()
		if !p.at(kindWord) {
			p.unexpected("the name of a state")
			return nil
		}
		s := TimeoutState{State: p.takeWord()}
		p.expect(kindColon)
		s.Value = p.duration()
		states = append(states, s)
		p.skipNewlines()
		if !p.accept(kindComma) {
			return states
		}
	}
}

func (p *parser) expectationItem(x *ExpectationSpec) {
	switch {
	case p.acceptWord("protocol"):
		x.Protocol = p.protocolName()
	case p.acceptWord("l3proto"):
		x.L3Proto = p.familyName()
	case p.acceptWord("dport"):
		x.Dport = p.operand(valuing)
	case p.acceptWord("timeout"):
		x.Timeout = p.duration()
	case p.acceptWord("size"):
		x.Size = p.numberUpTo("a size", 255)
	default:
		p.unknown(codeProperty, "property of a ct expectation",
			[]string{"protocol", "dport", "timeout", "size", "l3proto", "comment"})
	}
}

// tunnelWords are the properties of a tunnel.
var tunnelWords = []string{"id", "ip", "ip6", "sport", "dport", "ttl", "tos", "vxlan", "erspan", "geneve", "comment"}

func (p *parser) tunnelItem(o *StatefulObj) {
	t := o.Tunnel
	if !p.at(kindWord) || !slices.Contains(tunnelWords, p.str(p.tok)) {
		p.unknown(codeProperty, "property of a tunnel", tunnelWords)
		return
	}
	word := p.str(p.tok)
	switch word {
	case "vxlan", "erspan", "geneve":
		p.tunnelKind(o)
		return
	}
	p.next()
	switch word {
	case "id":
		t.ID = p.operand(valuing)
	case "sport":
		t.Sport = p.operand(valuing)
	case "dport":
		t.Dport = p.operand(valuing)
	case "ttl":
		t.TTL = p.operand(valuing)
	case "tos":
		t.TOS = p.operand(valuing)
	case "ip", "ip6":
		t.IPv6 = word == "ip6"
		place := At{p.tokSpan(p.tok)}
		switch p.oneOf("saddr", "daddr").Text {
		case "saddr":
			t.SrcIP, t.SrcPlace = p.operand(valuing), place
		case "daddr":
			t.DstIP, t.DstPlace = p.operand(valuing), place
		}
	}
}

// tunnelKind parses vxlan, erspan or geneve with its block. A tunnel is of
// one kind.
func (p *parser) tunnelKind(o *StatefulObj) {
	t := o.Tunnel
	if t.Kind.Given() {
		p.fail(p.tokSpan(p.tok), codeDuplicate, "the tunnel is a %s tunnel already", t.Kind.Text)
		return
	}
	t.Kind = p.takeWord()
	brace := p.tok
	p.expect(kindLBrace)
	for {
		o.Comments = append(o.Comments, p.leading().Before...)
		if p.failed || p.at(kindRBrace) || p.at(kindEOF) {
			break
		}
		switch t.Kind.Text {
		case "vxlan":
			p.expectWord("gbp")
			t.VXLANGBP = p.operand(valuing)
		case "erspan":
			p.erspanItem(t)
		case "geneve":
			p.geneveOption(t)
		}
	}
	p.closing(brace, t.Kind.Text)
}

func (p *parser) erspanItem(t *TunnelSpec) {
	switch p.oneOf("version", "index", "direction", "id").Text {
	case "version":
		t.ERSPANVersion = p.operand(valuing)
	case "index":
		t.ERSPANIndex = p.operand(valuing)
	case "direction":
		t.ERSPANDirection = p.oneOf("ingress", "egress")
	case "id":
		t.ERSPANHardwareID = p.operand(valuing)
	}
}

func (p *parser) geneveOption(t *TunnelSpec) {
	start := p.tok.start
	var o GeneveOption
	p.expectWord("class")
	o.Class = p.operand(valuing)
	p.expectWord("opt-type")
	o.Type = p.operand(valuing)
	p.expectWord("data")
	o.Data = p.operand(valuing)
	o.At = p.since(start)
	t.Geneve = append(t.Geneve, o)
}
