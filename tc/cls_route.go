package tc

import (
	"syscall"
)

// route matches on the realms of the packet's route.
type route struct {
	instance *Instance
	filters  []*routeFilter
}

type routeFilter struct {
	filterBase
	o *routeOptions
}

type routeOptions struct {
	from, to       uint32
	iif            string
	hasFrom, hasTo bool
}

var kindRoute = &classifierKind{name: "route", parse: parseRoute, make: func(i *Instance) classifier { return &route{instance: i} }}

func parseRoute(w *words, r *filterRequest, s *System) *ToolError {
	o := &routeOptions{}
	r.options = o
	realm := func(name string) (uint32, *ToolError) {
		text, err := w.value()
		if err != nil {
			return 0, err
		}
		n, ok := number32(text, 0)
		if !ok || n > 255 {
			return 0, tool("Illegal %q", name)
		}
		return n, nil
	}
	for w.more() {
		var err *ToolError
		switch {
		case w.matches("to"):
			o.to, err = realm("to")
			o.hasTo = true
		case w.matches("from"):
			o.from, err = realm("from")
			o.hasFrom = true
		case w.matches("fromif"):
			if o.iif, err = w.value(); err == nil {
				_, err = s.device(o.iif)
			}
		case w.matches("classid", "flowid"):
			err = r.parseClass(w)
		case w.matches("police"):
			err = r.parsePoliceWord(w)
		case w.is("order"):
			_, err = w.value()
		case w.matches("action"):
			err = r.parseFilterActions(w, s)
		default:
			return tool("What is %q?\nUsage: ... route [ from REALM | fromif TAG ] [ to REALM ]", w.peek())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// routeHandle is the handle that the kernel computes.
//
// Ref: cls_route.c, route4_set_parms
func (o *routeOptions) handle() uint32 {
	h := uint32(0x8000)
	if o.hasTo {
		h = o.to
	}
	if o.hasFrom {
		return h | o.from<<16
	}
	return h | 0xffff<<16
}

// classify compares the realms of the route that the packet took; arriving
// packets have none yet.
//
// Ref: cls_route.c, route4_classify
func (c *route) classify(s *System, p *Packet) Code {
	if p.RtClassID == 0 {
		return Unspec
	}
	to, from := p.RtClassID&0xff, p.RtClassID>>16&0xff
	for _, f := range c.filters {
		if f.o.hasTo && f.o.to != to || f.o.hasFrom && f.o.from != from || f.o.iif != "" && s.nameOf(p.IIF) != f.o.iif {
			continue
		}
		s.path.classID = f.classID
		if r := s.runActions(p, &f.filterBase); r >= 0 {
			return r
		}
	}
	return Unspec
}

func (c *route) lookup(handle uint32) int {
	for i, f := range c.filters {
		if f.handle == handle {
			return i
		}
	}
	return -1
}

func (c *route) find(handle uint32) bool { return c.lookup(handle) >= 0 }

// change adds or changes a filter, whose handle comes from the realms.
//
// Ref: cls_route.c, route4_change
func (c *route) change(s *System, r *filterRequest) *KernelError {
	o := r.options.(*routeOptions)
	if o.hasFrom && o.iif != "" {
		return refuse(syscall.EINVAL, "'from' and 'fromif' are mutually exclusive")
	}
	handle := o.handle()
	at := c.lookup(handle)
	if at >= 0 && r.handle != handle {
		return errno(syscall.EEXIST)
	}
	base, err := s.base(r)
	if err != nil {
		return err
	}
	f := &routeFilter{filterBase: base, o: o}
	f.handle = handle
	if at >= 0 {
		s.releaseBase(&c.filters[at].filterBase)
		c.filters[at] = f
		return nil
	}
	c.filters = append(c.filters, f)
	return nil
}

func (c *route) remove(s *System, handle uint32) (bool, *KernelError) {
	at := c.lookup(handle)
	s.releaseBase(&c.filters[at].filterBase)
	c.filters = append(c.filters[:at:at], c.filters[at+1:]...)
	return len(c.filters) == 0, nil
}

func (c *route) destroy(s *System) {
	for _, f := range c.filters {
		s.releaseBase(&f.filterBase)
	}
	c.filters = nil
}

func (c *route) counters() []FilterCounters {
	var l []FilterCounters
	for _, f := range c.filters {
		l = append(l, f.counted())
	}
	return l
}

func (c *route) show(s *System, o *filterPrinter, handle uint32) {
	for _, f := range c.filters {
		if handle != 0 && handle != f.handle {
			continue
		}
		o.filter(c.instance, func() {
			o.put("fh", "fh 0x%08x ", f.handle)
			if f.hasClass {
				o.put("flowid", "flowid %s ", classText(f.classID))
			}
			if f.o.hasTo {
				o.put("to", "to %d ", f.o.to)
			}
			if f.o.iif != "" {
				o.put("fromif", "fromif %s", f.o.iif)
			}
			if f.o.hasFrom {
				o.put("from", "from %d ", f.o.from)
			}
			if len(f.actions) > 0 {
				f.showActions(s, &o.printer)
			}
		})
	}
}
