package tc

import "fmt"

func (c *session) chain(w *words) error {
	w.skip()
	if !w.more() {
		return c.chainList(w)
	}
	verb := w.peek()
	w.skip()
	switch {
	case prefix(verb, "add"):
		return c.chainModify(w, true)
	case prefix(verb, "delete"):
		return c.chainModify(w, false)
	case prefix(verb, "get"):
		return c.chainGet(w)
	case prefix(verb, "list"), prefix(verb, "show"), prefix(verb, "lst"):
		return c.chainList(w)
	case prefix(verb, "help"):
		fmt.Fprintln(&c.errs, "Usage: tc chain [ add | del | get | show ] [ dev STRING ]")
		return nil
	}
	return unknown(verb, "chain")
}

// chainWords reads the words of a chain command and a template.
func (c *session) chainWords(w *words) (*filterWords, *chainRequest, error) {
	f := &filterWords{}
	if err := f.parse(w, true); err != nil {
		return nil, nil, err
	}
	r := &chainRequest{index: f.chain, kind: f.kind, filter: &filterRequest{protocol: protocolAll, create: true}}
	if err := c.request(w, f, r.filter); err != nil {
		return nil, nil, err
	}
	return f, r, nil
}

func (c *session) chainModify(w *words, add bool) error {
	f, r, err := c.chainWords(w)
	if err != nil {
		return err
	}
	b, kerr := c.s.blockOf(&f.location)
	if kerr == nil {
		r.block = b
		if add {
			kerr = c.s.newChain(r)
		} else {
			kerr = c.s.deleteChain(r)
		}
	}
	c.kernel(kerr, true)
	return nil
}

func (c *session) chainGet(w *words) error {
	f, r, err := c.chainWords(w)
	if err != nil {
		return err
	}
	b, kerr := c.s.blockOf(&f.location)
	var ch *Chain
	if kerr == nil {
		r.block = b
		ch, kerr = r.findChain()
	}
	if kerr != nil {
		c.kernel(kerr, true)
		return nil
	}
	o := &filterPrinter{printer: c.printer()}
	o.array("")
	o.chain(c.s, ch, f.parent, f.block)
	o.endArray()
	c.out.WriteString(o.finish())
	return nil
}

func (c *session) chainList(w *words) error {
	c.s.settle()
	f := &filterWords{}
	if err := f.parse(w, false); err != nil {
		return err
	}
	o := &filterPrinter{printer: c.printer()}
	o.array("")
	var b *Block
	if f.block != 0 {
		if b = c.s.blocks[f.block]; b == nil {
			return tool("Cannot find block \"%d\"", f.block)
		}
	} else if f.dev != "" {
		d, err := c.s.device(f.dev)
		if err != nil {
			return err
		}
		b, _ = c.s.shownBlock(d, f.parent)
	}
	if b != nil {
		for _, ch := range b.chains {
			if ch.onlyActions() || f.hasChain && ch.Index != f.chain {
				continue
			}
			o.chain(c.s, ch, f.parent, f.block)
		}
	}
	o.endArray()
	c.out.WriteString(o.finish())
	return nil
}

// chain writes one chain with its template.
func (o *filterPrinter) chain(s *System, c *Chain, parent, block uint32) {
	o.object("")
	o.text("chain ")
	if block != 0 {
		o.put("block", "block %d ", block)
	} else {
		o.put("parent", "parent %s ", classText(parent&0xffff0000))
	}
	if c.template != nil {
		o.put("kind", "%s ", c.template.kind)
	}
	o.put("chain", "chain %d ", c.Index)
	if c.template != nil {
		o.object("options")
		k := &keyPrinter{o: &o.printer, key: &c.template.key, mask: &c.template.mask}
		k.indev(s)
		o.object("keys")
		k.all()
		o.endObject()
		o.endObject()
	}
	o.nl()
	o.endObject()
}
