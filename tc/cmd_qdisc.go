package tc

import (
	"fmt"
)

func (c *session) qdisc(w *words) error {
	w.skip()
	if !w.more() {
		return c.qdiscList(w)
	}
	verb := w.peek()
	w.skip()
	switch {
	case prefix(verb, "add"):
		return c.qdiscModify(w, &qdiscRequest{create: true, exclude: true}, false)
	case prefix(verb, "change"):
		return c.qdiscModify(w, &qdiscRequest{}, false)
	case prefix(verb, "replace"):
		return c.qdiscModify(w, &qdiscRequest{create: true, replace: true}, false)
	case prefix(verb, "link"):
		return c.qdiscModify(w, &qdiscRequest{replace: true}, false)
	case prefix(verb, "delete"):
		return c.qdiscModify(w, &qdiscRequest{}, true)
	case prefix(verb, "list"), prefix(verb, "show"), prefix(verb, "lst"):
		return c.qdiscList(w)
	case prefix(verb, "help"):
		fmt.Fprintln(&c.errs, "Usage: tc qdisc [ add | del | replace | change | show ] dev STRING")
		return nil
	}
	return unknown(verb, "qdisc")
}

// qdiscWords reads the words of a qdisc up to the kind.
func (c *session) qdiscWords(w *words, r *qdiscRequest) (dev string, err *ToolError) {
	set := func(parent uint32) *ToolError {
		if r.parent != 0 {
			return usageOnly("Error: %q is a duplicate parent ID", w.peek())
		}
		r.parent = parent
		return nil
	}
	for w.more() {
		switch {
		case w.is("dev"):
			if dev, err = w.value(); err != nil {
				return "", err
			}
			continue
		case w.is("handle"):
			text, err := w.value()
			if err != nil {
				return "", err
			}
			h, ok := qdiscHandle(text)
			if !ok {
				return "", wrong(text, "invalid qdisc ID")
			}
			r.handle = h
			continue
		case w.is("root"):
			err = set(handleRoot)
		case w.is("clsact"), w.is("ingress"):
			r.kind = w.peek()
			if err = set(handleIngress); err == nil {
				r.handle = 0xffff0000
				w.skip()
				return dev, c.qdiscRest(w, &dev, r)
			}
		case w.is("parent"):
			text, err := w.value()
			if err != nil {
				return "", err
			}
			if r.parent != 0 {
				return "", usage("Error: duplicate \"parent\": %q is the second value.", text)
			}
			id, ok := classID(text)
			if !ok {
				return "", wrong(text, "invalid parent ID")
			}
			r.parent = id
			continue
		case w.matches("ingress_block"), w.matches("egress_block"):
			name := w.peek()
			text, err := w.value()
			if err != nil {
				return "", err
			}
			n, ok := number32(text, 0)
			if !ok || n == 0 {
				return "", wrong(text, "invalid block index value")
			}
			if name[0] == 'i' {
				r.ingressBlock = n
			} else {
				r.egressBlock = n
			}
			continue
		case w.is("estimator"):
			w.skip()
			w.skip()
		case w.is("help"):
			return "", &ToolError{Status: 0, Text: "Usage: tc qdisc ...", Ends: true}
		default:
			r.kind = w.peek()
			w.skip()
			return dev, c.qdiscRest(w, &dev, r)
		}
		if err != nil {
			return "", err
		}
		w.skip()
	}
	return dev, nil
}

// qdiscRest reads the options of a kind.
func (c *session) qdiscRest(w *words, dev *string, r *qdiscRequest) *ToolError {
	r.bands = 3
	for w.more() {
		switch {
		case r.kind == "prio" && w.is("bands"):
			text, err := w.value()
			if err != nil {
				return err
			}
			n, ok := number32(text, 10)
			if !ok || n < 2 || n > 16 {
				return tool("Illegal \"bands\"")
			}
			r.bands = int(n)
		case r.kind == "prio" && w.is("priomap"):
			w.skip()
			for w.more() {
				n, ok := number8(w.peek(), 10)
				if !ok {
					break
				}
				r.priomap = append(r.priomap, n)
				w.skip()
			}
		default:
			return tool("Unknown qdisc %q, hence option %q is unparsable", r.kind, w.peek())
		}
	}
	return nil
}

// defaultPriomap is prio's map from priorities to bands.
var defaultPriomap = [16]uint8{1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}

func (c *session) qdiscModify(w *words, r *qdiscRequest, del bool) error {
	dev, err := c.qdiscWords(w, r)
	if err != nil {
		return err
	}
	if dev == "" {
		return tool("Command line is not complete. Device is missing")
	}
	d, err := c.s.device(dev)
	if err != nil {
		return err
	}
	r.dev = d
	if del {
		c.kernel(c.s.deleteQdisc(r), false)
		return nil
	}
	kerr := c.s.newQdisc(r)
	if q := d.at(r.parent); kerr == nil && q != nil && q.Kind == "prio" {
		q.priomap = defaultPriomap
		copy(q.priomap[:], r.priomap)
	}
	c.kernel(kerr, false)
	return nil
}

func (c *session) qdiscList(w *words) error {
	dev := ""
	parent := uint32(0)
	for w.more() {
		switch {
		case w.is("dev"):
			text, err := w.value()
			if err != nil {
				return err
			}
			dev = text
			continue
		case w.is("root"):
			parent = handleRoot
		case w.is("ingress"), w.is("clsact"):
			parent = handleIngress
		case w.matches("parent"):
			text, err := w.value()
			if err != nil {
				return err
			}
			id, ok := classID(text)
			if !ok {
				return wrong(text, "invalid parent ID")
			}
			parent = id
			continue
		case w.matches("handle"):
			if _, err := w.value(); err != nil {
				return err
			}
			continue
		case w.is("invisible"):
		default:
			return usageOnly("What is %q? Try \"tc qdisc help\".", w.peek())
		}
		w.skip()
	}
	o := c.printer()
	o.array("")
	devices := c.s.Devices()
	if dev != "" {
		d, err := c.s.device(dev)
		if err != nil {
			return err
		}
		devices = []*Device{d}
	}
	for _, d := range devices {
		c.showQdiscs(&o, d, parent, dev == "")
	}
	o.endArray()
	c.out.WriteString(o.finish())
	return nil
}

func (c *session) showQdiscs(o *printer, d *Device, parent uint32, withDevice bool) {
	if d.at(handleRoot) == nil && (parent == 0 || parent == handleRoot) {
		(&Qdisc{Kind: "noqueue", Parent: handleRoot, Dev: d}).show(o, withDevice, 2)
	}
	for _, q := range d.qdiscs {
		if parent == 0 || q.Parent == parent {
			q.show(o, withDevice, 1)
		}
	}
}

// show writes one qdisc.
func (q *Qdisc) show(o *printer, withDevice bool, refs int) {
	o.object("")
	o.put("kind", "qdisc %s ", q.Kind)
	o.put("handle", "%s ", fmt.Sprintf("%x:", q.Handle>>16))
	if withDevice {
		o.put("dev", "dev %s ", q.Dev.Name)
	}
	if q.Parent == handleRoot {
		o.put("root", "root ", true)
	} else {
		o.put("parent", "parent %s ", classText(q.Parent))
	}
	if refs != 1 {
		o.put("refcnt", "refcnt %d ", refs)
	}
	if q.ingress != nil && q.ingress.index != 0 {
		o.put("ingress_block", "ingress_block %d ", q.ingress.index)
	}
	if q.egress != nil && q.egress.index != 0 {
		o.put("egress_block", "egress_block %d ", q.egress.index)
	}
	o.object("options")
	q.showOptions(o)
	o.endObject()
	if o.Stats {
		q.showStats(o)
	}
	o.nl()
	o.endObject()
}

func (q *Qdisc) showOptions(o *printer) {
	switch q.Kind {
	case "ingress":
		o.text("---------------- ")
	case "prio":
		o.put("bands", "bands %d ", q.bands)
		o.array("priomap")
		o.text("priomap ")
		for _, b := range q.priomap {
			if o.JSON {
				o.value(b)
			} else {
				o.text(" %d", b)
			}
		}
		o.endArray()
	}
}

func (q *Qdisc) showStats(o *printer) {
	o.nl()
	o.put("bytes", " Sent %d bytes", q.Bytes)
	o.put("packets", " %d pkt", q.Packets)
	o.put("drops", " (dropped %d, ", q.Drops)
	o.put("overlimits", "overlimits %d ", 0)
	o.put("requeues", "requeues %d) ", 0)
	o.nl()
	o.text(" backlog 0b 0p requeues 0")
	o.member("backlog", 0)
	o.member("qlen", 0)
}

func (c *session) class(w *words) error {
	w.skip()
	verb := w.peek()
	if !w.more() {
		return nil
	}
	w.skip()
	r := &classRequest{}
	switch {
	case prefix(verb, "add"):
		r.exclude = true
	case prefix(verb, "change"), prefix(verb, "replace"):
		r.replace = true
	case prefix(verb, "delete"):
		r.deletesOnly = true
	case prefix(verb, "list"), prefix(verb, "show"), prefix(verb, "lst"):
		return c.classList(w)
	default:
		return unknown(verb, "class")
	}
	if err := c.classWords(w, r); err != nil {
		return err
	}
	c.kernel(c.s.changeClass(r), false)
	return nil
}

func (c *session) classWords(w *words, r *classRequest) error {
	for w.more() {
		switch {
		case w.is("dev"):
			text, err := w.value()
			if err != nil {
				return err
			}
			d, err := c.s.device(text)
			if err != nil {
				return err
			}
			r.dev = d
		case w.is("parent"), w.is("classid"), w.is("quantum"):
			name := w.peek()
			text, err := w.value()
			if err != nil {
				return err
			}
			ok := false
			switch name {
			case "parent":
				r.parent, ok = classID(text)
			case "classid":
				r.id, ok = classID(text)
			default:
				r.quantum, ok = size(text)
			}
			if !ok {
				return wrong(text, "invalid class ID")
			}
		case w.is("root"):
			r.parent = handleRoot
			w.skip()
		default:
			r.kind = w.peek()
			w.skip()
		}
	}
	if r.dev == nil {
		return usageOnly("Command line is not complete. Device is missing")
	}
	return nil
}

func (c *session) classList(w *words) error {
	o := c.printer()
	o.array("")
	for w.more() {
		if !w.is("dev") {
			w.skip()
			continue
		}
		text, err := w.value()
		if err != nil {
			return err
		}
		d, err := c.s.device(text)
		if err != nil {
			return err
		}
		c.s.showClasses(&o, d)
	}
	o.endArray()
	c.out.WriteString(o.finish())
	return nil
}
