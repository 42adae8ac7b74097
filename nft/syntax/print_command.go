package syntax

// command writes a command.
func (p *printer) command(c *Command) {
	switch c.Verb {
	case VerbDescribe:
		p.str("describe ")
		p.expr(c.Subject)
		return
	case VerbMonitor:
		p.str("monitor")
		p.option(c.Monitor.Event)
		p.option(c.Monitor.Object)
		p.option(c.Format)
		return
	case VerbExport, VerbImport:
		p.str(c.Verb.String())
		if c.Object == ObjRuleset {
			p.str(" ruleset")
		}
		p.option(c.Format)
		return
	}
	head := len(p.b)
	if c.Verb != VerbAdd || c.Explicit || p.inline {
		p.str(c.Verb.String())
		p.byte(' ')
	}
	p.str(c.Object.String())
	switch {
	case c.Table != nil:
		p.byte(' ')
		text := string(p.b[head:])
		p.b = p.b[:head]
		p.table(c.Table, text)
		return
	case c.Object == ObjRules && c.Target.Table.Given():
		if c.Target.Name.Given() {
			p.str(" chain")
		} else {
			p.str(" table")
		}
	case c.Object.plural() && c.Target.Table.Given():
		p.str(" table")
	}
	p.option(c.Target.Family)
	p.option(c.Target.Table)
	p.option(c.Target.Name)
	p.numberOption(" handle ", c.Target.Handle)
	p.commandBody(c)
}

func (p *printer) commandBody(c *Command) {
	switch {
	case c.Chain != nil:
		p.chain(c.Chain, "")
	case c.Rule != nil:
		p.numberOption(" handle ", c.Rule.Handle)
		p.numberOption(" position ", c.Rule.Position)
		p.numberOption(" index ", c.Rule.Index)
		p.byte(' ')
		p.rule(c.Rule)
	case c.Set != nil:
		p.set(c.Set, "")
	case c.Elements != nil:
		p.byte(' ')
		p.setLiteral(c.Elements)
	case c.Stateful != nil:
		p.object(c.Stateful, "")
	case c.Flowtable != nil:
		p.flowtable(c.Flowtable, "")
	}
	if c.NewName.Given() {
		p.option(c.NewName)
	}
	if c.Device.Given() {
		p.str(" device ")
		p.quote(c.Device.Text)
	}
}
