package tc

import (
	"encoding/binary"

	"verdict/offload"
	"verdict/packet"
)

const (
	protoL2TP = 115
	protoMPLS = 137
)

// transport handles one header behind the IP header.
//
// Ref: flow_dissector.c, __skb_flow_dissect, ip_proto_again
func (d *dissector) transport() step {
	switch d.ipProto {
	case packet.ProtoGRE, packet.ProtoIPIP, packet.ProtoIPv6:
		if !d.deep {
			return stepDone
		}
		return d.tunnel()
	case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts:
		return d.extension()
	case packet.ProtoFragment:
		return d.fragment()
	case protoMPLS:
		d.proto = packet.TypeMPLS
		return stepProto
	case packet.ProtoTCP:
		d.tcp()
	case packet.ProtoICMP, packet.ProtoICMPv6:
		d.icmp()
	case packet.ProtoESP:
		d.spi(0)
	case packet.ProtoAH:
		d.spi(4)
	case protoL2TP:
		if h := d.bytes(d.at, 4); h != nil && d.k != nil {
			copy(d.k.Get(offload.FieldL2TPv3SID), h)
		}
	}
	return stepNext
}

func (d *dissector) extension() step {
	if d.proto != packet.TypeIPv6 {
		return stepNext
	}
	h := d.bytes(d.at, 2)
	if h == nil {
		return stepBad
	}
	d.ipProto = h[0]
	d.at += (int(h[1]) + 1) << 3
	return stepIPProto
}

func (d *dissector) fragment() step {
	if d.proto != packet.TypeIPv6 {
		return stepNext
	}
	h := d.bytes(d.at, 8)
	if h == nil {
		return stepBad
	}
	d.flags |= offload.FlagFragment
	d.at += 8
	d.ipProto = h[0]
	if binary.BigEndian.Uint16(h[2:])&0xfff8 == 0 {
		d.flags |= offload.FlagFirstFragment
	}
	return stepDone
}

func (d *dissector) tcp() {
	h := d.bytes(d.at, 20)
	if h == nil || h[12]>>4 < 5 || d.k == nil {
		return
	}
	binary.BigEndian.PutUint16(d.k.Get(offload.FieldTCPFlags), binary.BigEndian.Uint16(h[12:])&0xfff)
}

func (d *dissector) icmp() {
	if h := d.bytes(d.at, 8); h != nil && d.k != nil {
		d.k.Get(offload.FieldICMPType)[0], d.k.Get(offload.FieldICMPCode)[0] = h[0], h[1]
	}
}

func (d *dissector) spi(off int) {
	if h := d.bytes(d.at+off, 4); h != nil && d.k != nil {
		copy(d.k.Get(offload.FieldSPI), h)
	}
}

// ports reads the ports of the protocols that have them.
func (d *dissector) ports() {
	off := 0
	switch d.ipProto {
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoDCCP, packet.ProtoESP, packet.ProtoSCTP, packet.ProtoUDPLite:
	case packet.ProtoAH:
		off = 4
	default:
		return
	}
	h := d.bytes(d.at+off, 4)
	if h == nil || d.k == nil {
		return
	}
	copy(d.k.Get(offload.FieldSrcPort), h[:2])
	copy(d.k.Get(offload.FieldDstPort), h[2:])
	copy(d.k.Get(offload.FieldRangeSrc), h[:2])
	copy(d.k.Get(offload.FieldRangeDst), h[2:])
}

// tunnel goes into an encapsulated packet, for the transport header's sake.
func (d *dissector) tunnel() step {
	switch d.ipProto {
	case packet.ProtoIPIP:
		d.proto = packet.TypeIPv4
		return stepProto
	case packet.ProtoIPv6:
		d.proto = packet.TypeIPv6
		return stepProto
	}
	h := d.bytes(d.at, 4)
	if h == nil {
		return stepBad
	}
	flags := binary.BigEndian.Uint16(h)
	if flags&0x4000 != 0 || flags&7 > 1 { // routing, or a version that is not known
		return stepDone
	}
	size := 4
	for _, bit := range []uint16{0x8000, 0x2000, 0x1000} {
		if flags&bit != 0 {
			size += 4
		}
	}
	if flags&7 == 1 {
		return stepDone
	}
	d.proto = binary.BigEndian.Uint16(h[2:])
	d.at += size
	if d.proto == 0x6558 { // transparent Ethernet bridging
		eth := d.bytes(d.at, ethLen)
		if eth == nil {
			return stepBad
		}
		d.proto = binary.BigEndian.Uint16(eth[12:])
		d.at += ethLen
	}
	return stepProto
}

// probeTransport finds where the transport header starts, looking into
// tunnels; -1 where the packet cannot be dissected.
//
// Ref: skbuff.h, skb_probe_transport_header
func (p *Packet) probeTransport() int {
	d := dissector{p: p, at: p.net, proto: p.Protocol, deep: true}
	for {
		r := d.network()
		for r == stepNext || r == stepIPProto {
			if r == stepIPProto {
				d.headers++
			}
			if r = d.transport(); r == stepNext {
				return min(d.at, p.tail)
			}
		}
		d.headers++
		switch {
		case r == stepBad:
			return -1
		case r == stepDone || d.headers > maxHeaders:
			return min(d.at, p.tail)
		}
	}
}
