package tc

import (
	"encoding/binary"

	"verdict/offload"
	"verdict/packet"
)

// mpls pushes, pops and changes label stack entries.
type mpls struct {
	action uint8
	proto  uint16
	label  uint32
	tc     uint8
	ttl    uint8
	bos    uint8
	hasLabel, hasTC,
	hasTTL, hasBOS bool
}

const (
	mplsPop = iota + 1
	mplsPush
	mplsModify
	mplsDecTTL
	mplsMacPush
)

var mplsActions = []string{"", "pop", "push", "modify", "dec_ttl", "mac_push"}

var kindMpls = &actionKind{name: "mpls", parse: parseMpls}

func parseMpls(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "mpls"); err != nil {
		return nil, err
	}
	m := &mpls{}
	r := &actionRequest{params: m}
	hasProto := false
	for w.more() {
		known, err := m.word(w, &hasProto)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
	}
	if err := r.finish(w, "mpls", Pipe); err != nil {
		return nil, err
	}
	switch {
	case m.action == 0:
		if r.index == 0 {
			return nil, tool("mpls: an action is missing")
		}
		r.lookup = true
	case m.action == mplsPop && !hasProto:
		return nil, tool("Protocol must be set for pop")
	case (m.action == mplsPush || m.action == mplsMacPush) && !m.hasLabel:
		return nil, tool("label must be set for push")
	case m.action == mplsPush || m.action == mplsMacPush:
		if !hasProto {
			m.proto = packet.TypeMPLS
		}
		if !m.hasTTL {
			m.ttl, m.hasTTL = 255, true
		}
	}
	return r, nil
}

func (m *mpls) word(w *words, hasProto *bool) (bool, *ToolError) {
	for i := mplsPop; i <= mplsMacPush; i++ {
		if w.is(mplsActions[i]) {
			if m.action != 0 {
				return false, wrong(w.peek(), "mpls: only one action may be given")
			}
			m.action = uint8(i)
			w.skip()
			return true, nil
		}
	}
	name := w.peek()
	if !w.matches("label", "tc", "ttl", "bos", "protocol") || w.matches("pipe") {
		return false, nil
	}
	text, err := w.value()
	if err != nil {
		return false, err
	}
	n, ok := number32(text, 0)
	switch {
	case prefix(name, "label"):
		m.label, m.hasLabel = n, true
		ok = ok && n < 1<<20 && n != 3
	case prefix(name, "tc"):
		m.tc, m.hasTC = uint8(n), true
		ok = ok && n < 8
	case prefix(name, "ttl"):
		m.ttl, m.hasTTL = uint8(n), true
		ok = ok && n > 0 && n < 256
	case prefix(name, "bos"):
		m.bos, m.hasBOS = uint8(n), true
		ok = ok && n < 2
	default:
		m.proto, ok = protocol(text)
		*hasProto = true
	}
	if !ok {
		return false, wrong(text, name+" is invalid")
	}
	return true, nil
}

// entry makes a label stack entry from an old one.
//
// Ref: act_mpls.c, tcf_mpls_get_lse
func (m *mpls) entry(old uint32, bottom bool) uint32 {
	if m.hasLabel {
		old = old&0xfff | m.label<<12
	}
	if m.hasTTL {
		old = old&^0xff | uint32(m.ttl)
	}
	if m.hasTC {
		old = old&^0xe00 | uint32(m.tc)<<9
	}
	switch {
	case m.hasBOS:
		old = old&^0x100 | uint32(m.bos)<<8
	case bottom:
		old |= 0x100
	}
	return old
}

// run changes the label stack.
//
// Ref: act_mpls.c, tcf_mpls_act
func (m *mpls) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	macLen := p.net - p.mac
	if p.Ingress {
		macLen = p.macLen
	}
	ok := true
	switch m.action {
	case mplsPop:
		ok = p.popLabel(m.proto, macLen)
	case mplsPush:
		ok = p.pushLabel(m.entry(0, !isMPLS(p.inner())), m.proto, macLen, true)
	case mplsMacPush:
		p.inlineTag()
		ok = p.pushLabel(m.entry(0, macLen != 0 || !isMPLS(p.inner())), m.proto, 0, false)
	case mplsModify, mplsDecTTL:
		ok = m.change(p)
	}
	if !ok {
		return a.drop()
	}
	return a.Control
}

// inlineTag puts the tag of the metadata into the frame.
func (p *Packet) inlineTag() {
	if !p.VLAN.Present {
		return
	}
	p.insert(12, []byte{byte(p.VLAN.TPID >> 8), byte(p.VLAN.TPID), byte(p.VLAN.TCI >> 8), byte(p.VLAN.TCI)})
	p.Protocol = p.VLAN.TPID
	p.VLAN = Tag{}
}

// pushLabel puts an entry behind a link header of macLen bytes.
//
// Ref: skbuff.c, skb_mpls_push
func (p *Packet) pushLabel(entry uint32, proto uint16, macLen int, ethernet bool) bool {
	if !isMPLS(proto) {
		return false
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], entry)
	p.insert(macLen, b[:])
	p.net = p.mac + macLen
	p.macLen = macLen
	if ethernet && macLen >= ethLen {
		binary.BigEndian.PutUint16(p.buf[p.mac+12:], proto)
	}
	p.Protocol = proto
	p.settle()
	return true
}

// popLabel takes the first entry away.
//
// Ref: skbuff.c, skb_mpls_pop
func (p *Packet) popLabel(proto uint16, macLen int) bool {
	if !isMPLS(p.Protocol) {
		return true
	}
	if !p.has(p.mac, macLen+4) {
		return false
	}
	p.touch()
	copy(p.buf[p.mac+4:], p.buf[p.mac:p.mac+macLen])
	p.mac += 4
	p.net = p.mac + macLen
	if macLen >= ethLen {
		binary.BigEndian.PutUint16(p.buf[p.net-2:], proto)
	}
	p.Protocol = proto
	p.settle()
	return true
}

func (m *mpls) change(p *Packet) bool {
	if !p.has(p.net, 4) || !isMPLS(p.Protocol) {
		return false
	}
	old := binary.BigEndian.Uint32(p.buf[p.net:])
	fresh := m.entry(old, false)
	if m.action == mplsDecTTL {
		if old&0xff <= 1 {
			return false
		}
		fresh = old - 1
	}
	p.touch()
	binary.BigEndian.PutUint32(p.buf[p.net:], fresh)
	return true
}

func (m *mpls) show(o *printer, a *Action) {
	o.put("kind", "%s ", "mpls")
	o.put("mpls_action", " %s", mplsActions[m.action])
	if m.action == mplsPop || m.action == mplsPush || m.action == mplsMacPush {
		o.put("protocol", " protocol %s", protocolName(m.proto))
	}
	if m.action != mplsPop && m.action != mplsDecTTL {
		if m.hasLabel {
			o.put("label", " label %d", m.label)
		}
		if m.hasTC {
			o.put("tc", " tc %d", m.tc)
		}
		if m.hasBOS {
			o.put("bos", " bos %d", m.bos)
		}
		if m.hasTTL {
			o.put("ttl", " ttl %d", m.ttl)
		}
	}
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t ")
}

// flow translates what hardware knows.
//
// Ref: act_mpls.c, tcf_mpls_offload_act_setup
func (m *mpls) flow(*Action) ([]offload.Action, error) {
	switch m.action {
	case mplsPop:
		return []offload.Action{{ID: offload.ActMPLSPop, Proto: m.proto}}, nil
	case mplsPush:
		return []offload.Action{{ID: offload.ActMPLSPush, Proto: m.proto}}, nil
	case mplsModify:
		return one(offload.ActMPLSMangle), nil
	case mplsDecTTL:
		return nil, refuse(eopnotsupp, `act_mpls: Offload not supported when "dec_ttl" option is used`)
	}
	return nil, refuse(eopnotsupp, `act_mpls: Offload not supported when "mac_push" option is used`)
}
