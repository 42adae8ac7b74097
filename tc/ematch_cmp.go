package tc

import (
	"encoding/binary"
	"fmt"
)

// emCmp compares a number of the packet with a constant.
type emCmp struct {
	bytes    int
	off      uint16
	layer    uint8
	mask     uint32
	trans    bool
	operator uint8
	value    uint32
	hasMask  bool
}

const (
	opEqual = iota
	opGreater
	opLess
)

var operatorNames = []string{"eq", "gt", "lt"}

func operator(s string) (uint8, bool) {
	switch s {
	case "eq", "=":
		return opEqual, true
	case "gt", ">":
		return opGreater, true
	case "lt", "<":
		return opLess, true
	}
	return 0, false
}

// layer reads where an offset counts from.
func layer(s string) (uint8, bool) {
	switch s {
	case "link", "eth", "ethernet", "0":
		return 0, true
	case "network", "1":
		return 1, true
	case "transport", "tcp", "2":
		return 2, true
	}
	return 0, false
}

func parseCmp(args []ematchToken) (ematch, *ToolError) {
	e := &emCmp{}
	bad := func() (ematch, *ToolError) { return nil, ematchError("cmp: invalid arguments") }
	if len(args) == 0 {
		return bad()
	}
	if e.bytes = map[string]int{"u8": 1, "u16": 2, "u32": 4}[args[0].text]; e.bytes == 0 {
		return bad()
	}
	hasOp := false
	for i := 1; i < len(args); i++ {
		word := args[i].text
		op, isOp := operator(word)
		if word == "trans" {
			e.trans = true
			continue
		}
		if i+1 >= len(args) {
			return bad()
		}
		i++
		value, ok := args[i].text, true
		switch {
		case word == "at":
			e.off, ok = number16(value, 0)
		case word == "layer":
			e.layer, ok = layer(value)
		case word == "mask":
			e.mask, ok = number32(value, 0)
			e.hasMask = true
		case isOp:
			e.operator, hasOp = op, true
			e.value, ok = number32(value, 0)
		default:
			return bad()
		}
		if !ok {
			return bad()
		}
	}
	if !hasOp {
		return bad()
	}
	return e, nil
}

func (e *emCmp) check(*System) *KernelError { return nil }

// match loads and compares. A number of two or four bytes is taken as it lies
// in memory of a little-endian machine unless trans swaps it; loads of four
// bytes are the reverse of that, as the kernel has it.
//
// Ref: em_cmp.c, em_cmp_match
func (e *emCmp) match(_ *System, p *Packet) bool {
	at := p.layer(e.layer) + int(e.off)
	if !p.has(at, e.bytes) {
		return false
	}
	var v uint32
	b := p.buf[at:]
	switch e.bytes {
	case 1:
		v = uint32(b[0])
	case 2:
		v = uint32(binary.BigEndian.Uint16(b))
		if e.trans {
			v = uint32(binary.LittleEndian.Uint16(be16(uint16(v))))
		}
	default:
		v = binary.BigEndian.Uint32(b)
		if e.trans {
			v = binary.LittleEndian.Uint32(be32(v))
		}
	}
	if e.mask != 0 {
		v &= e.mask
	}
	return compare(int64(v), int64(e.value), e.operator)
}

func compare(a, b int64, op uint8) bool {
	switch op {
	case opEqual:
		return a == b
	case opLess:
		return a < b
	}
	return a > b
}

// layer is where a layer of the packet starts.
func (p *Packet) layer(n uint8) int {
	switch n {
	case 0:
		return p.mac
	case 1:
		return p.net
	}
	return p.th
}

func (e *emCmp) text() string {
	s := fmt.Sprintf("cmp(u%d at %d layer %d ", e.bytes*8, e.off, e.layer)
	if e.mask != 0 {
		s += fmt.Sprintf("mask 0x%x ", e.mask)
	}
	if e.trans {
		s += "trans "
	}
	return s + fmt.Sprintf("%s %d)", operatorNames[e.operator], e.value)
}

// emU32 tests a 32-bit word of the network header.
type emU32 struct {
	value, mask uint32
	off         int32
	next        bool
}

func parseEmU32(args []ematchToken) (ematch, *ToolError) {
	bad := func(why string) (ematch, *ToolError) { return nil, ematchError("u32: %s", why) }
	if len(args) < 5 {
		return bad("too few arguments")
	}
	bits := map[string]int{"u8": 8, "u16": 16, "u32": 32}[args[0].text]
	v, ok := number32(args[1].text, 0)
	m, okMask := number32(args[2].text, 0)
	switch {
	case bits == 0:
		return bad("invalid alignment")
	case !ok:
		return bad("invalid key")
	case !okMask:
		return bad("invalid mask")
	case args[3].text != "at":
		return bad(`"at" is missing`)
	}
	rest := args[4:]
	e := &emU32{}
	if rest[0].text == "nexthdr" && len(rest) == 3 && rest[1].text == "+" {
		e.next = true
		rest = rest[2:]
	}
	off, okOff := signed(rest[0].text)
	if !okOff || len(rest) != 1 {
		return bad("invalid offset")
	}
	var fits bool
	if e.value, e.mask, e.off, fits = packWord(v, m, off, bits); !fits {
		return bad("key or mask is too large")
	}
	return e, nil
}

// packWord makes a word of a smaller value at an offset.
func packWord(v, m uint32, off int32, bits int) (value, mask uint32, word int32, ok bool) {
	if bits < 32 && (v>>bits != 0 || m>>bits != 0) {
		return 0, 0, 0, false
	}
	within := off & 3
	shift := 32 - bits - int(within)*8
	if shift < 0 {
		return 0, 0, 0, false
	}
	return v & m << shift, m << shift, off &^ 3, true
}

func (e *emU32) check(*System) *KernelError { return nil }

// match counts from the network header; nexthdr only moves inside hash tables,
// which ematches have not.
//
// Ref: em_u32.c, em_u32_match
func (e *emU32) match(_ *System, p *Packet) bool {
	at := p.net + int(e.off)
	if !p.has(at, 4) {
		return false
	}
	return (binary.BigEndian.Uint32(p.buf[at:])^e.value)&e.mask == 0
}

func (e *emU32) text() string {
	next := ""
	if e.next {
		next = "nexthdr+"
	}
	return fmt.Sprintf("u32(%08x/%08x at %s%d)", e.value, e.mask, next, e.off)
}
