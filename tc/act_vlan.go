package tc

import (
	"encoding/binary"
	"fmt"
	"net"

	"verdict/offload"
	"verdict/packet"
)

// vlan pushes, pops and changes tags and Ethernet headers.
type vlan struct {
	action   uint8
	id       uint16
	tpid     uint16
	hasTPID  bool
	priority uint8
	hasPrio  bool
	dst, src [6]byte
}

const (
	vlanPop = iota + 1
	vlanPush
	vlanModify
	vlanPopEth
	vlanPushEth
)

var vlanActions = []string{"", "pop", "push", "modify", "pop_eth", "push_eth"}

var kindVlan = &actionKind{name: "vlan", parse: parseVlan}

func parseVlan(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "vlan"); err != nil {
		return nil, err
	}
	v := &vlan{tpid: packet.TypeVLAN}
	r := &actionRequest{params: v}
	hasID, hasDst, hasSrc := false, false, false
	for w.more() {
		known, err := v.word(w, &hasID, &hasDst, &hasSrc)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
	}
	if err := r.finish(w, "vlan", Pipe); err != nil {
		return nil, err
	}
	switch {
	case v.action == 0:
		if r.index == 0 {
			return nil, tool("vlan: an action is missing")
		}
		r.lookup = true
	case v.action == vlanPush && !hasID:
		return nil, tool("id needs to be set for push")
	case v.action == vlanPushEth && !(hasDst && hasSrc):
		return nil, tool("dst_mac and src_mac need to be set for push_eth")
	}
	return r, nil
}

func (v *vlan) word(w *words, hasID, hasDst, hasSrc *bool) (bool, *ToolError) {
	for action := vlanPop; action <= vlanPushEth; action++ {
		if w.is(vlanActions[action]) || action <= vlanModify && w.matches(vlanActions[action]) {
			if v.action != 0 {
				return false, wrong(w.peek(), "vlan: only one action may be given")
			}
			v.action = uint8(action)
			w.skip()
			return true, nil
		}
	}
	name := w.peek()
	needs := func(ok bool) *ToolError {
		if ok {
			return nil
		}
		return tool("%q is not valid for this vlan action", name)
	}
	tagging := v.action == vlanPush || v.action == vlanModify
	switch {
	case w.matches("id"):
		if err := needs(tagging); err != nil {
			return false, err
		}
		text, err := w.value()
		if err != nil {
			return false, err
		}
		n, ok := number16(text, 0)
		if !ok || n > 0xfff {
			return false, wrong(text, "id is invalid")
		}
		v.id, *hasID = n, true
	case w.matches("protocol"):
		if err := needs(tagging); err != nil {
			return false, err
		}
		text, err := w.value()
		if err != nil {
			return false, err
		}
		p, ok := protocol(text)
		if !ok {
			return false, wrong(text, "protocol is invalid")
		}
		v.tpid, v.hasTPID = p, true
	case w.matches("priority"):
		if err := needs(tagging); err != nil {
			return false, err
		}
		text, err := w.value()
		if err != nil {
			return false, err
		}
		n, ok := number8(text, 0)
		if !ok || n > 7 {
			return false, wrong(text, "prio is invalid")
		}
		v.priority, v.hasPrio = n, true
	case w.matches("dst_mac", "src_mac"):
		if err := needs(v.action == vlanPushEth); err != nil {
			return false, err
		}
		text, err := w.value()
		if err != nil {
			return false, err
		}
		mac, parseErr := net.ParseMAC(text)
		if parseErr != nil || len(mac) != 6 {
			return false, wrong(text, name+" is invalid")
		}
		if prefix(name, "dst_mac") {
			copy(v.dst[:], mac)
			*hasDst = true
		} else {
			copy(v.src[:], mac)
			*hasSrc = true
		}
	default:
		return false, nil
	}
	return true, nil
}

func (v *vlan) tci() uint16 { return v.id | uint16(v.priority)<<13 }

// run changes the packet with its data at the link header.
//
// Ref: act_vlan.c, tcf_vlan_act
func (v *vlan) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	ok := true
	switch v.action {
	case vlanPop:
		ok = p.popTag()
	case vlanPush:
		p.pushTag(v.tpid, v.tci())
	case vlanModify:
		ok = v.modify(p)
	case vlanPopEth:
		ok = p.popEthernet()
	case vlanPushEth:
		ok = p.pushEthernet(v.dst, v.src)
	}
	if !ok {
		return a.drop()
	}
	return a.Control
}

func (v *vlan) modify(p *Packet) bool {
	var tci uint16
	switch {
	case p.VLAN.Present:
		tci = p.VLAN.TCI
	case isVLAN(p.Protocol):
		n, ok := p.removeTag()
		if !ok {
			return false
		}
		tci = n
	default:
		return true
	}
	tci = tci&^0xfff | v.id
	if v.hasPrio {
		tci = tci&0x1fff | uint16(v.priority)<<13
	}
	p.setTag(v.tpid, tci)
	return true
}

// setTag puts a tag into the metadata.
func (p *Packet) setTag(tpid, tci uint16) {
	p.touch()
	p.VLAN = Tag{Present: true, TPID: tpid, TCI: tci}
}

// pushTag adds a tag; one that is in the metadata goes into the frame.
//
// Ref: skbuff.c, skb_vlan_push
func (p *Packet) pushTag(tpid, tci uint16) {
	if p.VLAN.Present {
		p.insert(12, []byte{byte(p.VLAN.TPID >> 8), byte(p.VLAN.TPID), byte(p.VLAN.TCI >> 8), byte(p.VLAN.TCI)})
		p.Protocol = p.VLAN.TPID
		p.net -= vlanLen
		p.settle()
	}
	p.setTag(tpid, tci)
}

// insert puts bytes behind the first n of the link header, which moves to the
// front.
func (p *Packet) insert(n int, b []byte) {
	p.grow(len(b))
	copy(p.buf[p.mac-len(b):], p.buf[p.mac:min(p.mac+n, p.tail)])
	p.mac -= len(b)
	copy(p.buf[p.mac+n:], b)
}

// settle lets the data begin where the hook has it.
func (p *Packet) settle() {
	if p.Ingress {
		p.data = p.mac + p.macLen
	} else {
		p.data = p.mac
	}
}

// popTag removes the outermost tag and moves the next one to the metadata.
//
// Ref: skbuff.c, skb_vlan_pop
func (p *Packet) popTag() bool {
	if p.VLAN.Present {
		p.touch()
		p.VLAN = Tag{}
	} else {
		if !isVLAN(p.Protocol) {
			return true
		}
		if _, ok := p.removeTag(); !ok {
			return false
		}
	}
	if !isVLAN(p.Protocol) {
		return true
	}
	tpid := p.Protocol
	tci, ok := p.removeTag()
	if !ok {
		return false
	}
	p.setTag(tpid, tci)
	return true
}

// removeTag takes the first tag out of the frame.
//
// Ref: skbuff.c, __skb_vlan_pop
func (p *Packet) removeTag() (tci uint16, ok bool) {
	if !p.has(p.mac, ethLen+vlanLen) {
		return 0, false
	}
	p.touch()
	tci = binary.BigEndian.Uint16(p.buf[p.mac+ethLen:])
	p.Protocol = encapsulated(p.buf[p.mac+ethLen+2 : p.tail])
	copy(p.buf[p.mac+vlanLen:], p.buf[p.mac:p.mac+12])
	p.mac += vlanLen
	if p.net-p.mac < ethLen {
		p.net = p.mac + ethLen
	}
	p.macLen = p.net - p.mac
	p.settle()
	return tci, true
}

// popEthernet takes the link header away.
//
// Ref: skbuff.c, skb_eth_pop
func (p *Packet) popEthernet() bool {
	if p.VLAN.Present || p.net-p.mac < ethLen {
		return false
	}
	p.touch()
	p.mac += ethLen
	p.macLen = p.net - p.mac
	p.settle()
	return true
}

// pushEthernet puts a link header before a packet that has none.
//
// Ref: skbuff.c, skb_eth_push
func (p *Packet) pushEthernet(dst, src [6]byte) bool {
	if p.net != p.mac || p.VLAN.Present {
		return false
	}
	p.grow(ethLen)
	p.mac -= ethLen
	h := p.buf[p.mac:]
	copy(h, dst[:])
	copy(h[6:], src[:])
	binary.BigEndian.PutUint16(h[12:], p.Protocol)
	p.macLen = ethLen
	p.settle()
	return true
}

func (v *vlan) show(o *printer, a *Action) {
	o.put("kind", "%s ", "vlan")
	o.put("vlan_action", " %s", vlanActions[v.action])
	switch v.action {
	case vlanPush, vlanModify:
		o.put("id", " id %d", v.id)
		o.put("protocol", " protocol %s", protocolName(v.tpid))
		if v.action == vlanPush || v.hasPrio {
			o.put("priority", " priority %d", v.priority)
		}
	case vlanPushEth:
		o.put("dst_mac", " dst_mac %s", macText(v.dst))
		o.put("src_mac", " src_mac %s", macText(v.src))
	}
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t ")
}

func macText(a [6]byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5])
}

func (v *vlan) flow(*Action) ([]offload.Action, error) {
	id := [...]offload.ActionID{0, offload.ActVLANPop, offload.ActVLANPush, offload.ActVLANMangle, offload.ActVLANPopEth, offload.ActVLANPushEth}[v.action]
	return []offload.Action{{ID: id, VLAN: v.tci(), Proto: v.tpid}}, nil
}
