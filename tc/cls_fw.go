package tc

import (
	"fmt"
	"strings"
	"syscall"
)

// fw matches on the packet's mark.
type fw struct {
	instance *Instance
	mask     uint32
	old      bool // no filter was ever added: the mark itself is the class
	filters  []*fwFilter
}

type fwFilter struct {
	filterBase
	indev uint32
}

type fwOptions struct {
	mask    uint32
	hasMask bool
}

var kindFW = &classifierKind{name: "fw", parse: parseFW, make: func(i *Instance) classifier { return &fw{instance: i, old: true} }}

func parseFW(w *words, r *filterRequest, s *System) *ToolError {
	if r.options == nil {
		r.options = &fwOptions{}
	}
	for w.more() {
		switch {
		case w.matches("classid", "flowid"):
			if err := r.parseClass(w); err != nil {
				return err
			}
		case w.matches("police"):
			if err := r.parsePoliceWord(w); err != nil {
				return err
			}
		case w.matches("action"):
			if err := r.parseFilterActions(w, s); err != nil {
				return err
			}
		case w.is("indev"):
			text, err := w.value()
			if err != nil {
				return err
			}
			r.indev = text
		default:
			return tool("What is %q?\nUsage: ... fw [ classid CLASSID ] [ indev DEV ] [ action ACTION_SPEC ]", w.peek())
		}
	}
	return nil
}

// fwHandle reads MARK[/MASK].
func fwHandle(text string, r *filterRequest) *ToolError {
	o := &fwOptions{}
	r.options = o
	if text == "" {
		return nil
	}
	mark, mask, has := strings.Cut(text, "/")
	n, ok := number32(mark, 0)
	if !ok {
		return tool("Illegal \"handle\"")
	}
	r.handle = n
	if has {
		if o.mask, ok = number32(mask, 0); !ok {
			return tool("Illegal \"handle\" mask")
		}
		o.hasMask = true
	}
	return nil
}

// classify compares the mark. Without filters the mark is the class.
//
// Ref: cls_fw.c, fw_classify
func (c *fw) classify(s *System, p *Packet) Code {
	if c.old {
		if p.Mark != 0 && (p.Mark>>16 == 0 || c.ownMajor(p.Mark)) {
			s.path.classID = p.Mark
			return OK
		}
		return Unspec
	}
	id := p.Mark & c.mask
	for _, f := range c.filters {
		if f.handle != id || f.indev != 0 && f.indev != p.IIF {
			continue
		}
		s.path.classID = f.classID
		if r := s.runActions(p, &f.filterBase); r >= 0 {
			return r
		}
	}
	return Unspec
}

// ownMajor reports whether a class belongs to a qdisc of the block.
func (c *fw) ownMajor(id uint32) bool {
	for _, b := range c.instance.chain.block.bindings {
		if b.qdisc.Handle == id&0xffff0000 {
			return true
		}
	}
	return false
}

func (c *fw) lookup(handle uint32) *fwFilter {
	for _, f := range c.filters {
		if f.handle == handle {
			return f
		}
	}
	return nil
}

func (c *fw) find(handle uint32) bool { return c.lookup(handle) != nil }

// change adds or changes a filter; all share one mask.
//
// Ref: cls_fw.c, fw_change
func (c *fw) change(s *System, r *filterRequest) *KernelError {
	o := r.options.(*fwOptions)
	old := c.lookup(r.handle)
	empty := !r.hasClass && len(r.actions) == 0 && r.police == nil && r.indev == ""
	switch {
	case empty && r.handle == 0:
		return nil // the old method
	case empty, old == nil && r.handle == 0:
		return errno(syscall.EINVAL)
	}
	mask := uint32(0xffffffff)
	if o.hasMask {
		mask = o.mask
	}
	if !c.old && mask != c.mask {
		return errno(syscall.EINVAL)
	}
	indev, err := s.indevOf(r.indev)
	if err != nil {
		return err
	}
	base, err := s.base(r)
	if err != nil {
		return err
	}
	f := &fwFilter{filterBase: base, indev: indev}
	f.handle = r.handle
	c.mask, c.old = mask, false
	if old != nil {
		if !f.hasClass && old.hasClass {
			f.classID, f.hasClass = old.classID, true
			f.bindClass()
		}
		for i := range c.filters {
			if c.filters[i] == old {
				c.filters[i] = f
			}
		}
		s.releaseBase(&old.filterBase)
		return nil
	}
	c.filters = append([]*fwFilter{f}, c.filters...)
	return nil
}

func (c *fw) remove(s *System, handle uint32) (bool, *KernelError) {
	for i, f := range c.filters {
		if f.handle == handle {
			c.filters = append(c.filters[:i:i], c.filters[i+1:]...)
			s.releaseBase(&f.filterBase)
			break
		}
	}
	return len(c.filters) == 0, nil
}

func (c *fw) destroy(s *System) {
	for _, f := range c.filters {
		s.releaseBase(&f.filterBase)
	}
	c.filters = nil
}

func (c *fw) counters() []FilterCounters {
	var l []FilterCounters
	for _, f := range c.filters {
		l = append(l, f.counted())
	}
	return l
}

func (c *fw) show(s *System, o *filterPrinter, handle uint32) {
	for _, f := range c.filters {
		if handle != 0 && f.handle != handle {
			continue
		}
		o.filter(c.instance, func() { c.showOne(s, o, f) })
	}
}

func (c *fw) showOne(s *System, o *filterPrinter, f *fwFilter) {
	text := fmt.Sprintf("0x%x", f.handle)
	if c.mask != 0xffffffff {
		text += fmt.Sprintf("/0x%x", c.mask)
	}
	switch {
	case o.JSON && !o.Old:
		o.member("mark", fmt.Sprintf("0x%x", f.handle))
		o.member("mask", fmt.Sprintf("0x%x", c.mask))
	default:
		o.b.WriteString("handle " + text + " ") // 6.1 puts it into JSON too
	}
	if f.hasClass {
		o.put("classid", "classid %s ", classText(f.classID))
	}
	if f.police {
		f.actions[0].params.show(&o.printer, f.actions[0])
	}
	if f.indev != 0 {
		o.put("indev", "input dev %s ", s.nameOf(f.indev))
	}
	if !f.police && len(f.actions) > 0 {
		if o.JSON && o.Old {
			o.b.WriteString("\n")
		}
		o.nl()
		o.nl()
		s.showActions(&o.printer, f.actions, 1, false)
	}
}
