package tc

import (
	"fmt"
	"strings"
	"syscall"
)

// emMeta compares metadata with a constant or with other metadata.
type emMeta struct {
	left, right metaValue
	operator    uint8
}

// metaValue is one side.
type metaValue struct {
	kind     *metaKind // nil for a constant
	shift    uint8
	mask     uint64
	hasMask  bool
	number   uint64
	text     string
	isString bool
}

// metaKind is a piece of metadata. Its reader reports false where the packet
// has none.
type metaKind struct {
	name   string
	isName bool
	read   func(p *Packet) (uint64, string, bool)
	shown  string
}

func metaNumber(f func(p *Packet) uint64) func(*Packet) (uint64, string, bool) {
	return func(p *Packet) (uint64, string, bool) { return f(p), "", true }
}

var metaKinds = []metaKind{
	{name: "random"}, {name: "loadavg_0"}, {name: "loadavg_1"}, {name: "loadavg_2"},
	{name: "dev", isName: true, read: func(p *Packet) (uint64, string, bool) { return 0, p.Device.Name, p.Device != nil }},
	{name: "priority", read: metaNumber(func(p *Packet) uint64 { return uint64(p.Priority) })},
	// the protocol is compared as it lies in memory, in network order
	{name: "protocol", read: metaNumber(func(p *Packet) uint64 { return uint64(p.outer()>>8 | p.outer()<<8) })},
	{name: "pkt_type", read: metaNumber(func(p *Packet) uint64 { return uint64(p.PktType) })},
	{name: "pkt_len", read: metaNumber(func(p *Packet) uint64 { return uint64(p.Len()) })},
	{name: "data_len", read: metaNumber(func(*Packet) uint64 { return 0 })},
	{name: "mac_len", read: metaNumber(func(p *Packet) uint64 { return uint64(p.macLen) })},
	{name: "fwmark", shown: "nf_mark", read: metaNumber(func(p *Packet) uint64 { return uint64(p.Mark) })},
	{name: "nf_mark", read: metaNumber(func(p *Packet) uint64 { return uint64(p.Mark) })},
	{name: "tc_index", read: metaNumber(func(p *Packet) uint64 { return uint64(p.TCIndex) })},
	{name: "rt_classid", read: metaNumber(func(p *Packet) uint64 { return uint64(p.RtClassID) })},
	{name: "rt_iif", read: metaNumber(func(p *Packet) uint64 { return uint64(p.IIF) })},
	{name: "vlan", read: func(p *Packet) (uint64, string, bool) {
		switch {
		case p.VLAN.Present:
			return uint64(p.VLAN.TCI), "", true
		case isVLAN(p.Protocol) && p.has(p.mac+ethLen, 2):
			at := p.mac + ethLen
			return uint64(p.buf[at])<<8 | uint64(p.buf[at+1]), "", true
		}
		return 0, "", false
	}},
	{name: "rxhash", read: metaNumber(func(p *Packet) uint64 { return uint64(p.Hash) })},
}

func parseMeta(args []ematchToken) (ematch, *ToolError) {
	e := &emMeta{}
	rest, ok := e.left.parse(args)
	if !ok || len(rest) == 0 {
		return nil, ematchError("meta: invalid arguments")
	}
	op, ok := operator(rest[0].text)
	if !ok {
		return nil, ematchError("meta: invalid operator %q", rest[0].text)
	}
	e.operator = op
	if rest, ok = e.right.parse(rest[1:]); !ok || len(rest) != 0 {
		return nil, ematchError("meta: invalid arguments")
	}
	return e, nil
}

// parse reads one side with its shift and mask.
func (v *metaValue) parse(args []ematchToken) ([]ematchToken, bool) {
	if len(args) == 0 {
		return nil, false
	}
	text := args[0].text
	switch n, isNumber := number(text, 0, 64); {
	case args[0].quoted:
		v.text, v.isString = text, true
	case isNumber:
		v.number = n
	default:
		for i := range metaKinds {
			if metaKinds[i].name == text {
				v.kind = &metaKinds[i]
				v.isString = v.kind.isName
			}
		}
		if v.kind == nil {
			return nil, false
		}
	}
	args = args[1:]
	for len(args) >= 2 {
		n, ok := number(args[1].text, 0, 64)
		switch args[0].text {
		case "shift":
			v.shift = uint8(n)
		case "mask":
			v.mask, v.hasMask = n, true
		default:
			return args, true
		}
		if !ok {
			return nil, false
		}
		args = args[2:]
	}
	return args, true
}

// check refuses sides of different types and metadata that is not modelled.
// The kernel itself refuses names of devices as variables.
//
// Ref: em_meta.c, em_meta_change
func (e *emMeta) check(*System) *KernelError {
	for _, v := range []*metaValue{&e.left, &e.right} {
		if v.kind != nil && v.kind.isName {
			return errno(syscall.EINVAL)
		}
		if v.kind != nil && v.kind.read == nil {
			return refuse(syscall.EOPNOTSUPP, "ematch meta %s is not supported", v.kind.name)
		}
	}
	if e.left.isString != e.right.isString {
		return errno(syscall.EINVAL)
	}
	return nil
}

// match compares numbers, or names.
//
// Ref: em_meta.c, em_meta_match
func (e *emMeta) match(_ *System, p *Packet) bool {
	a, as, ok := e.left.get(p)
	if !ok {
		return false
	}
	b, bs, ok := e.right.get(p)
	if !ok {
		return false
	}
	if e.left.isString {
		return compare(int64(strings.Compare(as, bs)), 0, e.operator)
	}
	switch e.operator {
	case opEqual:
		return a == b
	case opLess:
		return a < b
	}
	return a > b
}

func (v *metaValue) get(p *Packet) (uint64, string, bool) {
	if v.kind == nil {
		return v.number, v.text, true
	}
	n, s, ok := v.kind.read(p)
	if !v.isString {
		n >>= v.shift
		if v.mask != 0 {
			n &= v.mask
		}
	}
	return n, s, ok
}

func (e *emMeta) text() string {
	return "meta(" + e.left.show() + " " + operatorNames[e.operator] + " " + e.right.show() + ")"
}

func (v *metaValue) show() string {
	var s string
	switch {
	case v.kind == nil && v.isString:
		s = v.text
	case v.kind == nil:
		s = fmt.Sprint(v.number)
	case v.kind.shown != "":
		s = v.kind.shown
	default:
		s = v.kind.name
	}
	if v.shift != 0 {
		s += fmt.Sprintf(" shift %d", v.shift)
	}
	if v.hasMask && v.mask != 0 {
		s += fmt.Sprintf(" mask 0x%08x", v.mask)
	}
	return s
}
