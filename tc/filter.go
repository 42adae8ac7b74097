package tc

import (
	"syscall"

	"verdict/offload"
)

// Flags of filters.
//
// Ref: include/uapi/linux/pkt_cls.h, TCA_CLS_FLAGS_SKIP_HW
const (
	flagSkipHW  = 1
	flagSkipSW  = 2
	flagInHW    = 4
	flagNotInHW = 8
	flagVerbose = 16
)

// classifier is the filters of an instance.
type classifier interface {
	// classify asks the filters; Unspec is no decision.
	classify(s *System, p *Packet) Code
	// find looks a handle up.
	find(handle uint32) bool
	// change adds a filter, or changes the one with the handle.
	change(s *System, r *filterRequest) *KernelError
	// remove deletes a filter; last says that none is left.
	remove(s *System, handle uint32) (last bool, err *KernelError)
	// destroy releases everything.
	destroy(s *System)
	// show writes all filters, or the one with a handle.
	show(s *System, o *filterPrinter, handle uint32)
	// counters lists what filters and their actions counted.
	counters() []FilterCounters
}

// classifierKind knows a kind's words.
type classifierKind struct {
	name string
	// parse reads the words behind the kind.
	parse func(w *words, r *filterRequest, s *System) *ToolError
	make  func(i *Instance) classifier
	// offloads says that the kind tells whether it needs software.
	offloads bool
}

var classifierKinds map[string]*classifierKind

func init() {
	classifierKinds = map[string]*classifierKind{}
	for _, k := range []*classifierKind{
		kindFlower, kindMatchall, kindU32, kindFW, kindBasic, kindCgroup, kindFlow, kindRoute, kindBPF,
	} {
		classifierKinds[k.name] = k
	}
}

// filterRequest is a command on filters.
type filterRequest struct {
	block    *Block
	kind     string
	chain    uint32
	hasChain bool
	priority uint32
	protocol uint16
	handle   uint32
	create   bool
	exclude  bool

	classID  uint32
	hasClass bool
	flags    uint32
	actions  []*actionRequest
	police   *actionRequest
	indev    string
	options  any
	flower   *flowerOptions // memory for those of flower, if given

	instance *Instance
}

// filterBase is what all filters have.
type filterBase struct {
	handle   uint32
	flags    uint32
	classID  uint32
	hasClass bool
	actions  []*Action
	police   bool
	cookie   uint64
	inHW     int
	class    *class
	instance *Instance
}

// newFilter adds or changes a filter.
//
// Ref: cls_api.c, tc_new_tfilter
func (s *System) newFilter(r *filterRequest) *KernelError {
	priority, allocate := r.priority, false
	if priority == 0 {
		if !r.create {
			return refuse(syscall.ENOENT, "Invalid filter command with priority of zero")
		}
		priority, allocate = 0x8000, true
	}
	if r.chain > maxChain {
		return refuse(syscall.EINVAL, "Specified chain index exceeds upper limit")
	}
	c := r.block.chain(r.chain, true)
	defer c.release()
	at, i, mismatch := c.find(r.protocol, priority, allocate)
	if mismatch {
		e := syscall.EINVAL
		if allocate {
			e = syscall.ENOSPC
		}
		return refuse(e, "Filter with specified priority/protocol not found")
	}
	made := i == nil
	if made {
		var err *KernelError
		if i, err = s.newInstance(c, r, at, priority, allocate); err != nil {
			return err
		}
	}
	err := s.changeFilter(c, i, r)
	if err != nil {
		if made {
			s.destroyInstance(i)
		}
		return err
	}
	s.countChange(i)
	return nil
}

// newInstance makes the instance that a new filter needs.
func (s *System) newInstance(c *Chain, r *filterRequest, at int, priority uint32, allocate bool) (*Instance, *KernelError) {
	if r.kind == "" || r.protocol == 0 {
		return nil, refuse(syscall.EINVAL, "Filter kind and protocol must be specified")
	}
	if !r.create {
		return nil, refuse(syscall.ENOENT, "Need both RTM_NEWTFILTER and NLM_F_CREATE to create a new filter")
	}
	if allocate {
		priority = autoPriority(c, at)
		at, _, _ = c.find(0, priority, false)
	}
	kind := classifierKinds[r.kind]
	if kind == nil {
		return nil, refuse(syscall.ENOENT, "TC classifier not found")
	}
	i := &Instance{Priority: priority, Protocol: r.protocol, Kind: r.kind, chain: c, useSW: !kind.offloads}
	i.classifier = kind.make(i)
	c.insert(at, i)
	return i, nil
}

// autoPriority goes one before the first instance of the upper half.
//
// Ref: cls_api.c, tcf_auto_prio
func autoPriority(c *Chain, at int) uint32 {
	if at < len(c.instances) {
		return c.instances[at].Priority - 1
	}
	return 0xc000
}

func (s *System) changeFilter(c *Chain, i *Instance, r *filterRequest) *KernelError {
	if r.kind != "" && r.kind != i.Kind {
		return refuse(syscall.EINVAL, "Specified filter kind does not match existing one")
	}
	exists := i.classifier.find(r.handle)
	switch {
	case !exists && !r.create:
		return refuse(syscall.ENOENT, "Need both RTM_NEWTFILTER and NLM_F_CREATE to create a new filter")
	case exists && r.exclude:
		return refuse(syscall.EEXIST, "Filter already exists")
	case c.template != nil && c.template.kind != i.Kind:
		return refuse(syscall.EINVAL, "Chain template is set to a different filter kind")
	}
	r.instance = i
	r.block = c.block
	c.block.requestSkipSW = r.flags&flagSkipSW != 0
	err := i.classifier.change(s, r)
	c.block.requestSkipSW = false
	return err
}

// deleteFilter deletes a filter, a priority, or all of a chain.
//
// Ref: cls_api.c, tc_del_tfilter
func (s *System) deleteFilter(r *filterRequest) *KernelError {
	if r.priority == 0 && (r.protocol != 0 || r.handle != 0 || r.kind != "") {
		return refuse(syscall.ENOENT, "Cannot flush filters with protocol, handle or kind set")
	}
	if r.chain > maxChain {
		return refuse(syscall.EINVAL, "Specified chain index exceeds upper limit")
	}
	c := r.block.byIndex[r.chain]
	if c == nil {
		if r.priority == 0 {
			return nil
		}
		return refuse(syscall.ENOENT, "Cannot find specified filter chain")
	}
	if r.priority == 0 {
		s.flushChain(c)
		return nil
	}
	i, err := r.find(c)
	if err != nil {
		return err
	}
	if r.handle == 0 {
		s.destroyInstance(i)
		return nil
	}
	if !i.classifier.find(r.handle) {
		return refuse(syscall.ENOENT, "Specified filter handle not found")
	}
	last, err := i.classifier.remove(s, r.handle)
	if err != nil {
		return err
	}
	if last {
		s.destroyInstance(i)
	} else {
		s.recountV1(c.block)
	}
	return nil
}

// find is the instance of a command on existing filters.
func (r *filterRequest) find(c *Chain) (*Instance, *KernelError) {
	_, i, wrong := c.find(r.protocol, r.priority, false)
	switch {
	case i == nil:
		e := syscall.ENOENT
		if wrong {
			e = syscall.EINVAL
		}
		return nil, refuse(e, "Filter with specified priority/protocol not found")
	case r.kind != "" && r.kind != i.Kind:
		return nil, refuse(syscall.EINVAL, "Specified filter kind does not match existing one")
	}
	return i, nil
}

// getFilter finds the instance of one filter.
//
// Ref: cls_api.c, tc_get_tfilter
func (s *System) getFilter(r *filterRequest) (*Instance, *KernelError) {
	if r.priority == 0 {
		return nil, refuse(syscall.ENOENT, "Invalid filter command with priority of zero")
	}
	c := r.block.byIndex[r.chain]
	if c == nil {
		return nil, refuse(syscall.EINVAL, "Cannot find specified filter chain")
	}
	i, err := r.find(c)
	if err != nil {
		return nil, err
	}
	if !i.classifier.find(r.handle) {
		return nil, refuse(syscall.ENOENT, "Specified filter handle not found")
	}
	return i, nil
}

// validFlags makes the kernel's check of a filter's flags.
func validFlags(flags uint32) bool {
	return flags&^(flagSkipHW|flagSkipSW|flagVerbose) == 0 && flags&(flagSkipHW|flagSkipSW) != flagSkipHW|flagSkipSW
}

// base makes the common part of a filter: flags, class and actions.
//
// Ref: cls_api.c, tcf_exts_validate_ex
func (s *System) base(r *filterRequest) (filterBase, *KernelError) {
	f := filterBase{flags: r.flags, classID: r.classID, hasClass: r.hasClass, cookie: s.nextCookie(), instance: r.instance}
	list := r.actions
	if r.police != nil {
		list, f.police = []*actionRequest{r.police}, true
	}
	if len(list) > maxActions {
		return filterBase{}, errno(syscall.EINVAL)
	}
	var err *KernelError
	if f.actions, err = s.initActions(list, r.block, r.flags); err != nil {
		return filterBase{}, err
	}
	if f.hasClass {
		f.bindClass()
	}
	return f, nil
}

func (f *filterBase) bindClass() {
	if f.class = f.instance.chain.block.class(f.classID); f.class != nil {
		f.class.filters++
	}
}

// release gives up what the filter holds.
func (s *System) releaseBase(f *filterBase) {
	if f.class != nil {
		f.class.filters--
		f.class = nil
	}
	s.releaseAll(f.actions)
	f.actions = nil
	delete(s.hardware, f.cookie)
}

// releaseLater gives up what a refused filter holds, but keeps the chains that
// its actions refer to until somebody lists something: the kernel frees such a
// filter from a work queue, and its chains keep their places meanwhile.
//
// Ref: cls_flower.c, __fl_destroy_filter
func (s *System) releaseLater(f *filterBase) {
	for _, a := range f.actions {
		for _, c := range a.chains {
			c.refAction()
			s.later = append(s.later, c)
		}
	}
	s.releaseBase(f)
}

// settle does what waits for the work queue.
func (s *System) settle() {
	for _, c := range s.later {
		c.unrefAction()
	}
	s.later = nil
}

// indevOf finds the device that a filter is bound to, by name.
//
// Ref: pkt_cls.h, tcf_change_indev
func (s *System) indevOf(name string) (uint32, *KernelError) {
	if name == "" {
		return 0, nil
	}
	d := s.devices[name]
	if d == nil {
		return 0, refuse(syscall.ENODEV, "Device not found")
	}
	return d.Index, nil
}

// FilterCounters is what one filter and its actions counted.
type FilterCounters struct {
	Kind                 string
	Chain, Priority      uint32
	Protocol             uint16
	Handle               uint32
	Seen, Hit            uint64
	HasSeen, HasHit      bool
	Actions              []Counters
	InHardware           int
	SkipSW, SkipHW, InHW bool
}

func (f *filterBase) counted() FilterCounters {
	i := f.instance
	c := FilterCounters{
		Kind: i.Kind, Chain: i.chain.Index, Priority: i.Priority, Protocol: i.Protocol, Handle: f.handle,
		InHardware: f.inHW, SkipSW: f.flags&flagSkipSW != 0, SkipHW: f.flags&flagSkipHW != 0, InHW: f.flags&flagInHW != 0,
	}
	for _, a := range f.actions {
		c.Actions = append(c.Actions, a.Counters)
	}
	return c
}

// Filters lists the counters of the filters at a device's hook, in the order
// of a listing.
func (s *System) Filters(device string, egress bool) []FilterCounters {
	d := s.devices[device]
	if d == nil {
		return nil
	}
	q := d.at(handleIngress)
	switch {
	case q == nil:
		return nil
	case egress && q.egress != nil:
		return q.egress.filters()
	case egress:
		return nil
	}
	return q.ingress.filters()
}

// BlockFilters is Filters of a shared block.
func (s *System) BlockFilters(index uint32) []FilterCounters {
	if b := s.blocks[index]; b != nil {
		return b.filters()
	}
	return nil
}

func (b *Block) filters() []FilterCounters {
	var l []FilterCounters
	for _, c := range b.chains {
		for _, i := range c.instances {
			l = append(l, i.classifier.counters()...)
		}
	}
	return l
}

// rule makes the flow rule of a filter, without its match.
func (f *filterBase) rule(kind offload.Kind) offload.Rule {
	i := f.instance
	return offload.Rule{
		Cookie: f.cookie, Kind: kind, Chain: i.chain.Index, Protocol: i.Protocol, Priority: i.Priority,
		SkipSW: f.flags&flagSkipSW != 0,
	}
}
