package syntax

// fileItems writes the items of a file, each on lines of its own.
func (p *printer) fileItems(items []Item, end []Comment) {
	for i, item := range items {
		p.before(item.Around(), i > 0)
		p.tabs()
		p.item(item)
		p.trailing(item)
		p.newline()
	}
	p.comments(end, len(items) > 0)
}

// before writes the blank line and the comments that stand before an item.
func (p *printer) before(t *Trivia, blank bool) {
	if p.inline {
		return
	}
	if p.source && blank && t.Blank && len(t.Before) == 0 {
		p.newline()
	}
	p.comments(t.Before, blank)
	if p.source && t.Detached && len(t.Before) > 0 {
		p.newline()
	}
}

// comments writes comments on lines of their own. blank allows a blank line
// before the first.
func (p *printer) comments(comments []Comment, blank bool) {
	if p.inline {
		return
	}
	for i, c := range comments {
		if p.source && c.Blank && (blank || i > 0) {
			p.newline()
		}
		p.tabs()
		p.comment(c.Text)
		p.newline()
	}
}

func (p *printer) comment(text string) {
	p.byte('#')
	if text != "" && text[0] != '!' && text[0] != '#' {
		p.byte(' ')
	}
	p.str(text)
}

// trailing writes the comment behind an item on its last line.
func (p *printer) trailing(item Item) {
	t := item.Around()
	text := t.Trailing
	if hasBlock(item) {
		text = t.Closing
	}
	if text == "" {
		return
	}
	// nft sets the comment behind a set's size off with a tab.
	if _, size := item.(*Size); size && !p.source {
		p.byte('\t')
	} else {
		p.byte(' ')
	}
	p.comment(text)
}

// open writes the opening brace of a block and the comment behind it.
func (p *printer) open(t *Trivia) {
	p.str(" {")
	if t.Trailing != "" {
		p.byte(' ')
		p.comment(t.Trailing)
	}
	if p.inline {
		p.byte(' ')
		return
	}
	p.newline()
	p.indent++
}

// close writes the closing brace of a block.
func (p *printer) close() {
	if !p.inline {
		p.indent--
		p.tabs()
	}
	p.byte('}')
}

// item writes an item, without tabs before it and line end behind it.
func (p *printer) item(item Item) {
	switch i := item.(type) {
	case *Command:
		p.command(i)
	case *Define:
		if i.Redefine {
			p.str("re")
		}
		p.str("define ")
		p.str(i.Name.Text)
		p.str(" = ")
		p.expr(i.Value)
	case *Undefine:
		p.str("undefine ")
		p.str(i.Name.Text)
	case *Include:
		p.str("include ")
		p.quote(i.Pattern.Text)
	case *Table:
		p.table(i, "table ")
	case *Chain:
		p.chain(i, "chain "+i.Name.Text)
	case *Set:
		p.set(i, setWord(i)+" "+i.Name.Text)
	case *StatefulObj:
		p.object(i, i.Kind.String()+" "+i.Name.Text)
	case *Flowtable:
		p.flowtable(i, "flowtable "+i.Name.Text)
	case *Rule:
		p.rule(i)
	default:
		p.property(item)
	}
}

func setWord(s *Set) string {
	if s.IsMap {
		return "map"
	}
	return "set"
}

// property writes a property of a table, chain or set, without separator.
func (p *printer) property(item Item) {
	switch i := item.(type) {
	case *TableFlags:
		p.str("flags ")
		p.words(i.Flags, ",")
	case *CommentProperty:
		p.str("comment ")
		p.quote(i.Text.Text)
	case *Hook:
		p.hook(i)
	case *Policy:
		p.str("policy ")
		p.expr(i.Value)
		p.byte(';')
	case *ChainFlags:
		p.str("flags ")
		p.words(i.Flags, ",")
		p.byte(';')
	case *DevicesProperty:
		p.str("devices = ")
		p.expr(i.Devices)
		if p.inline {
			p.byte(';')
		}
	default:
		p.setProperty(item)
	}
}

// table writes a table. head is what stands before its family.
func (p *printer) table(t *Table, head string) {
	p.str(head)
	if t.Family.Given() {
		p.str(t.Family.Text)
		p.byte(' ')
	}
	p.str(t.Name.Text)
	if !t.HasBlock {
		return
	}
	p.open(&t.Trivia)
	flags := false
	for i, item := range t.Items {
		if i > 0 && !t.Dense && !p.source && !p.inline && p.apart(t.Items[i-1], item, flags) {
			p.newline()
		}
		p.before(item.Around(), i > 0)
		switch item.(type) {
		case *Empty:
			continue
		case *TableFlags:
			flags = true
		}
		p.line(item)
	}
	p.close()
}

// apart reports whether a listing separates two items of a table by a blank
// line: declarations always, properties only if flags are among them.
func (p *printer) apart(previous, item Item, flags bool) bool {
	switch item.(type) {
	case *TableFlags, *CommentProperty, *Empty:
		return false
	}
	switch previous.(type) {
	case *TableFlags:
		return true
	case *CommentProperty:
		return flags
	}
	return true
}

// line writes an item as a line of a block.
func (p *printer) line(item Item) {
	if p.inline {
		p.item(item)
		p.str("; ")
		return
	}
	p.tabs()
	p.item(item)
	p.trailing(item)
	p.newline()
}

// chain writes a chain. head is what stands before the brace.
func (p *printer) chain(c *Chain, head string) {
	p.str(head)
	if !c.HasBlock {
		return
	}
	p.open(&c.Trivia)
	for i, item := range c.Items {
		if i > 0 && joins(c.Items[i-1], item) {
			p.byte(' ')
		} else {
			p.before(item.Around(), i > 0)
			if _, ok := item.(*Empty); ok {
				continue
			}
			p.startLine()
		}
		p.item(item)
		if p.inline {
			if _, rule := item.(*Rule); rule {
				p.byte(';')
			}
		}
		if i+1 < len(c.Items) && joins(item, c.Items[i+1]) {
			continue
		}
		p.trailing(item)
		p.endLine()
	}
	p.close()
}

func (p *printer) startLine() {
	if !p.inline {
		p.tabs()
	}
}

func (p *printer) endLine() {
	if p.inline {
		p.byte(' ')
		return
	}
	p.newline()
}

// joins reports whether a property stands on the line of the one before it:
// the policy and flags of a base chain follow its hook.
func joins(previous, item Item) bool {
	switch item.(type) {
	case *Policy, *ChainFlags:
	default:
		return false
	}
	switch previous.(type) {
	case *Hook, *Policy:
	default:
		return false
	}
	t := item.Around()
	return len(t.Before) == 0 && previous.Around().Trailing == ""
}

func (p *printer) hook(h *Hook) {
	p.str("type ")
	p.str(h.Type.Text)
	p.str(" hook ")
	p.str(h.Hook.Text)
	if h.Devices != nil {
		if h.Many {
			p.str(" devices = ")
		} else {
			p.str(" device ")
		}
		p.expr(h.Devices)
	}
	p.str(" priority ")
	p.priority(h.Priority)
	p.byte(';')
}

func (p *printer) priority(pr *Priority) {
	p.expr(pr.Base)
	switch {
	case pr.Offset > 0:
		p.str(" + ")
		p.number(uint64(pr.Offset))
	case pr.Offset < 0:
		p.str(" - ")
		p.number(uint64(-int64(pr.Offset)))
	}
}

// flowtable writes a flowtable. head is what stands before the brace.
func (p *printer) flowtable(f *Flowtable, head string) {
	p.str(head)
	if !f.HasBlock {
		return
	}
	p.open(&f.Trivia)
	p.comments(f.Comments, false)
	if f.Hook.Given() {
		p.bodyLine(func() {
			p.str("hook ")
			p.str(f.Hook.Text)
			p.str(" priority ")
			p.priority(f.Priority)
		})
	}
	if f.Devices != nil {
		p.bodyLine(func() {
			p.str("devices = ")
			p.expr(f.Devices)
		})
	}
	if len(f.Flags) > 0 {
		p.bodyLine(func() {
			p.str("flags ")
			p.words(f.Flags, ",")
		})
	}
	if f.Counter {
		p.bodyLine(func() { p.str("counter") })
	}
	p.close()
}

// bodyLine writes one line of a block's body; inline, it ends with "; ".
func (p *printer) bodyLine(write func()) {
	p.startLine()
	write()
	if p.inline {
		p.byte(';')
	}
	p.endLine()
}
