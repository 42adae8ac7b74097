package tc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
)

// emNbyte compares bytes.
type emNbyte struct {
	pattern []byte
	off     uint16
	layer   uint8
}

func parseNbyte(args []ematchToken) (ematch, *ToolError) {
	bad := func() (ematch, *ToolError) { return nil, ematchError("nbyte: invalid arguments") }
	if len(args) == 0 {
		return bad()
	}
	e := &emNbyte{pattern: []byte(args[0].text)}
	if t := args[0].text; !args[0].quoted && strings.HasPrefix(t, "0x") {
		b, err := hex.DecodeString(t[2:])
		if err != nil {
			return bad()
		}
		e.pattern = b
	}
	for i := 1; i+1 < len(args); i += 2 {
		ok := false
		switch args[i].text {
		case "at":
			e.off, ok = number16(args[i+1].text, 0)
		case "layer":
			e.layer, ok = layer(args[i+1].text)
		}
		if !ok {
			return bad()
		}
	}
	if len(args)%2 == 0 {
		return bad()
	}
	return e, nil
}

func (e *emNbyte) check(*System) *KernelError { return nil }

// match compares the bytes if they are in the packet.
//
// Ref: em_nbyte.c, em_nbyte_match
func (e *emNbyte) match(_ *System, p *Packet) bool {
	at := p.layer(e.layer) + int(e.off)
	return p.has(at, len(e.pattern)) && bytes.Equal(p.buf[at:at+len(e.pattern)], e.pattern)
}

func (e *emNbyte) text() string {
	var b strings.Builder
	b.WriteString("nbyte(")
	for _, c := range e.pattern {
		fmt.Fprintf(&b, "%02x ", c)
	}
	b.WriteByte('"')
	for _, c := range e.pattern {
		if c < ' ' || c > '~' {
			c = '.'
		}
		b.WriteByte(c)
	}
	fmt.Fprintf(&b, "\" at %d layer %d)", e.off, e.layer)
	return b.String()
}

// canRule is an identifier with a mask.
type canRule struct {
	id, mask uint32
	extended bool
	full     bool
}

// emCanID matches identifiers of CAN frames.
type emCanID struct{ rules []canRule }

const (
	canExtended = 0x80000000
	canStandard = 0x7ff
	canLong     = 0x1fffffff
)

func parseCanID(args []ematchToken) (ematch, *ToolError) {
	bad := func() (ematch, *ToolError) { return nil, ematchError("canid: invalid arguments") }
	if len(args) == 0 || len(args)%2 != 0 {
		return bad()
	}
	e := &emCanID{}
	for i := 0; i < len(args); i += 2 {
		r := canRule{extended: args[i].text == "eff"}
		limit := uint32(canStandard)
		if r.extended {
			limit = canLong
		} else if args[i].text != "sff" {
			return bad()
		}
		id, mask, has := strings.Cut(args[i+1].text, ":")
		n, ok := number32(id, 0)
		if !ok {
			return bad()
		}
		r.id, r.mask, r.full = n&limit, limit, !has
		if has {
			m, ok := number32(mask, 0)
			if !ok {
				return bad()
			}
			r.mask = m & limit
		}
		e.rules = append(e.rules, r)
	}
	sort.SliceStable(e.rules, func(i, j int) bool { return e.rules[i].extended && !e.rules[j].extended })
	return e, nil
}

func (e *emCanID) check(*System) *KernelError { return nil }

// match reads the identifier at the start of the frame.
//
// Ref: em_canid.c, em_canid_match
func (e *emCanID) match(_ *System, p *Packet) bool {
	if !p.has(p.net, 4) {
		return false
	}
	id := binary.LittleEndian.Uint32(p.buf[p.net:])
	for _, r := range e.rules {
		if (id&canExtended != 0) == r.extended && (id^r.id)&r.mask == 0 {
			return true
		}
	}
	return false
}

func (e *emCanID) text() string {
	var l []string
	for _, r := range e.rules {
		kind := "sff"
		if r.extended {
			kind = "eff"
		}
		s := fmt.Sprintf("%s 0x%X", kind, r.id)
		if !r.full {
			s += fmt.Sprintf(":0x%X", r.mask)
		}
		l = append(l, s)
	}
	return "canid(" + strings.Join(l, " ") + ")"
}
