package tc

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/offload"
	"verdict/packet"
	"verdict/packet/rewrite"
)

// ctAction sends the packet through connection tracking.
type ctAction struct {
	commit, force, clear bool
	nat, natSrc, natDst  bool
	zone                 uint16
	mark, markMask       uint32
	hasMark              bool
	label, labelMask     [16]byte
	hasLabel             bool
	low, high            netip.Addr
	lowPort, highPort    uint16
	helper               string

	view   packet.View
	buffer rewrite.Buffer
}

var kindCT = &actionKind{name: "ct", parse: parseCT, check: checkCT}

func parseCT(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "ct"); err != nil {
		return nil, err
	}
	c := &ctAction{}
	r := &actionRequest{params: c}
	for w.more() {
		known, err := c.word(w, r)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
	}
	if c.clear && (c.commit || c.force || c.nat || c.zone != 0 || c.hasMark || c.hasLabel) {
		return nil, tool("clear can only be used alone")
	}
	return r, r.finish(w, "ct", Pipe)
}

func (c *ctAction) word(w *words, r *actionRequest) (bool, *ToolError) {
	switch {
	case w.matches("commit"):
		c.commit = true
	case w.matches("force"):
		c.force = true
	case w.is("clear"):
		c.clear = true
	case w.matches("nat"):
		return true, c.parseNat(w)
	case w.matches("index"):
		n, err := parseIndex(w, "ct")
		r.index = n
		return true, err
	case w.matches("zone", "mark", "label", "helper"):
		name := w.peek()
		text, err := w.value()
		if err != nil {
			return false, err
		}
		return true, c.set(name, text)
	default:
		return false, nil
	}
	w.skip()
	return true, nil
}

func (c *ctAction) set(name, text string) *ToolError {
	ok := true
	switch {
	case prefix(name, "zone"):
		c.zone, ok = number16(text, 10)
	case prefix(name, "mark"):
		v, m, good := masked(text, 32)
		c.mark, c.markMask, c.hasMark, ok = uint32(v), uint32(m), true, good
	case prefix(name, "label"):
		c.label, c.labelMask, ok = labelText(text)
		c.hasLabel = true
	default:
		c.helper = text
	}
	if !ok {
		return tool("ct: Illegal %q", name)
	}
	return nil
}

// labelText reads HEX[/HEX], the most significant digit first; digits that make
// no whole byte are lost.
func labelText(text string) (value, mask [16]byte, ok bool) {
	v, m, has := strings.Cut(text, "/")
	value, ok = labelBytes(v)
	for i := range mask {
		mask[i] = 0xff
	}
	if has && ok {
		mask, ok = labelBytes(m)
	}
	return value, mask, ok
}

func labelBytes(s string) (out [16]byte, ok bool) {
	s = strings.TrimPrefix(s, "0x")
	if len(s) > 32 {
		return out, false
	}
	b, err := hex.DecodeString(s[:len(s)/2*2])
	copy(out[16-len(b):], b)
	return out, err == nil
}

// parseNat reads "nat [src|dst addr A[-B] [port P[-Q]]]".
func (c *ctAction) parseNat(w *words) *ToolError {
	c.nat = true
	w.skip()
	if !w.more() {
		return incomplete()
	}
	switch {
	case w.matches("src"):
		c.natSrc = true
	case w.matches("dst"):
		c.natDst = true
	default:
		return nil
	}
	w.skip()
	if !w.more() {
		return incomplete()
	}
	if !w.matches("addr") {
		return tool("nat: addr is missing")
	}
	text, err := w.value()
	if err != nil {
		return err
	}
	low, high, both := strings.Cut(text, "-")
	var ok, okHigh bool
	if c.low, ok = anyAddress(low); !ok {
		return tool("Invalid nat address range %s", text)
	}
	if c.high, okHigh = c.low, true; both {
		c.high, okHigh = anyAddress(high)
	}
	if !okHigh || c.low.Is4() != c.high.Is4() {
		return tool("Invalid nat address range %s", text)
	}
	if !w.more() {
		return incomplete()
	}
	if !w.is("port") {
		return nil
	}
	if text, err = w.value(); err != nil {
		return err
	}
	low, high, both = strings.Cut(text, "-")
	if c.lowPort, ok = number16(low, 10); !ok {
		return tool("Invalid nat port range %s", text)
	}
	if c.highPort = c.lowPort; both {
		if c.highPort, ok = number16(high, 10); !ok {
			return tool("Invalid nat port range %s", text)
		}
	}
	return nil
}

// checkCT makes the checks of parameters.
//
// Ref: act_ct.c, tcf_ct_fill_params
func checkCT(_ *System, r *actionRequest, _ *Block) *KernelError {
	c := r.params.(*ctAction)
	if (c.natSrc || c.natDst) && !c.commit {
		return refuse(syscall.EOPNOTSUPP, "Nat range can only be used with commit")
	}
	if c.helper != "" {
		if _, err := conntrack.HelperByName(c.helper, 0); err != nil {
			return refuse(syscall.EINVAL, "Failed to add helper")
		}
	}
	return nil
}

// run tracks the packet, translates it and commits its connection. A fragment
// is held: it waits for the others, which this System does not put together.
//
// Ref: act_ct.c, tcf_ct_act
func (c *ctAction) run(s *System, p *Packet, a *Action) Code {
	a.count(p)
	if c.clear {
		p.postCT = false
		if p.CT.Conn != nil {
			p.CT.Reset()
			p.CT.Info = conntrack.InfoUntracked
		}
		return a.Control
	}
	family, ok := p.family()
	if !ok {
		return a.drop()
	}
	switch p.fragment(family) {
	case fragmentHeld:
		s.path.unknown = "fragments that a ct action holds are not put together"
		return Consumed
	case fragmentBad:
		return Consumed
	}
	p.trim(family)
	if s.track(c, p, family) != conntrack.Accept {
		return a.drop()
	}
	p.postCT, p.ctZone = true, c.zone
	return a.Control
}

// family is the packet's IP family behind all tags.
func (p *Packet) family() (catalog.Family, bool) {
	switch p.inner() {
	case packet.TypeIPv4:
		return catalog.FamilyIP, true
	case packet.TypeIPv6:
		return catalog.FamilyIP6, true
	}
	return 0, false
}

const (
	fragmentNone = iota
	fragmentHeld
	fragmentBad
)

// fragment tells whether the packet has to wait for others.
func (p *Packet) fragment(f catalog.Family) int {
	if f == catalog.FamilyIP {
		switch {
		case !p.has(p.net, 20):
			return fragmentBad
		case binary.BigEndian.Uint16(p.buf[p.net+6:])&0x3fff != 0:
			return fragmentHeld
		}
		return fragmentNone
	}
	if !p.has(p.net, 40) {
		return fragmentBad
	}
	next, at := p.buf[p.net+6], p.net+40
	for p.has(at, 8) {
		switch next {
		case packet.ProtoFragment:
			return fragmentHeld
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts:
			next, at = p.buf[at], at+(int(p.buf[at+1])+1)*8
		default:
			return fragmentNone
		}
	}
	return fragmentNone
}

// trim takes padding off.
//
// Ref: nf_conntrack_ovs.c, nf_ct_skb_network_trim
func (p *Packet) trim(f catalog.Family) {
	length := int(binary.BigEndian.Uint16(p.buf[p.net+2:]))
	if f == catalog.FamilyIP6 {
		length = 40 + int(binary.BigEndian.Uint16(p.buf[p.net+4:]))
	}
	if p.net+length < p.tail {
		p.touch()
		p.tail = p.net + length
		p.buf = p.buf[:p.tail]
	}
}

func (c *ctAction) show(o *printer, a *Action) {
	o.put("kind", "%s", "ct")
	var words []string
	if c.commit {
		words = append(words, "commit")
	}
	if c.force {
		words = append(words, "force")
	}
	if c.clear {
		words = append(words, "clear")
	}
	if len(words) > 0 {
		o.put("action", " %s", strings.Join(words, " "))
	}
	if c.hasMark {
		o.put("mark", " mark %d", c.mark)
		if c.markMask != 0xffffffff {
			if o.JSON {
				o.member("mark_mask", fmt.Sprintf("%x", c.markMask))
			} else {
				o.text("/0x%x", c.markMask)
			}
		}
	}
	if c.hasLabel {
		text := hex.EncodeToString(c.label[:])
		if m := hex.EncodeToString(c.labelMask[:]); strings.Trim(m, "f") != "" {
			text += "/" + m
		}
		o.put("label", " label %s", text)
	}
	if !c.clear {
		o.put("zone", " zone %d", c.zone)
	}
	if c.nat {
		c.showNat(o)
	}
	if c.helper != "" {
		o.put("helper", " helper %s", c.helper)
	}
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t ")
}

func (c *ctAction) showNat(o *printer) {
	text := ""
	if c.natSrc || c.natDst {
		text = "src"
		if c.natDst {
			text = "dst"
		}
		text += " addr " + c.low.String()
		if c.high != c.low {
			text += "-" + c.high.String()
		}
		if c.lowPort != 0 {
			text += fmt.Sprintf(" port %d", c.lowPort)
			if c.highPort != c.lowPort {
				text += fmt.Sprintf("-%d", c.highPort)
			}
		}
	}
	if o.JSON {
		o.member("nat", text)
		return
	}
	o.text(" nat")
	if text != "" {
		o.text(" %s", text)
	}
}

func (c *ctAction) flow(*Action) ([]offload.Action, error) {
	return []offload.Action{{ID: offload.ActCT, Zone: c.zone}}, nil
}
