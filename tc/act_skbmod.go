package tc

import (
	"encoding/binary"
	"net"
	"syscall"

	"verdict/offload"
	"verdict/packet"
)

// skbmod changes the link header or marks congestion.
type skbmod struct {
	dst, src       [6]byte
	etype          uint16
	hasDst, hasSrc bool
	hasType, swap  bool
	ecn            bool
}

var kindSkbmod = &actionKind{name: "skbmod", parse: parseSkbmod, check: checkSkbmod}

func parseSkbmod(w *words, s *System) (*actionRequest, *ToolError) {
	if err := expect(w, "skbmod"); err != nil {
		return nil, err
	}
	v := &skbmod{}
	r := &actionRequest{params: v}
	for w.more() {
		known, err := v.word(w, s)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
	}
	r.lookup = *v == skbmod{}
	return r, r.finish(w, "skbmod", Pipe)
}

func (v *skbmod) word(w *words, s *System) (bool, *ToolError) {
	switch {
	case w.is("set"):
		w.skip()
		return true, nil
	case w.is("swap"):
		w.skip()
		if w.is("mac") {
			w.skip()
		}
		v.swap = true
		return true, nil
	case w.is("ecn"):
		w.skip()
		v.ecn = true
		return true, nil
	case w.matches("etype"):
		text, err := w.value()
		if err != nil {
			return false, err
		}
		n, ok := number16(text, 0)
		if !ok {
			return false, wrong(text, "ethertype is invalid")
		}
		v.etype, v.hasType = n, true
		return true, nil
	case w.is("dmac"), w.is("smac"):
		name := w.peek()
		text, err := w.value()
		if err != nil {
			return false, err
		}
		mac, parseErr := net.ParseMAC(text)
		if parseErr != nil || len(mac) != 6 {
			return false, tool("Invalid %s %s", name, text)
		}
		if s.old {
			which := map[string]string{"dmac": "dst", "smac": "src"}[name]
			s.notes = append(s.notes, which+" MAC address <"+text+">")
		}
		if name == "dmac" {
			copy(v.dst[:], mac)
			v.hasDst = true
		} else {
			copy(v.src[:], mac)
			v.hasSrc = true
		}
		return true, nil
	}
	return false, nil
}

func checkSkbmod(_ *System, r *actionRequest, _ *Block) *KernelError {
	if *r.params.(*skbmod) == (skbmod{}) {
		return errno(syscall.EINVAL)
	}
	return nil
}

// run changes the link header in place.
//
// Ref: act_skbmod.c, tcf_skbmod_act
func (v *skbmod) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	if v.ecn {
		return v.mark(p, a)
	}
	if !p.has(p.mac, ethLen) {
		return a.drop()
	}
	p.touch()
	h := p.buf[p.mac:]
	if v.hasDst {
		copy(h, v.dst[:])
	}
	if v.hasSrc {
		copy(h[6:], v.src[:])
	}
	if v.hasType {
		binary.BigEndian.PutUint16(h[12:], v.etype)
	}
	if v.swap {
		var t [6]byte
		copy(t[:], h[:6])
		copy(h[:6], h[6:12])
		copy(h[6:12], t[:])
	}
	return a.Control
}

// mark sets congestion experienced on packets that can carry it.
func (v *skbmod) mark(p *Packet, a *Action) Code {
	switch p.inner() {
	case packet.TypeIPv4:
		if !p.has(p.net, 20) {
			return a.drop()
		}
		if ecn := p.buf[p.net+1] & 3; ecn == 1 || ecn == 2 {
			p.touch()
			h := p.buf[p.net:]
			old := binary.BigEndian.Uint16(h)
			h[1] |= 3
			binary.BigEndian.PutUint16(h[10:], packet.UpdateChecksum16(binary.BigEndian.Uint16(h[10:]), old, binary.BigEndian.Uint16(h)))
		}
	case packet.TypeIPv6:
		if !p.has(p.net, 40) {
			return a.drop()
		}
		if ecn := p.buf[p.net+1] >> 4 & 3; ecn == 1 || ecn == 2 {
			p.touch()
			p.buf[p.net+1] |= 0x30
		}
	}
	return a.Control
}

func (v *skbmod) show(o *printer, a *Action) {
	o.put("kind", "%s ", "skbmod")
	showControl(o, "", a.Control, " ")
	if v.hasDst || v.hasSrc || v.hasType {
		o.text("set ")
	}
	if v.hasDst {
		o.put("dmac", "dmac %s ", macText(v.dst))
	}
	if v.hasSrc {
		o.put("smac", "smac %s ", macText(v.src))
	}
	if v.hasType {
		o.put("etype", "etype 0x%X ", v.etype)
	}
	if v.swap {
		o.put("swap", "swap %s ", "mac")
	}
	if v.ecn {
		o.put("ecn", "ecn ", true)
	}
	a.showIndex(o, "\t ")
}

func (v *skbmod) flow(*Action) ([]offload.Action, error) {
	return nil, refuse(syscall.EOPNOTSUPP, "Action does not support offload")
}
