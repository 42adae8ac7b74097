package syntax

// object writes a stateful object. head is what stands before the brace.
func (p *printer) object(o *StatefulObj, head string) {
	p.str(head)
	if !o.HasBlock {
		p.inlineBody(o)
		return
	}
	p.open(&o.Trivia)
	p.comments(o.Comments, false)
	if o.Comment.Given() {
		p.bodyLine(func() {
			p.str("comment ")
			p.quote(o.Comment.Text)
		})
	}
	p.objectBody(o)
	p.close()
	if p.inline {
		p.byte(' ')
	}
}

// inlineBody writes the body of an object that has no block.
func (p *printer) inlineBody(o *StatefulObj) {
	write := func(body func()) {
		p.byte(' ')
		body()
	}
	switch {
	case o.Counter != nil && o.Counter.Given:
		write(func() { p.counterNumbers(o.Counter) })
	case o.Quota != nil:
		write(func() { p.quota(o.Quota) })
	case o.Limit != nil:
		write(func() { p.limit(o.Limit) })
	case o.Secmark.Given():
		write(func() { p.quote(o.Secmark.Text) })
	case o.Synproxy != nil:
		p.synproxy(o.Synproxy)
	}
}

// dataLine writes a body line that has no separator behind it inline.
func (p *printer) dataLine(write func()) {
	p.startLine()
	write()
	p.endLine()
}

func (p *printer) objectBody(o *StatefulObj) {
	switch {
	case o.Counter != nil:
		if o.Counter.Given {
			p.dataLine(func() { p.counterNumbers(o.Counter) })
		}
	case o.Quota != nil:
		p.dataLine(func() { p.quota(o.Quota) })
	case o.Limit != nil:
		p.dataLine(func() { p.limit(o.Limit) })
	case o.Secmark.Given():
		p.dataLine(func() { p.quote(o.Secmark.Text) })
	case o.Synproxy != nil:
		p.synproxyBody(o.Synproxy)
	case o.Helper != nil:
		p.helper(o.Helper)
	case o.TimeoutSpec != nil:
		p.timeoutSpec(o.TimeoutSpec)
	case o.Expectation != nil:
		p.expectation(o.Expectation)
	case o.Tunnel != nil:
		p.tunnel(o.Tunnel)
	}
}

func (p *printer) synproxyBody(s *Synproxy) {
	if s.MSS != nil {
		p.bodyLine(func() { p.numberOption("mss ", s.MSS) })
	}
	if s.WScale != nil {
		p.bodyLine(func() { p.numberOption("wscale ", s.WScale) })
	}
	if !s.Timestamp && !s.SackPerm {
		return
	}
	p.bodyLine(func() {
		if s.Timestamp {
			p.str("timestamp")
		}
		if s.Timestamp && s.SackPerm {
			p.byte(' ')
		}
		if s.SackPerm {
			p.str("sack-perm")
		}
	})
}

// wordLine writes a line of a name and a word, if the word was given.
func (p *printer) wordLine(name string, w Word) {
	if w.Given() {
		p.bodyLine(func() {
			p.str(name)
			p.str(w.Text)
		})
	}
}

// exprLine writes a line of a name and an expression, if there is one.
func (p *printer) exprLine(name string, e Expr) {
	if e != nil {
		p.bodyLine(func() {
			p.str(name)
			p.expr(e)
		})
	}
}

func (p *printer) helper(h *HelperSpec) {
	if h.Type.Given() {
		p.bodyLine(func() {
			p.str("type ")
			p.quote(h.Type.Text)
			p.str(" protocol ")
			p.str(h.Protocol.Text)
		})
	}
	p.wordLine("l3proto ", h.L3Proto)
}

func (p *printer) timeoutSpec(t *TimeoutSpec) {
	p.wordLine("protocol ", t.Protocol)
	p.wordLine("l3proto ", t.L3Proto)
	if len(t.Policy) == 0 {
		return
	}
	p.bodyLine(func() {
		p.str("policy = { ")
		for i, s := range t.Policy {
			if i > 0 {
				p.str(", ")
			}
			p.str(s.State.Text)
			p.str(" : ")
			p.duration(s.Value)
		}
		p.str(" }")
	})
}

func (p *printer) expectation(x *ExpectationSpec) {
	p.wordLine("protocol ", x.Protocol)
	p.exprLine("dport ", x.Dport)
	if x.Timeout != nil {
		p.bodyLine(func() {
			p.str("timeout ")
			p.duration(x.Timeout)
		})
	}
	if x.Size != nil {
		p.bodyLine(func() { p.numberOption("size ", x.Size) })
	}
	p.wordLine("l3proto ", x.L3Proto)
}

func (p *printer) tunnel(t *TunnelSpec) {
	family := "ip"
	if t.IPv6 {
		family = "ip6"
	}
	p.exprLine("id ", t.ID)
	p.exprLine(family+" saddr ", t.SrcIP)
	p.exprLine(family+" daddr ", t.DstIP)
	p.exprLine("sport ", t.Sport)
	p.exprLine("dport ", t.Dport)
	p.exprLine("tos ", t.TOS)
	p.exprLine("ttl ", t.TTL)
	if !t.Kind.Given() {
		return
	}
	p.startLine()
	p.str(t.Kind.Text)
	p.open(&Trivia{})
	p.exprLine("gbp ", t.VXLANGBP)
	p.exprLine("version ", t.ERSPANVersion)
	p.exprLine("index ", t.ERSPANIndex)
	p.wordLine("direction ", t.ERSPANDirection)
	p.exprLine("id ", t.ERSPANHardwareID)
	for i := range t.Geneve {
		o := &t.Geneve[i]
		p.bodyLine(func() {
			p.str("class ")
			p.expr(o.Class)
			p.str(" opt-type ")
			p.expr(o.Type)
			p.str(" data ")
			p.expr(o.Data)
		})
	}
	p.close()
	if p.inline {
		p.byte(';')
	}
	p.endLine()
}
