package tc

// filterPrinter writes filters with the head line that a command asks for:
// columns that it fixed are left out.
type filterPrinter struct {
	printer
	device       string // "": it is not written
	block        uint32 // 0: it is not written
	location     string // "ingress", "egress", "root" or ""
	parent       uint32
	hasParent    bool
	hideProtocol bool
	hidePriority bool
	hideChain    bool
	prefix       string // "added ", …
}

// head writes what begins every line of a filter.
func (o *filterPrinter) head(i *Instance) {
	o.text("%sfilter ", o.prefix)
	if o.block != 0 {
		o.put("block", "block %d ", o.block)
	}
	if o.device != "" {
		o.put("dev", "dev %s ", o.device)
	}
	switch {
	case o.location != "" && o.JSON:
		o.member(o.location, true)
	case o.location != "":
		o.text("%s ", o.location)
	case o.hasParent:
		o.put("parent", "parent %s ", classText(o.parent))
	}
	if !o.hideProtocol {
		o.put("protocol", "protocol %s ", o.protocol(i.Protocol))
	}
	if !o.hidePriority {
		o.put("pref", "pref %d ", i.Priority)
	}
	o.put("kind", "%s ", i.Kind)
	if !o.hideChain {
		o.put("chain", "chain %d ", i.chain.Index)
	}
}

func (o *filterPrinter) protocol(p uint16) string {
	if o.Numeric {
		return bracketed(p)
	}
	return protocolName(p)
}

// instance writes the bare line of a priority.
func (o *filterPrinter) bare(i *Instance) {
	o.object("")
	o.head(i)
	o.nl()
	o.endObject()
}

// filter writes one filter; body writes what the classifier knows.
func (o *filterPrinter) filter(i *Instance, body func()) {
	o.object("")
	o.head(i)
	o.object("options")
	body()
	o.endObject()
	o.nl()
	o.endObject()
}

// showFlags writes the skip flags and whether the filter is in hardware, with
// the number of devices where the classifier shows it.
func (f *filterBase) showFlags(o *printer, count bool) {
	flag := func(key string) {
		o.nl()
		o.put(key, "  "+key, true)
	}
	if f.flags&flagSkipHW != 0 && !o.Brief {
		flag("skip_hw")
	}
	if f.flags&flagSkipSW != 0 && !o.Brief {
		flag("skip_sw")
	}
	if f.flags&flagInHW != 0 {
		flag("in_hw")
		if count {
			o.put("in_hw_count", " in_hw_count %d", f.inHW)
		}
		return
	}
	flag("not_in_hw")
}

// showActions writes the filter's actions, if it has any.
func (f *filterBase) showActions(s *System, o *printer) {
	if len(f.actions) == 0 {
		return
	}
	o.nl()
	s.showActions(o, f.actions, 1, false)
}

// showBlock lists the filters of a block, restricted to a chain, priority and
// protocol where they are given.
func (s *System) showBlock(o *filterPrinter, b *Block, q *filterQuery) {
	for _, c := range b.chains {
		if q.hasChain && c.Index != q.chain {
			continue
		}
		for _, i := range c.instances {
			if q.priority != 0 && i.Priority != q.priority || q.protocol != 0 && i.Protocol != q.protocol {
				continue
			}
			o.bare(i)
			i.classifier.show(s, o, 0)
		}
	}
}

// filterQuery restricts a listing.
type filterQuery struct {
	chain    uint32
	hasChain bool
	priority uint32
	protocol uint16
}
