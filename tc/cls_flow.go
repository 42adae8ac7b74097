package tc

import (
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"

	"verdict/offload"
)

// flow computes a class from fields of the packet.
type flow struct {
	instance *Instance
	filters  []*flowFilter
}

type flowFilter struct {
	filterBase
	o *flowOptions
}

// flowOptions are the words of flow.
type flowOptions struct {
	keys                  []string
	hash                  bool
	mask, xor, addend     uint32
	rshift, divisor, base uint32
	tree                  *ematchTree
	hasKeys, perturb      bool
}

var flowKeys = []string{
	"src", "dst", "proto", "proto-src", "proto-dst", "iif", "priority", "mark", "nfct", "nfct-src", "nfct-dst",
	"nfct-proto-src", "nfct-proto-dst", "rt-classid", "sk-uid", "sk-gid", "vlan-tag", "rxhash",
}

var kindFlow = &classifierKind{name: "flow", parse: parseFlow, make: func(i *Instance) classifier { return &flow{instance: i} }}

func parseFlow(w *words, r *filterRequest, s *System) *ToolError {
	o := &flowOptions{mask: 0xffffffff}
	r.options = o
	for w.more() {
		if err := o.word(w, r, s); err != nil {
			return err
		}
	}
	return nil
}

func (o *flowOptions) word(w *words, r *filterRequest, s *System) *ToolError {
	number := func(to *uint32, name string) *ToolError {
		text, err := w.value()
		if err != nil {
			return err
		}
		n, ok := number32(text, 0)
		if !ok {
			return tool("Illegal %q", name)
		}
		*to = n
		return nil
	}
	var n uint32
	switch {
	case w.matches("map"):
		w.skip()
	case w.matches("hash"):
		o.hash = true
		w.skip()
	case w.matches("keys"):
		text, err := w.value()
		if err != nil {
			return err
		}
		return o.parseKeys(text)
	case w.matches("and"):
		if err := number(&n, "mask"); err != nil {
			return err
		}
		o.mask, o.xor = o.mask&n, o.xor&n
	case w.is("or"):
		if err := number(&n, "mask"); err != nil {
			return err
		}
		o.mask, o.xor = o.mask&^n, o.xor&^n|n
	case w.matches("xor"):
		if err := number(&n, "xor"); err != nil {
			return err
		}
		o.xor ^= n
	case w.matches("rshift"):
		return number(&o.rshift, "rshift")
	case w.matches("addend"):
		return number(&o.addend, "addend")
	case w.matches("divisor"):
		return number(&o.divisor, "divisor")
	case w.matches("baseclass"):
		text, err := w.value()
		if err != nil {
			return err
		}
		id, ok := classID(text)
		if !ok || id&0xffff == 0 {
			return tool(`Illegal "baseclass"`)
		}
		o.base = id
	case w.matches("perturb"):
		o.perturb = true
		return number(&n, "perturb")
	case w.matches("police"):
		return r.parsePoliceWord(w)
	case w.matches("action"):
		return r.parseFilterActions(w, s)
	case w.matches("match"):
		w.skip()
		t, err := parseEmatches(w)
		o.tree = t
		return err
	default:
		return tool("What is %q?\nUsage: ... flow ...", w.peek())
	}
	return nil
}

// parseKeys reads a list joined by commas.
func (o *flowOptions) parseKeys(text string) *ToolError {
	for _, k := range strings.Split(text, ",") {
		known := false
		for _, f := range flowKeys {
			known = known || f == k
		}
		if !known {
			return tool("flow key %q is unknown", k)
		}
		o.keys = append(o.keys, k)
	}
	o.hasKeys = true
	return nil
}

// value reads one key. Keys of sockets and connections are zero where the
// packet has none.
//
// Ref: cls_flow.c, flow_key_get
func (o *flowOptions) value(p *Packet, key string) uint32 {
	k := p.dissected()
	switch key {
	case "src":
		return folded(k, offload.FieldSrc)
	case "dst":
		return folded(k, offload.FieldDst)
	case "proto":
		return uint32(k.Get(offload.FieldIPProto)[0])
	case "proto-src":
		return uint32(binary.BigEndian.Uint16(k.Get(offload.FieldSrcPort)))
	case "proto-dst":
		return uint32(binary.BigEndian.Uint16(k.Get(offload.FieldDstPort)))
	case "iif":
		return p.IIF
	case "priority":
		return p.Priority
	case "mark":
		return p.Mark
	case "rt-classid":
		return p.RtClassID
	case "sk-uid":
		return p.SKUID
	case "sk-gid":
		return p.SKGID
	case "vlan-tag":
		if p.VLAN.Present {
			return uint32(p.VLAN.TCI & 0xfff)
		}
		if isVLAN(p.Protocol) && p.has(p.net, 2) {
			return uint32(binary.BigEndian.Uint16(p.buf[p.net:]) & 0xfff)
		}
	case "rxhash":
		return p.Hash
	case "nfct-src", "nfct-dst", "nfct-proto-src", "nfct-proto-dst":
		return connValue(p, key)
	}
	return 0
}

func connValue(p *Packet, key string) uint32 {
	c := p.CT.Conn
	if c == nil {
		return 0
	}
	t := &c.Tuples[p.CT.Info.Direction()]
	switch key {
	case "nfct-src":
		return binary.BigEndian.Uint32(t.Src[:])
	case "nfct-dst":
		return binary.BigEndian.Uint32(t.Dst[:])
	case "nfct-proto-src":
		return uint32(t.SrcPort)
	}
	return uint32(t.DstPort)
}

// classify computes the class in map mode. Hashing needs the kernel's hash and
// its random seed: which class it gives cannot be known.
//
// Ref: cls_flow.c, flow_classify
func (c *flow) classify(s *System, p *Packet) Code {
	for _, f := range c.filters {
		if !f.o.tree.match(s, p) {
			continue
		}
		id := uint32(0)
		if f.o.hash {
			s.path.unknown = "a flow filter hashes with the kernel's seed: the class is not known"
		}
		if !f.o.hash && len(f.o.keys) > 0 {
			id = (f.o.value(p, f.o.keys[0])&f.o.mask ^ f.o.xor) >> f.o.rshift
			id += f.o.addend
		}
		if f.o.divisor != 0 {
			id %= f.o.divisor
		}
		s.path.classID = f.base() + id
		if r := s.runActions(p, &f.filterBase); r >= 0 {
			return r
		}
	}
	return Unspec
}

// base is the class that results count from.
func (f *flowFilter) base() uint32 {
	if f.o.base != 0 {
		return f.o.base
	}
	for _, b := range f.instance.chain.block.bindings {
		return b.qdisc.Handle&0xffff0000 | 1
	}
	return 1
}

func (c *flow) lookup(handle uint32) int {
	for i, f := range c.filters {
		if f.handle == handle {
			return i
		}
	}
	return -1
}

func (c *flow) find(handle uint32) bool { return c.lookup(handle) >= 0 }

// change adds or changes a filter.
//
// Ref: cls_flow.c, flow_change
func (c *flow) change(s *System, r *filterRequest) *KernelError {
	o := r.options.(*flowOptions)
	at := c.lookup(r.handle)
	if at < 0 && (r.handle == 0 || !o.hasKeys) {
		return errno(syscall.EINVAL)
	}
	if !o.hash && len(o.keys) > 1 {
		return errno(syscall.EOPNOTSUPP)
	}
	if err := o.tree.check(s); err != nil {
		return err
	}
	base, err := s.base(r)
	if err != nil {
		return err
	}
	f := &flowFilter{filterBase: base, o: o}
	f.handle = r.handle
	if at < 0 {
		c.filters = append(c.filters, f)
		return nil
	}
	if !o.hasKeys {
		o.keys = c.filters[at].o.keys
	}
	s.releaseBase(&c.filters[at].filterBase)
	c.filters[at] = f
	return nil
}

func (c *flow) remove(s *System, handle uint32) (bool, *KernelError) {
	at := c.lookup(handle)
	s.releaseBase(&c.filters[at].filterBase)
	c.filters = append(c.filters[:at:at], c.filters[at+1:]...)
	return len(c.filters) == 0, nil
}

func (c *flow) destroy(s *System) {
	for _, f := range c.filters {
		s.releaseBase(&f.filterBase)
	}
	c.filters = nil
}

func (c *flow) counters() []FilterCounters {
	var l []FilterCounters
	for _, f := range c.filters {
		l = append(l, f.counted())
	}
	return l
}

func (c *flow) show(s *System, o *filterPrinter, handle uint32) {
	for _, f := range c.filters {
		if handle == 0 || handle == f.handle {
			o.filter(c.instance, func() { f.show(s, &o.printer) })
		}
	}
}

func (f *flowFilter) show(s *System, o *printer) {
	mode := "map"
	if f.o.hash {
		mode = "hash"
	}
	o.put("handle", "handle 0x%x ", f.handle)
	o.put("mode", "%s ", mode)
	o.put("keys", "keys %s ", strings.Join(f.o.keys, ","))
	if f.o.mask != 0xffffffff || f.o.xor != 0 {
		mask, xor := f.o.mask, f.o.xor
		or := ^mask & xor
		and := mask | or
		if or != 0 {
			xor &^= or
		}
		if and != 0xffffffff {
			o.put("and", "and %s ", fmt.Sprintf("0x%08x", and))
		}
		if xor != 0 {
			o.put("xor", "xor %s ", fmt.Sprintf("0x%08x", xor))
		}
		if or != 0 {
			o.put("or", "or %s ", fmt.Sprintf("0x%08x", or))
		}
	}
	if f.o.rshift != 0 {
		o.put("rshift", "rshift %d ", f.o.rshift)
	}
	if f.o.addend != 0 {
		o.put("addend", "addend 0x%x ", f.o.addend)
	}
	if f.o.divisor != 0 {
		o.put("divisor", "divisor %d ", f.o.divisor)
	}
	o.put("baseclass", "baseclass %s ", classText(f.base()))
	f.o.tree.show(o)
	if len(f.actions) > 0 {
		f.showActions(s, o)
	}
}

// folded is an address as 32 bits: an IPv6 address is folded.
func folded(k *offload.Key, f offload.Field) uint32 {
	b := k.Get(f)
	n := binary.BigEndian.Uint32(b)
	if k.Get(offload.FieldAddrType)[0] == offload.AddrIPv6 {
		for i := 4; i < 16; i += 4 {
			n ^= binary.BigEndian.Uint32(b[i:])
		}
	}
	return n
}
