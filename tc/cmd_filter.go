package tc

import (
	"fmt"
	"strings"
)

// location is where a filter or chain command looks.
type location struct {
	dev      string
	block    uint32
	parent   uint32
	given    bool // a parent word was given
	parentID bool // it was "parent"
}

// filterWords are the words before the kind.
type filterWords struct {
	location
	handle      string
	priority    uint32
	hasPriority bool
	protocol    uint16
	hasProtocol bool
	chain       uint32
	hasChain    bool
	kind        string
}

func (c *session) filter(w *words) error {
	w.skip()
	if !w.more() {
		return c.filterList(w)
	}
	verb := w.peek()
	w.skip()
	switch {
	case prefix(verb, "add"):
		return c.filterModify(w, &filterRequest{create: true, exclude: true})
	case prefix(verb, "change"):
		return c.filterModify(w, &filterRequest{})
	case prefix(verb, "replace"):
		return c.filterModify(w, &filterRequest{create: true})
	case prefix(verb, "delete"):
		return c.filterDelete(w)
	case prefix(verb, "get"):
		return c.filterGet(w)
	case prefix(verb, "list"), prefix(verb, "show"), prefix(verb, "lst"):
		return c.filterList(w)
	case prefix(verb, "help"):
		fmt.Fprintln(&c.errs, "Usage: tc filter [ add | del | change | replace | show ] [ dev STRING ]")
		return nil
	}
	return unknown(verb, "filter")
}

// place reads a word of a location. It reports false for another word.
func (l *location) place(w *words, blockToo bool) (bool, *ToolError) {
	set := func(parent uint32) *ToolError {
		if l.given {
			return usageOnly("Error: %q is a duplicate parent ID", w.peek())
		}
		l.parent, l.given = parent, true
		w.skip()
		return nil
	}
	switch {
	case w.is("dev"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		if l.dev != "" {
			return false, usage("Error: duplicate \"dev\": %q is the second value.", text)
		}
		if l.block != 0 {
			return false, usageOnly("Error: \"dev\" and \"block\" are mutually exclusive")
		}
		l.dev = text
	case blockToo && w.matches("block"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		n, ok := number32(text, 0)
		if !ok || n == 0 {
			return false, wrong(text, "invalid block index value")
		}
		if l.dev != "" {
			return false, usageOnly("Error: \"dev\" and \"block\" are mutually exclusive")
		}
		l.block = n
	case w.is("root"):
		return true, set(handleRoot)
	case w.is("ingress"):
		return true, set(minIngress)
	case w.is("egress"):
		return true, set(minEgress)
	case w.is("parent"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		if l.given {
			return false, usage("Error: duplicate \"parent\": %q is the second value.", text)
		}
		id, ok := classID(text)
		if !ok {
			return false, wrong(text, "Invalid parent ID")
		}
		l.parent, l.given, l.parentID = id, true, true
	default:
		return false, nil
	}
	return true, nil
}

// parse reads the words before the kind; with classify the first unknown word
// is the kind.
func (f *filterWords) parse(w *words, withKind bool) *ToolError {
	for w.more() {
		known, err := f.place(w, true)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if known, err = f.word(w); err != nil {
			return err
		}
		if known {
			continue
		}
		if !withKind {
			return usageOnly(" What is %q? Try \"tc filter help\"", w.peek())
		}
		f.kind = w.peek()
		w.skip()
		return nil
	}
	return nil
}

func (f *filterWords) word(w *words) (bool, *ToolError) {
	switch {
	case w.is("handle"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		if f.handle != "" {
			return false, usage("Error: duplicate \"handle\": %q is the second value.", text)
		}
		f.handle = text
	case w.matches("preference", "priority"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		n, ok := number32(text, 0)
		if !ok || n > 0xffff {
			return false, wrong(text, "invalid priority value")
		}
		f.priority, f.hasPriority = n, true
	case w.matches("protocol"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		p, ok := protocol(text)
		if !ok {
			return false, wrong(text, "invalid protocol")
		}
		f.protocol, f.hasProtocol = p, true
	case w.matches("chain"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		n, ok := number32(text, 0)
		if !ok {
			return false, wrong(text, "invalid chain index value")
		}
		f.chain, f.hasChain = n, true
	default:
		return false, nil
	}
	return true, nil
}

// setHandle reads a handle as the classifier does.
func (r *filterRequest) setHandle(kind, text string) *ToolError {
	switch kind {
	case "fw":
		return fwHandle(text, r)
	case "u32":
		h, ok := u32Handle(text)
		if !ok {
			return tool("Illegal filter ID")
		}
		r.handle = h
		return nil
	}
	if text == "" {
		return nil
	}
	n, ok := number32(text, 0)
	if !ok {
		return tool("Illegal \"handle\"")
	}
	r.handle = n
	return nil
}

// request fills a request from the words and those of the classifier.
func (c *session) request(w *words, f *filterWords, r *filterRequest) *ToolError {
	r.kind, r.priority, r.chain, r.hasChain = f.kind, f.priority, f.chain, f.hasChain
	if f.hasProtocol {
		r.protocol = f.protocol
	}
	if f.dev != "" {
		if _, err := c.s.device(f.dev); err != nil {
			return err
		}
	}
	if f.kind == "" {
		if f.handle != "" {
			return tool("Must specify filter type when using \"handle\"")
		}
		return nil
	}
	k := classifierKinds[f.kind]
	if k == nil {
		if w.more() {
			return tool("Unknown filter %q, hence option %q is unparsable", f.kind, w.peek())
		}
		return nil
	}
	if err := r.setHandle(f.kind, f.handle); err != nil {
		return err
	}
	err := k.parse(w, r, c.s)
	if err != nil && !err.Ends {
		err.Status = exitTool
	}
	return err
}

// blockOf finds the block that a location means.
func (s *System) blockOf(l *location) (*Block, *KernelError) {
	if l.block != 0 {
		b := s.blocks[l.block]
		if b == nil {
			return nil, refuse(einval, "Block of given index was not found")
		}
		return b, nil
	}
	d := s.devices[l.dev]
	if d == nil {
		return nil, errno(enodev)
	}
	return s.filterBlock(d, l.parent)
}

func (c *session) filterModify(w *words, r *filterRequest) error {
	f := &filterWords{}
	if err := f.parse(w, true); err != nil {
		return err
	}
	if r.create {
		r.protocol = protocolAll
	}
	if err := c.request(w, f, r); err != nil {
		return err
	}
	b, kerr := c.s.blockOf(&f.location)
	if kerr == nil {
		r.block = b
		kerr = c.s.newFilter(r)
	}
	c.kernel(kerr, true)
	if kerr == nil && c.o.Echo {
		c.echo("added ", f, r)
	}
	return nil
}

// echo shows the filter that a command made.
func (c *session) echo(prefix string, f *filterWords, r *filterRequest) {
	if r.instance == nil {
		return
	}
	o := &filterPrinter{printer: c.printer(), prefix: prefix, device: f.dev, block: f.block}
	o.locate(&f.location, true)
	o.array("")
	o.bare(r.instance)
	r.instance.classifier.show(c.s, o, r.handle)
	o.endArray()
	c.out.WriteString(o.finish())
}

func (c *session) filterDelete(w *words) error {
	f, r := &filterWords{}, &filterRequest{}
	if err := f.parse(w, true); err != nil {
		return err
	}
	if err := c.request(w, f, r); err != nil {
		return err
	}
	b, kerr := c.s.blockOf(&f.location)
	if kerr == nil {
		r.block = b
		kerr = c.s.deleteFilter(r)
	}
	c.kernel(kerr, true)
	return nil
}

func (c *session) filterGet(w *words) error {
	f, r := &filterWords{}, &filterRequest{}
	if err := f.parse(w, true); err != nil {
		return err
	}
	switch {
	case f.kind == "":
		return tool("Must specify filter type")
	case !f.hasPriority:
		return tool("Must specify filter priority")
	case f.handle == "":
		return tool("Must specify filter handle")
	}
	if err := c.request(w, f, r); err != nil {
		return err
	}
	b, kerr := c.s.blockOf(&f.location)
	var i *Instance
	if kerr == nil {
		r.block = b
		i, kerr = c.s.getFilter(r)
	}
	if kerr != nil {
		c.kernel(kerr, true)
		return nil
	}
	o := &filterPrinter{printer: c.printer(), block: f.block}
	o.locate(&f.location, true)
	o.array("")
	i.classifier.show(c.s, o, r.handle)
	o.endArray()
	c.out.WriteString(o.finish())
	return nil
}

// locate chooses how a location is written.
func (o *filterPrinter) locate(l *location, always bool) {
	if l.block != 0 || l.given && !always {
		return
	}
	switch {
	case l.parent == minIngress:
		o.location = "ingress"
	case l.parent == minEgress:
		o.location = "egress"
	case l.parent == handleRoot:
		o.location = "root"
	default:
		o.parent, o.hasParent = l.parent, true
	}
}

func (c *session) filterList(w *words) error {
	c.s.settle()
	f := &filterWords{}
	if err := f.parse(w, false); err != nil {
		return err
	}
	o := &filterPrinter{printer: c.printer(), hideProtocol: f.hasProtocol, hidePriority: f.hasPriority, hideChain: f.hasChain}
	o.array("")
	if err := c.filterShow(o, f); err != nil {
		return err
	}
	o.endArray()
	c.out.WriteString(o.finish())
	return nil
}

func (c *session) filterShow(o *filterPrinter, f *filterWords) error {
	q := &filterQuery{chain: f.chain, hasChain: f.hasChain, priority: f.priority, protocol: f.protocol}
	if f.hasProtocol && f.protocol == protocolAll {
		q.protocol = protocolAll
	}
	if f.block != 0 {
		b := c.s.blocks[f.block]
		if b == nil {
			return tool("Cannot find block \"%d\"", f.block)
		}
		c.s.showBlock(o, b, q)
		return nil
	}
	if f.dev == "" {
		return nil
	}
	d, err := c.s.device(f.dev)
	if err != nil {
		return err
	}
	b, parent := c.s.shownBlock(d, f.parent)
	if b == nil {
		return nil
	}
	l := f.location
	if !l.given {
		l.parent = parent
	}
	if b.index != 0 {
		o.block = b.index
	} else {
		o.locate(&l, false)
	}
	c.s.showBlock(o, b, q)
	return nil
}

// shownBlock finds the block of a listing, nil where there is nothing to show.
func (s *System) shownBlock(d *Device, parent uint32) (*Block, uint32) {
	var q *Qdisc
	if parent == 0 || parent == handleRoot {
		if q = d.at(handleRoot); q == nil {
			return nil, 0
		}
		return q.block, q.Handle
	}
	if q = d.qdisc(parent & 0xffff0000); q == nil {
		return nil, 0
	}
	switch {
	case q.Kind == "ingress":
		return q.ingress, parent
	case q.Kind == "clsact" && parent&0xffff == minIngress&0xffff:
		return q.ingress, parent
	case q.Kind == "clsact" && parent&0xffff == minEgress&0xffff:
		return q.egress, parent
	}
	return q.block, parent
}

func lower(s string) string { return strings.ToLower(s) }
