package tc

import (
	"fmt"
	"syscall"
)

// basic matches on a tree of ematches.
type basic struct {
	instance *Instance
	filters  []*basicFilter // the newest first
	next     uint32
}

type basicFilter struct {
	filterBase
	tree      *ematchTree
	seen, hit uint64
}

// ematchOptions are the words of basic and cgroup.
type ematchOptions struct{ tree *ematchTree }

var kindBasic = &classifierKind{name: "basic", parse: parseBasic, make: func(i *Instance) classifier {
	return &basic{instance: i, next: 0x7fffffff}
}}

func parseBasic(w *words, r *filterRequest, s *System) *ToolError {
	o := &ematchOptions{}
	r.options = o
	for w.more() {
		switch {
		case w.matches("match"):
			w.skip()
			t, err := parseEmatches(w)
			if err != nil {
				return err
			}
			o.tree = t
		case w.matches("classid", "flowid"):
			if err := r.parseClass(w); err != nil {
				return err
			}
		case w.matches("action"):
			if err := r.parseFilterActions(w, s); err != nil {
				return err
			}
		case w.matches("police"):
			if err := r.parsePoliceWord(w); err != nil {
				return err
			}
		default:
			return tool("What is %q?\nUsage: ... basic [ match EMATCH_TREE ] [ action ACTION_SPEC ] [ classid CLASSID ]", w.peek())
		}
	}
	return nil
}

// classify asks the filters, the newest first.
//
// Ref: cls_basic.c, basic_classify
func (c *basic) classify(s *System, p *Packet) Code {
	for _, f := range c.filters {
		f.seen++
		if !f.tree.match(s, p) {
			continue
		}
		f.hit++
		s.path.classID = f.classID
		if r := s.runActions(p, &f.filterBase); r >= 0 {
			return r
		}
	}
	return Unspec
}

func (c *basic) lookup(handle uint32) *basicFilter {
	for _, f := range c.filters {
		if f.handle == handle {
			return f
		}
	}
	return nil
}

func (c *basic) find(handle uint32) bool { return c.lookup(handle) != nil }

// change adds or changes a filter.
//
// Ref: cls_basic.c, basic_change
func (c *basic) change(s *System, r *filterRequest) *KernelError {
	o := r.options.(*ematchOptions)
	if err := o.tree.check(s); err != nil {
		return err
	}
	old := c.lookup(r.handle)
	base, err := s.base(r)
	if err != nil {
		return err
	}
	f := &basicFilter{filterBase: base, tree: o.tree}
	f.handle = r.handle
	for h := uint32(1); f.handle == 0; h++ {
		if c.lookup(h) == nil {
			f.handle = h
		}
	}
	if old == nil {
		c.filters = append([]*basicFilter{f}, c.filters...)
		return nil
	}
	for i := range c.filters {
		if c.filters[i] == old {
			c.filters[i] = f
		}
	}
	s.releaseBase(&old.filterBase)
	return nil
}

func (c *basic) remove(s *System, handle uint32) (bool, *KernelError) {
	for i, f := range c.filters {
		if f.handle == handle {
			c.filters = append(c.filters[:i:i], c.filters[i+1:]...)
			s.releaseBase(&f.filterBase)
			break
		}
	}
	return len(c.filters) == 0, nil
}

func (c *basic) destroy(s *System) {
	for _, f := range c.filters {
		s.releaseBase(&f.filterBase)
	}
	c.filters = nil
}

func (c *basic) counters() []FilterCounters {
	var l []FilterCounters
	for _, f := range c.filters {
		n := f.counted()
		n.Seen, n.Hit, n.HasSeen, n.HasHit = f.seen, f.hit, true, true
		l = append(l, n)
	}
	return l
}

func (c *basic) show(s *System, o *filterPrinter, handle uint32) {
	for _, f := range c.filters {
		if handle != 0 && f.handle != handle {
			continue
		}
		o.filter(c.instance, func() {
			o.put("handle", "handle 0x%s ", fmt.Sprintf("%x", f.handle))
			if f.hasClass {
				o.put("flowid", "flowid %s ", classText(f.classID))
			}
			f.tree.show(&o.printer)
			f.showTail(s, &o.printer)
		})
	}
}

// cgroup runs its actions on packets that its ematches match; the class comes
// from the sender's control group.
type cgroup struct {
	instance *Instance
	filter   *basicFilter
}

var kindCgroup = &classifierKind{name: "cgroup", parse: parseBasic, make: func(i *Instance) classifier { return &cgroup{instance: i} }}

// classify needs the class of the sender's control group.
//
// Ref: cls_cgroup.c, cls_cgroup_classify
func (c *cgroup) classify(s *System, p *Packet) Code {
	f := c.filter
	if f == nil || p.CGroupClass == 0 || !f.tree.match(s, p) {
		return Unspec
	}
	s.path.classID = p.CGroupClass
	return s.runActions(p, &f.filterBase)
}

func (c *cgroup) find(uint32) bool { return false }

// change makes the only filter, or puts another in its place.
//
// Ref: cls_cgroup.c, cls_cgroup_change
func (c *cgroup) change(s *System, r *filterRequest) *KernelError {
	o := r.options.(*ematchOptions)
	if c.filter == nil && r.handle == 0 {
		return errno(syscall.EINVAL)
	}
	if c.filter != nil && r.handle != c.filter.handle {
		return errno(syscall.ENOENT)
	}
	if err := o.tree.check(s); err != nil {
		return err
	}
	base, err := s.base(r)
	if err != nil {
		return err
	}
	if c.filter != nil {
		s.releaseBase(&c.filter.filterBase)
	}
	c.filter = &basicFilter{filterBase: base, tree: o.tree}
	c.filter.handle = r.handle
	return nil
}

func (c *cgroup) remove(*System, uint32) (bool, *KernelError) {
	return false, errno(syscall.EOPNOTSUPP)
}

func (c *cgroup) destroy(s *System) {
	if c.filter != nil {
		s.releaseBase(&c.filter.filterBase)
	}
	c.filter = nil
}

func (c *cgroup) counters() []FilterCounters {
	if c.filter == nil {
		return nil
	}
	return []FilterCounters{c.filter.counted()}
}

func (c *cgroup) show(s *System, o *filterPrinter, _ uint32) {
	if c.filter == nil {
		return
	}
	o.filter(c.instance, func() {
		o.put("handle", "handle 0x%x ", c.filter.handle)
		c.filter.tree.show(&o.printer)
		c.filter.showTail(s, &o.printer)
	})
}

// showTail writes a policer or actions behind the ematches.
func (f *basicFilter) showTail(s *System, o *printer) {
	if f.police {
		o.nl()
		f.actions[0].params.show(o, f.actions[0])
		return
	}
	f.showActions(s, o)
}
