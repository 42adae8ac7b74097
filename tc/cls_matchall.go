package tc

import (
	"syscall"

	"verdict/offload"
)

// matchall is one filter that matches every packet.
type matchall struct {
	instance *Instance
	filter   *matchallFilter
}

type matchallFilter struct {
	filterBase
	hits uint64
}

var kindMatchall = &classifierKind{name: "matchall", parse: parseMatchall, offloads: true, make: func(i *Instance) classifier {
	return &matchall{instance: i}
}}

func parseMatchall(w *words, r *filterRequest, s *System) *ToolError {
	for w.more() {
		switch {
		case w.matches("classid", "flowid"):
			if err := r.parseClass(w); err != nil {
				return err
			}
		case w.matches("action"):
			if err := r.parseFilterActions(w, s); err != nil {
				return err
			}
		case r.parseSkip(w):
		default:
			return tool("What is %q?\nUsage: ... matchall [skip_sw | skip_hw]", w.peek())
		}
	}
	return nil
}

// classify counts the packet and runs the actions.
//
// Ref: cls_matchall.c, mall_classify
func (c *matchall) classify(s *System, p *Packet) Code {
	f := c.filter
	if f == nil || f.flags&flagSkipSW != 0 {
		return Unspec
	}
	f.hits++
	s.path.classID = f.classID
	return s.runActions(p, &f.filterBase)
}

func (c *matchall) find(handle uint32) bool { return c.filter != nil && c.filter.handle == handle }

// change makes the only filter.
//
// Ref: cls_matchall.c, mall_change
func (c *matchall) change(s *System, r *filterRequest) *KernelError {
	if c.filter != nil {
		return errno(syscall.EEXIST)
	}
	if !validFlags(r.flags) {
		return errno(syscall.EINVAL)
	}
	base, err := s.base(r)
	if err != nil {
		return err
	}
	f := &matchallFilter{filterBase: base}
	if f.handle = r.handle; f.handle == 0 {
		f.handle = 1
	}
	if f.flags&flagSkipHW == 0 {
		if err := s.offload(&f.filterBase, f.rule(offload.Matchall)); err != nil {
			s.releaseBase(&f.filterBase)
			return err
		}
	}
	c.instance.needsSoftware(f.flags)
	c.filter = f
	return nil
}

func (c *matchall) remove(s *System, _ uint32) (bool, *KernelError) { return true, nil }

func (c *matchall) destroy(s *System) {
	f := c.filter
	if f == nil {
		return
	}
	c.filter = nil
	if f.flags&flagSkipHW == 0 {
		s.unload(&f.filterBase)
	}
	s.releaseBase(&f.filterBase)
}

func (c *matchall) counters() []FilterCounters {
	if c.filter == nil {
		return nil
	}
	n := c.filter.counted()
	n.Hit, n.HasHit = c.filter.hits, true
	return []FilterCounters{n}
}

func (c *matchall) reoffload(s *System, hw *offload.Device, add bool) *KernelError {
	f := c.filter
	if f == nil || f.flags&flagSkipHW != 0 {
		return nil
	}
	return s.reoffer(&f.filterBase, f.rule(offload.Matchall), hw, add)
}

func (c *matchall) show(s *System, o *filterPrinter, handle uint32) {
	f := c.filter
	if f == nil || o.Brief {
		return
	}
	s.refresh(&f.filterBase)
	o.filter(c.instance, func() {
		o.put("handle", "handle 0x%x ", f.handle)
		if f.hasClass {
			o.put("flowid", "flowid %s ", classText(f.classID))
		}
		f.showFlags(&o.printer, false)
		if o.Stats {
			o.put("rule_hit", " (rule hit %d)", f.hits)
		}
		f.showActions(s, &o.printer)
	})
}
