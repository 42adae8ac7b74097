package tc

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"verdict/offload"
	"verdict/packet"
)

// pedit changes 32-bit words of headers.
type pedit struct {
	extended bool
	keys     []peditKey
}

// peditKey changes one word: what the mask keeps, exclusive-or the value; or
// the sum. Value and mask are in network order.
type peditKey struct {
	header      uint8
	add         bool
	value, mask uint32
	off         int32
	at          int32 // position of a byte that shifts the offset
	offMask     uint32
	shift       uint32
}

const (
	peditRaw = iota // network header, in the old form
	peditEth
	peditIP4
	peditIP6
	peditTCP
	peditUDP
)

var peditHeaders = []string{"network", "eth", "ipv4", "ipv6", "tcp", "udp"}

var kindPedit = &actionKind{name: "pedit", parse: parsePedit, check: checkPedit}

// checkPedit refuses offsets that are no multiples of four.
//
// Ref: act_pedit.c, tcf_pedit_init
func checkPedit(_ *System, r *actionRequest, _ *Block) *KernelError {
	pe := r.params.(*pedit)
	if len(pe.keys) == 0 {
		return refuse(syscall.EINVAL, "Pedit requires keys to be passed")
	}
	for _, k := range pe.keys {
		if k.offMask == 0 && k.off%4 != 0 {
			return refuse(syscall.EINVAL, "Pedit: offsets must be on 32bit boundaries")
		}
	}
	return nil
}

// run changes word after word; the first that cannot be changed ends it.
//
// Ref: act_pedit.c, tcf_pedit_act
func (pe *pedit) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	for i := range pe.keys {
		if !pe.keys[i].apply(p) {
			a.Overlimits++
			break
		}
	}
	return a.Control
}

func (k *peditKey) apply(p *Packet) bool {
	base, ok := p.header(k.header)
	if !ok {
		return false
	}
	off := int(k.off)
	if k.offMask != 0 {
		var b [1]byte
		if !p.load(base+int(k.at), 1, b[:]) {
			return false
		}
		off += int(uint32(b[0]) & k.offMask >> k.shift)
		if off%4 != 0 {
			return false
		}
	}
	at := base + off
	if at+4 > p.tail || at < p.mac-headroom {
		return false
	}
	p.touch()
	if base, ok = p.header(k.header); !ok {
		return false
	}
	p.writeWord(base+off, k)
	return true
}

// writeWord changes the bytes of a word that are in the packet. The sum is
// that of a little-endian machine.
func (p *Packet) writeWord(at int, k *peditKey) {
	var b [4]byte
	for i := range b {
		if at+i >= 0 && at+i < p.tail {
			b[i] = p.buf[at+i]
		}
	}
	var v, m [4]byte
	binary.BigEndian.PutUint32(v[:], k.value)
	binary.BigEndian.PutUint32(m[:], k.mask)
	current := binary.LittleEndian.Uint32(b[:])
	value, mask := binary.LittleEndian.Uint32(v[:]), binary.LittleEndian.Uint32(m[:])
	if k.add {
		value = (current + value) &^ mask
	}
	binary.LittleEndian.PutUint32(b[:], current&mask^value)
	for i := range b {
		if at+i >= 0 && at+i < p.tail {
			p.buf[at+i] = b[i]
		}
	}
}

// header finds where a header starts.
//
// Ref: act_pedit.c, pedit_skb_hdr_offset
func (p *Packet) header(kind uint8) (int, bool) {
	switch kind {
	case peditEth:
		return p.mac, true
	case peditTCP:
		return p.transport(packet.ProtoTCP)
	case peditUDP:
		return p.transport(packet.ProtoUDP)
	}
	return p.net, true
}

// transport finds the transport header: behind whatever the IPv4 header's
// length says, in IPv6 only where the header of this protocol is.
//
// Ref: act_pedit.c, pedit_l4_skb_offset; ipv6, ipv6_find_hdr
func (p *Packet) transport(proto uint8) (int, bool) {
	switch p.Protocol {
	case packet.TypeIPv4:
		if !p.has(p.net, 20) {
			return 0, false
		}
		return p.net + int(p.buf[p.net]&15)*4, true
	case packet.TypeIPv6:
		return p.findIPv6(proto)
	}
	return 0, false
}

// findIPv6 looks for a header in the chain of an IPv6 packet.
func (p *Packet) findIPv6(proto uint8) (int, bool) {
	if !p.has(p.net, 40) || p.buf[p.net]>>4 != 6 {
		return 0, false
	}
	next, at := p.buf[p.net+6], p.net+40
	for next != proto {
		if !p.has(at, 2) {
			return 0, false
		}
		length := 0
		switch next {
		case packet.ProtoFragment:
			if !p.has(at, 8) {
				return 0, false
			}
			if binary.BigEndian.Uint16(p.buf[at+2:])&^7 != 0 {
				return 0, false
			}
			length = 8
		case packet.ProtoAH:
			length = (int(p.buf[at+1]) + 2) * 4
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts:
			length = (int(p.buf[at+1]) + 1) * 8
		default:
			return 0, false
		}
		next = p.buf[at]
		at += length
	}
	return at, true
}

func (pe *pedit) show(o *printer, a *Action) {
	o.put("kind", " %s ", "pedit")
	showControl(o, "action ", a.Control, " ")
	o.put("nkeys", "keys %d", len(pe.keys))
	o.nl()
	o.put("index", " \t index %d", a.Index)
	o.put("ref", " ref %d", a.refs)
	o.put("bind", " bind %d", a.binds)
	a.showTimes(o)
	o.array("keys")
	for i, k := range pe.keys {
		o.object("")
		o.nl()
		o.text("\t key #%d  at ", i)
		k.show(o)
		o.endObject()
	}
	o.endArray()
	o.nl()
}

func (k *peditKey) show(o *printer) {
	cmd, word := "set", "val"
	if k.add {
		cmd, word = "add", "add"
	}
	if o.JSON {
		o.member("htype", peditHeaders[k.header])
		o.member("offset", k.off)
		o.member("cmd", cmd)
		o.member("val", fmt.Sprintf("%x", k.value))
		o.member("mask", fmt.Sprintf("%x", k.mask))
		return
	}
	if k.header == peditRaw {
		o.text("%d", k.off)
	} else {
		o.text("%s%+d", peditHeaders[k.header], k.off)
	}
	o.text(": %s %08x mask %08x", word, k.value, k.mask)
}

// flow translates keys of headers.
//
// Ref: act_pedit.c, tcf_pedit_offload_act_setup
func (pe *pedit) flow(*Action) ([]offload.Action, error) {
	var l []offload.Action
	for _, k := range pe.keys {
		id := offload.ActMangle
		if k.add {
			id = offload.ActAdd
		}
		l = append(l, offload.Action{ID: id, Header: peditHeaders[k.header], Offset: uint32(k.off), Value: k.value, Mask: k.mask})
	}
	return l, nil
}
