package tc

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"syscall"

	"verdict/offload"
	"verdict/packet"
)

// nat is stateless translation of IPv4 addresses.
type nat struct {
	old, fresh uint32
	bits       int
	egress     bool
}

var kindNat = &actionKind{name: "nat", parse: parseNat}

func parseNat(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "nat"); err != nil {
		return nil, err
	}
	n := &nat{}
	r := &actionRequest{params: n}
	switch {
	case w.matches("index"):
		r.lookup = true
		return r, r.finish(w, "nat", OK)
	case w.matches("egress"):
		n.egress = true
	case !w.matches("ingress"):
		return nil, tool("Illegal nat option (%s)", w.peek())
	}
	text, err := w.value()
	if err != nil {
		return nil, err
	}
	addr, bits, ok := ipPrefix(text, false)
	if !ok {
		return nil, tool("bad nat prefix %s", text)
	}
	n.old, n.bits = word32(addr), bits
	if text, err = w.take(); err != nil {
		return nil, err
	}
	if addr, _, ok = ipPrefix(text, false); !ok {
		return nil, tool("bad nat address %s", text)
	}
	n.fresh = word32(addr)
	return r, r.finish(w, "nat", OK)
}

func word32(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

func addr32(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// run rewrites an address and the checksums that cover it. The packet's
// protocol is not looked at.
//
// Ref: act_nat.c, tcf_nat_act
func (n *nat) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	if a.Control == Shot || !p.has(p.net, 20) {
		return a.drop()
	}
	mask := ^uint32(0)
	if n.bits > 0 { // "any" is one address: tc shifts by 32 bits, which does nothing
		mask <<= 32 - n.bits
	}
	h := p.buf[p.net:]
	field := 16
	if n.egress {
		field = 12
	}
	addr := binary.BigEndian.Uint32(h[field:])
	proto := h[9]
	later := binary.BigEndian.Uint16(h[6:])&0x1fff != 0
	fresh := n.fresh
	if (n.old^addr)&mask == 0 {
		fresh = fresh&mask | addr&^mask
		p.touch()
		h = p.buf[p.net:]
		binary.BigEndian.PutUint32(h[field:], fresh)
		binary.BigEndian.PutUint16(h[10:], packet.UpdateChecksum32(binary.BigEndian.Uint16(h[10:]), addr, fresh))
	} else if later || proto != packet.ProtoICMP {
		return a.Control
	}
	if later {
		return a.Control
	}
	if !n.transport(p, int(h[0]&15)*4, proto, addr, fresh, mask) {
		return a.drop()
	}
	return a.Control
}

func (n *nat) transport(p *Packet, ihl int, proto uint8, addr, fresh, mask uint32) bool {
	at := p.net + ihl
	replace := func(field int, old, fresh uint32, keepsZero bool) {
		b, at := p.write(at)
		f := b[at+field:]
		sum := packet.UpdateChecksum32(binary.BigEndian.Uint16(f), old, fresh)
		if keepsZero && sum == 0 {
			sum = 0xffff
		}
		binary.BigEndian.PutUint16(f, sum)
	}
	switch proto {
	case packet.ProtoTCP:
		if !p.has(at, 20) {
			return false
		}
		replace(16, addr, fresh, false)
	case packet.ProtoUDP:
		if !p.has(at, 8) {
			return false
		}
		if p.buf[at+6] != 0 || p.buf[at+7] != 0 {
			replace(6, addr, fresh, true)
		}
	case packet.ProtoICMP:
		return n.icmp(p, at, mask)
	}
	return true
}

// icmp translates the packet that an error quotes.
func (n *nat) icmp(p *Packet, at int, mask uint32) bool {
	if !p.has(at, 8) {
		return false
	}
	switch p.buf[at] {
	case 3, 4, 5, 11, 12:
	default:
		return true
	}
	if !p.has(at, 28) {
		return false
	}
	field := 8 + 12
	if n.egress {
		field = 8 + 16
	}
	addr := binary.BigEndian.Uint32(p.buf[at+field:])
	if (n.old^addr)&mask != 0 {
		return true
	}
	fresh := n.fresh&mask | addr&^mask
	b, to := p.write(at)
	binary.BigEndian.PutUint32(b[to+field:], fresh)
	sum := packet.UpdateChecksum32(binary.BigEndian.Uint16(b[to+2:]), addr, fresh)
	binary.BigEndian.PutUint16(b[to+2:], sum)
	return true
}

// show writes the prefix length that tc shows, whatever the mask.
func (n *nat) show(o *printer, a *Action) {
	direction := "ingress"
	if n.egress {
		direction = "egress"
	}
	o.put("type", " %s ", "nat")
	o.put("direction", "%s", direction)
	o.put("old_addr", " %s", fmt.Sprintf("%s/32", addr32(n.old)))
	o.put("new_addr", " %s", addr32(n.fresh).String())
	showControl(o, " ", a.Control, "")
	a.showIndex(o, "\t ")
}

func (n *nat) flow(*Action) ([]offload.Action, error) {
	return nil, refuse(syscall.EOPNOTSUPP, "Action does not support offload")
}
