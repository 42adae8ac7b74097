package tc

import "fmt"

// handleText writes HTID:HASH:NODE.
func u32Text(h uint32) string {
	table, hash, node := h>>20, h>>12&0xff, h&0xfff
	s := fmt.Sprintf("%x:", table)
	if hash != 0 {
		s += fmt.Sprintf("%x", hash)
	}
	if node != 0 || hash != 0 {
		s += ":"
	}
	if node != 0 {
		s += fmt.Sprintf("%x", node)
	}
	return s
}

func (c *u32) show(s *System, o *filterPrinter, handle uint32) {
	c.nodes(func(t *u32Table, n *u32Node) {
		if n == nil {
			if handle == 0 || handle == t.handle {
				o.filter(c.instance, func() {
					o.put("fh", "fh %s ", u32Text(t.handle))
					o.put("ht_divisor", "ht divisor %d ", t.divisor+1)
				})
			}
			return
		}
		if handle == 0 || handle == n.handle {
			o.filter(c.instance, func() { n.show(s, o) })
		}
	})
}

// show writes a node behind its head.
func (n *u32Node) show(s *System, fo *filterPrinter) {
	o := &fo.printer
	o.put("fh", "fh %s ", u32Text(n.handle))
	o.put("order", "order %d ", n.handle&0xfff)
	o.put("key_ht", "key ht %s ", fmt.Sprintf("%x", n.handle>>20))
	o.put("bkt", "bkt %s ", fmt.Sprintf("%x", n.handle>>12&0xff))
	switch {
	case n.hasClass:
		if n.terminal == o.Old {
			o.text("*")
		}
		o.put("flowid", "flowid %s ", classText(n.classID))
	case n.terminal:
		o.text("terminal flowid ")
	}
	if n.link != nil {
		o.put("link", "link %s ", u32Text(n.link.handle))
	}
	n.flagWords(o)
	if o.Stats {
		o.put("rule_hit", "(rule hit %d ", n.seen)
		o.put("success", "success %d)", n.hit)
	}
	n.showMatch(o, fo.Pretty && !fo.JSON, n.instance.Protocol)
	if n.link != nil && (n.hashMask != 0 || n.moves()) {
		o.nl()
		n.showOffset(o)
		n.showHash(o)
	}
	if n.indev != 0 {
		o.nl()
		o.put("input_dev", "  input dev %s", s.nameOf(n.indev))
	}
	if n.police {
		o.nl()
		n.actions[0].params.show(o, n.actions[0])
		return
	}
	n.showActions(s, o)
}

func (n *u32Node) flagWords(o *printer) {
	if n.flags&flagSkipHW != 0 {
		o.put("skip_hw", "skip_hw ", true)
	}
	if n.flags&flagSkipSW != 0 {
		o.put("skip_sw", "skip_sw ", true)
	}
	if n.flags&flagInHW != 0 {
		o.put("in_hw", "in_hw ", true)
	} else {
		o.put("not_in_hw", "not_in_hw ", true)
	}
}

func (n *u32Node) showMatch(o *printer, decode bool, _ uint16) {
	if n.mark.set {
		o.nl()
		if o.JSON {
			o.member("fwmark_value", fmt.Sprintf("0x%x", n.mark.value))
			o.member("fwmark_mask", fmt.Sprintf("0x%x", n.mark.mask))
			o.member("fwmark_success", n.markHits)
		} else {
			o.text("  mark 0x%04x 0x%04x (success %d)", n.mark.value, n.mark.mask, n.markHits)
		}
	}
	for i, k := range n.keys {
		if decode {
			if text, ok := k.decoded(); ok {
				o.nl()
				o.text("  %s", text)
			}
			continue
		}
		o.nl()
		o.object("match")
		if o.JSON {
			o.member("value", fmt.Sprintf("%x", k.value))
			o.member("mask", fmt.Sprintf("%x", k.mask))
			o.member("offmask", map[bool]string{true: "nexthdr+", false: ""}[k.next])
			o.member("off", k.off)
		} else {
			next := ""
			if k.next {
				next = "nexthdr+"
			}
			o.text("  match %08x/%08x at %s%d", k.value, k.mask, next, k.off)
		}
		if o.Stats {
			o.put("success", " (success %d ) ", n.keyHits[i])
		}
		o.endObject()
	}
}

// decoded writes a key as the field that it tests.
func (k *u32Key) decoded() (string, bool) {
	if k.next {
		return "", false
	}
	switch k.off {
	case 12, 16:
		if ones, leads := leadingOnes(be32(k.mask)); leads {
			name := "src"
			if k.off == 16 {
				name = "dst"
			}
			return fmt.Sprintf("match IP %s %s/%d", name, addr32(k.value), ones), true
		}
	case 20:
		switch k.mask {
		case 0x0000ffff:
			return fmt.Sprintf("match dport %d", k.value), true
		case 0xffff0000:
			return fmt.Sprintf("match sport %d", k.value>>16), true
		}
	case 8:
		if k.mask == 0x00ff0000 {
			return fmt.Sprintf("match IP protocol %d", k.value>>16), true
		}
	}
	return "", false
}

func (n *u32Node) showOffset(o *printer) {
	off := &n.offset
	if !n.moves() {
		return
	}
	o.text("    offset ")
	if off.variable {
		o.put("offset_mask", "%s", fmt.Sprintf("%04x", off.mask))
		o.put("offset_shift", ">>%d ", off.shift)
		o.put("offset_off", "at %d ", off.at)
	}
	if off.fixed != 0 {
		o.put("plus", "plus %d ", off.fixed)
	}
	if off.eat {
		o.put("offset_eat", " eat ", true)
	}
	if n.hasHash {
		o.nl()
	}
}

func (n *u32Node) showHash(o *printer) {
	if n.hashMask == 0 {
		return
	}
	o.put("hash_mask", "    hash mask %s ", fmt.Sprintf("%08x", n.hashMask))
	o.put("hash_off", "at %d ", n.hashOff)
}
