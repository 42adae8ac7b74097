package tc

import (
	"syscall"

	"verdict/offload"
)

// flower matches on fields that a dissector finds.
type flower struct {
	instance *Instance
	masks    []*flowerMask // in the order of their creation
	byMask   map[offload.Key]*flowerMask
	byHandle handleTable[flowerFilter]
	free     uint32 // no lower handle is free
	order    handleOrder
	filter   *prefilter // over the masks; nil if it is not worth it
	stale    bool       // filter has to be built again
}

// flowerFilter is one filter.
type flowerFilter struct {
	filterBase
	mask *flowerMask
	raw  []uint64     // the key as given, the words of the mask's span
	full *offload.Key // all of it, where it has bits outside the span
	hash uint64
	next *flowerFilter
	hwTC int16
}

var kindFlower = &classifierKind{name: "flower", parse: parseFlower, offloads: true, make: func(i *Instance) classifier {
	return &flower{instance: i, free: 1}
}}

// classify tries the masks in the order of their creation; the first with a
// filter for the packet decides.
//
// Ref: cls_flower.c, fl_classify
func (c *flower) classify(s *System, p *Packet) Code {
	k := p.dissected()
	if c.stale {
		c.build(s)
	}
	if c.filter == nil {
		for _, m := range c.masks {
			if s.config.PerMask {
				p.keysGood = false
				k = p.dissected()
			}
			if r, done := c.try(s, p, k, m); done {
				return r
			}
		}
		return Unspec
	}
	var set candidateSet
	c.filter.candidates(k, &set)
	for i := set.next(0, len(c.masks)); i < len(c.masks); i = set.next(i+1, len(c.masks)) {
		if r, done := c.try(s, p, k, c.masks[i]); done {
			return r
		}
	}
	return Unspec
}

// try asks one mask.
func (c *flower) try(s *System, p *Packet, k *offload.Key, m *flowerMask) (Code, bool) {
	f := m.lookup(k, s.config.Linear)
	if f == nil || f.flags&flagSkipSW != 0 {
		return 0, false
	}
	s.path.classID = f.classID
	return s.runActions(p, &f.filterBase), true
}

// build makes the prefilter over the masks.
func (c *flower) build(s *System) {
	c.stale, c.filter = false, nil
	if s.config.Linear || s.config.PerMask {
		return
	}
	units := make([]unit, len(c.masks))
	for i, m := range c.masks {
		units[i] = unit{masks: []*flowerMask{m}}
	}
	c.filter = newPrefilter(units)
}

// changed voids what was built from the filters.
func (c *flower) changed() {
	c.stale = true
	c.instance.chain.stale = true
}

func (c *flower) find(handle uint32) bool { return handle != 0 && c.byHandle.get(handle) != nil }

// change adds a filter or puts one in the place of another.
//
// Ref: cls_flower.c, fl_change
func (c *flower) change(s *System, r *filterRequest) *KernelError {
	if !validFlags(r.flags) {
		return errno(syscall.EINVAL)
	}
	o := r.options.(*flowerOptions)
	old := c.byHandle.get(r.handle)
	base, err := s.base(r)
	if err != nil {
		return err
	}
	f := &flowerFilter{filterBase: base, hwTC: o.hwTC}
	if f.hwTC >= 0 {
		f.classID, f.hasClass = 0xffff0000|uint32(f.hwTC)+0xffe0, true
	}
	if err := c.place(s, f, old, o); err != nil {
		s.releaseLater(&f.filterBase)
		return err
	}
	f.handle = r.handle
	if f.handle == 0 {
		f.handle = c.allocate()
	}
	if f.offered() {
		if err := s.offload(&f.filterBase, f.flowRule()); err != nil {
			c.unplace(f)
			s.releaseLater(&f.filterBase)
			return err
		}
	}
	c.instance.needsSoftware(f.flags)
	if old != nil {
		c.dispose(s, old)
	} else {
		c.order.add(f.handle)
	}
	c.byHandle.set(f.handle, f)
	return nil
}

// place finds the filter's mask and puts it into the mask's table.
func (c *flower) place(s *System, f, old *flowerFilter, o *flowerOptions) *KernelError {
	ready := o.ready
	if ready == nil {
		ready = new(flowerReady)
		if err := o.keys(s, &ready.key, &ready.mask); err != nil {
			return err
		}
		ready.compute()
	}
	mask := &ready.mask
	if t := c.instance.chain.template; t != nil && !t.fits(mask) {
		return refuse(syscall.EINVAL, "cls_flower: Mask does not fit the template")
	}
	m := c.maskOf(mask)
	if old != nil && m != old.mask {
		return errno(syscall.EINVAL)
	}
	if m == nil {
		m = newFlowerMask(mask, ready.first, ready.end)
	}
	c.changed()
	f.mask = m
	f.raw, f.hash = ready.raw, ready.hash
	if ready.wide {
		key := ready.key
		f.full = &key
	}
	if dup := m.exact(f.raw, f.hash); dup != nil && dup != old {
		return errno(syscall.EEXIST)
	}
	if m.count == 0 {
		c.masks = append(c.masks, m)
		if c.byMask != nil {
			c.byMask[*mask] = m
		}
	}
	if old != nil {
		m.swap(old, f)
	} else {
		m.insert(f)
	}
	return nil
}

// unplace takes a filter out of its table, and a mask without filters out of
// the list.
func (c *flower) unplace(f *flowerFilter) {
	c.changed()
	m := f.mask
	m.remove(f)
	if m.count > 0 {
		return
	}
	delete(c.byMask, m.mask)
	for i, o := range c.masks {
		if o == m {
			c.masks = append(c.masks[:i:i], c.masks[i+1:]...)
			return
		}
	}
}

// fewMasks is up to how many masks a search goes through all of them.
const fewMasks = 8

// maskOf finds a mask. Few are compared, many are in a map.
func (c *flower) maskOf(mask *offload.Key) *flowerMask {
	if len(c.masks) <= fewMasks {
		for _, m := range c.masks {
			if m.mask == *mask {
				return m
			}
		}
		c.byMask = nil
		return nil
	}
	if c.byMask == nil {
		c.byMask = map[offload.Key]*flowerMask{}
		for _, m := range c.masks {
			c.byMask[m.mask] = m
		}
	}
	return c.byMask[*mask]
}

func (c *flower) allocate() uint32 {
	for c.byHandle.get(c.free) != nil {
		c.free++
	}
	return c.free
}

// dispose withdraws a filter from hardware and releases what it holds.
func (c *flower) dispose(s *System, f *flowerFilter) {
	if f.flags&flagSkipHW == 0 {
		s.unload(&f.filterBase)
	}
	s.releaseBase(&f.filterBase)
}

func (c *flower) remove(s *System, handle uint32) (bool, *KernelError) {
	f := c.byHandle.get(handle)
	c.unplace(f)
	c.byHandle.drop(handle)
	c.order.drop(handle)
	c.free = min(c.free, handle)
	c.dispose(s, f)
	return c.byHandle.count == 0, nil
}

func (c *flower) destroy(s *System) {
	for _, h := range c.order.sorted() {
		c.dispose(s, c.byHandle.get(h))
	}
	c.byHandle, c.masks = handleTable[flowerFilter]{}, nil
}

func (c *flower) counters() []FilterCounters {
	var l []FilterCounters
	for _, h := range c.order.sorted() {
		l = append(l, c.byHandle.get(h).counted())
	}
	return l
}

// flowRule makes the rule for hardware, without its actions.
func (f *flowerFilter) flowRule() offload.Rule {
	r := f.rule(offload.Flower)
	key := f.key()
	used := offload.UsedKeys(&f.mask.mask, key.Get(offload.FieldAddrType)[0], key.Get(offload.FieldEncAddrType)[0])
	r.Match = offload.Match{Used: used, Key: key, Mask: &f.mask.mask}
	return r
}

func (c *flower) reoffload(s *System, hw *offload.Device, add bool) *KernelError {
	for _, h := range c.order.sorted() {
		f := c.byHandle.get(h)
		if f.flags&flagSkipHW != 0 {
			continue
		}
		if err := s.reoffer(&f.filterBase, f.flowRule(), hw, add); err != nil {
			return err
		}
	}
	return nil
}
