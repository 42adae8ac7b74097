package tc

import (
	"encoding/binary"

	"verdict/offload"
	"verdict/packet"
)

// dissection is what the flow dissector finds in a packet.
type dissection struct {
	offload.Key
}

// maxHeaders bounds the headers that a dissection follows.
//
// Ref: flow_dissector.c, MAX_FLOW_DISSECT_HDRS
const maxHeaders = 15

// outcomes of one step of the dissector.
type step uint8

const (
	stepDone step = iota
	stepBad
	stepProto   // go on with the next network protocol
	stepIPProto // go on with the next transport protocol
	stepNext
)

// dissector walks the headers of one packet.
type dissector struct {
	p       *Packet
	k       *offload.Key
	proto   uint16
	ipProto uint8
	at      int // where the next header starts
	flags   uint32
	tags    int
	headers int
	labels  int
	// deep looks into tunnels, as the search for the transport header does;
	// filters stop before them.
	deep bool
}

// dissected returns the fields of the packet that filters match on, computed
// once and again after a change.
//
// Ref: flow_dissector.c, __skb_flow_dissect; cls_flower.c, fl_classify
func (p *Packet) dissected() *offload.Key {
	if !p.keysGood {
		clear(p.keys.Key[:])
		d := dissector{p: p, k: &p.keys.Key, at: p.net}
		d.metadata()
		d.run()
		binary.BigEndian.PutUint16(d.k.Get(offload.FieldNProto), d.proto)
		d.k.Get(offload.FieldIPProto)[0] = d.ipProto
		binary.LittleEndian.PutUint32(d.k.Get(offload.FieldFlags), d.flags)
		p.keysGood = true
	}
	p.dissectCT(&p.keys.Key)
	return &p.keys.Key
}

// metadata fills what does not come from the packet's bytes.
func (d *dissector) metadata() {
	p, k := d.p, d.k
	binary.LittleEndian.PutUint32(k.Get(offload.FieldIIF), p.IIF)
	binary.LittleEndian.PutUint32(k.Get(offload.FieldHash), p.Hash)
	if p.L2Miss {
		k.Get(offload.FieldL2Miss)[0] = 1
	}
	if p.mac+12 <= p.tail {
		copy(k.Get(offload.FieldEthDst), p.buf[p.mac:p.mac+6])
		copy(k.Get(offload.FieldEthSrc), p.buf[p.mac+6:p.mac+12])
	}
	if p.Tunnel.Set {
		p.Tunnel.fill(k)
	}
	d.proto = p.outer()
}

// fill writes the tunnel's fields.
func (t *Tunnel) fill(k *offload.Key) {
	n, kind := 4, byte(offload.AddrIPv4)
	if t.IPv6 {
		n, kind = 16, offload.AddrIPv6
	}
	k.Get(offload.FieldEncAddrType)[0] = kind
	copy(k.Get(offload.FieldEncSrc), t.Src[:n])
	copy(k.Get(offload.FieldEncDst), t.Dst[:n])
	binary.BigEndian.PutUint32(k.Get(offload.FieldEncKeyID), t.KeyID)
	binary.BigEndian.PutUint16(k.Get(offload.FieldEncSrcPort), t.SrcPort)
	binary.BigEndian.PutUint16(k.Get(offload.FieldEncDstPort), t.DstPort)
	k.Get(offload.FieldEncTOS)[0] = t.TOS
	k.Get(offload.FieldEncTTL)[0] = t.TTL
	binary.LittleEndian.PutUint32(k.Get(offload.FieldEncFlags), t.Flags)
	if t.OptionKind != 0 {
		binary.LittleEndian.PutUint16(k.Get(offload.FieldEncOptKind), t.OptionKind)
		k.Get(offload.FieldEncOptLen)[0] = byte(copy(k.Get(offload.FieldEncOpt), t.Options))
	}
}

// run follows the headers.
func (d *dissector) run() {
	for {
		r := d.network()
		for r == stepNext || r == stepIPProto {
			if r == stepIPProto {
				if d.headers++; d.headers > maxHeaders {
					return
				}
			}
			r = d.transport()
			if d.flags&offload.FlagFragment == 0 {
				d.ports()
			}
			if r == stepNext {
				return
			}
		}
		if r != stepProto {
			return
		}
		if d.headers++; d.headers > maxHeaders {
			return
		}
	}
}

func (d *dissector) network() step {
	switch d.proto {
	case packet.TypeIPv4:
		return d.ipv4()
	case packet.TypeIPv6:
		return d.ipv6()
	case packet.TypeVLAN, packet.TypeSVLAN:
		return d.vlan()
	case packet.TypeMPLS, packet.TypeMPLSMC:
		return d.mpls()
	case packet.TypeARP, typeRARP:
		return d.arp()
	case packet.TypePPPoES:
		return d.pppoe()
	case typeCFM:
		return d.cfm()
	}
	return stepBad
}

const (
	typeRARP = 0x8035
	typeCFM  = 0x8902
)

func (d *dissector) bytes(at, n int) []byte {
	if !d.p.has(at, n) {
		return nil
	}
	return d.p.buf[at : at+n]
}

func (d *dissector) ipv4() step {
	h := d.bytes(d.at, 20)
	if h == nil || h[0]&15 < 5 {
		return stepBad
	}
	d.at += int(h[0]&15) * 4
	d.ipProto = h[9]
	if d.k != nil {
		copy(d.k.Get(offload.FieldSrc), h[12:16])
		clear(d.k.Get(offload.FieldSrc)[4:])
		copy(d.k.Get(offload.FieldDst), h[16:20])
		clear(d.k.Get(offload.FieldDst)[4:])
		d.k.Get(offload.FieldAddrType)[0] = offload.AddrIPv4
		d.k.Get(offload.FieldTOS)[0], d.k.Get(offload.FieldTTL)[0] = h[1], h[8]
	}
	frag := binary.BigEndian.Uint16(h[6:])
	if frag&0x3fff == 0 {
		return stepNext
	}
	d.flags |= offload.FlagFragment
	if frag&0x1fff == 0 {
		d.flags |= offload.FlagFirstFragment
	}
	return stepDone
}

func (d *dissector) ipv6() step {
	h := d.bytes(d.at, 40)
	if h == nil {
		return stepBad
	}
	d.at += 40
	d.ipProto = h[6]
	if d.k != nil {
		copy(d.k.Get(offload.FieldSrc), h[8:24])
		copy(d.k.Get(offload.FieldDst), h[24:40])
		d.k.Get(offload.FieldAddrType)[0] = offload.AddrIPv6
		d.k.Get(offload.FieldTOS)[0] = byte(binary.BigEndian.Uint16(h) >> 4)
		d.k.Get(offload.FieldTTL)[0] = h[7]
	}
	return stepNext
}

// vlan reads a tag: first the one in the metadata, then those in the frame.
func (d *dissector) vlan() step {
	tpid := d.proto
	var tci uint16
	if d.tags == 0 && d.p.VLAN.Present {
		tci, d.proto = d.p.VLAN.TCI, d.p.Protocol
	} else {
		h := d.bytes(d.at, vlanLen)
		if h == nil {
			return stepBad
		}
		tci, d.proto = binary.BigEndian.Uint16(h), binary.BigEndian.Uint16(h[2:])
		d.at += vlanLen
	}
	d.tags++
	if d.k == nil {
		return stepProto
	}
	d.k.Get(offload.FieldNumVLAN)[0]++
	switch d.tags {
	case 1:
		d.tag(offload.FieldVLANID, offload.FieldVLANPrio, offload.FieldVLANTPID, offload.FieldVLANType, tpid, tci)
	case 2:
		d.tag(offload.FieldCVLANID, offload.FieldCVLANPrio, offload.FieldCVLANTPID, offload.FieldCVLANType, tpid, tci)
	}
	return stepProto
}

func (d *dissector) tag(id, prio, proto, next offload.Field, tpid, tci uint16) {
	binary.BigEndian.PutUint16(d.k.Get(id), tci&0xfff)
	d.k.Get(prio)[0] = byte(tci >> 13)
	binary.BigEndian.PutUint16(d.k.Get(proto), tpid)
	binary.BigEndian.PutUint16(d.k.Get(next), d.proto)
}

func (d *dissector) mpls() step {
	h := d.bytes(d.at, 4)
	d.at += 4
	if d.k == nil || d.labels >= offload.MaxMPLS {
		return stepDone
	}
	if h == nil {
		return stepBad
	}
	copy(d.k.Get(offload.FieldMPLS)[4*d.labels:], h)
	d.k.Get(offload.FieldMPLSUsed)[0] |= 1 << d.labels
	d.labels++
	if h[2]&1 != 0 {
		return stepDone
	}
	return stepProto
}

func (d *dissector) arp() step {
	if d.k == nil {
		return stepDone
	}
	h := d.bytes(d.at, 28)
	if h == nil || h[0] != 0 || h[1] != 1 || h[2] != 8 || h[3] != 0 || h[4] != 6 || h[5] != 4 || h[6] != 0 || h[7] != 1 && h[7] != 2 {
		return stepBad
	}
	d.k.Get(offload.FieldARPOp)[0] = h[7]
	copy(d.k.Get(offload.FieldARPSHA), h[8:14])
	copy(d.k.Get(offload.FieldARPSIP), h[14:18])
	copy(d.k.Get(offload.FieldARPTHA), h[18:24])
	copy(d.k.Get(offload.FieldARPTIP), h[24:28])
	return stepDone
}

func (d *dissector) pppoe() step {
	h := d.bytes(d.at, 8)
	if h == nil || h[0] != 0x11 || h[1] != 0 {
		return stepBad
	}
	proto, size := binary.BigEndian.Uint16(h[6:]), 8
	if proto&0x100 != 0 { // a compressed protocol is one byte
		proto, size = proto>>8, 7
	}
	next := stepProto
	switch proto {
	case 0x21:
		d.proto = packet.TypeIPv4
	case 0x57:
		d.proto = packet.TypeIPv6
	case 0x281:
		d.proto = packet.TypeMPLS
	case 0x283:
		d.proto = packet.TypeMPLSMC
	default:
		next = stepDone
	}
	d.at += size
	if d.k != nil {
		copy(d.k.Get(offload.FieldPPPoESID), h[2:4])
		binary.BigEndian.PutUint16(d.k.Get(offload.FieldPPPProto), proto)
		binary.BigEndian.PutUint16(d.k.Get(offload.FieldPPPoEType), packet.TypePPPoES)
	}
	return next
}

func (d *dissector) cfm() step {
	h := d.bytes(d.at, 4)
	if h == nil {
		return stepBad
	}
	if d.k != nil {
		d.k.Get(offload.FieldCFMMdl)[0] = h[0] >> 5
		d.k.Get(offload.FieldCFMOp)[0] = h[1]
	}
	return stepDone
}
