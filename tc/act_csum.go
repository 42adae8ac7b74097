package tc

import (
	"encoding/binary"
	"strings"

	"verdict/offload"
	"verdict/packet"
)

// csum makes checksums right.
type csum struct{ headers uint8 }

const (
	csumIP4 = 1 << iota
	csumICMP
	csumIGMP
	csumTCP
	csumUDP
	csumUDPLite
	csumSCTP
)

var csumNames = []string{"iph", "icmp", "igmp", "tcp", "udp", "udplite", "sctp"}

var csumWords = []struct {
	word string
	bit  uint8
}{
	{"iph", csumIP4}, {"ip4h", csumIP4}, {"ipv4h", csumIP4}, {"icmp", csumICMP}, {"igmp", csumIGMP}, {"tcp", csumTCP},
	{"udp", csumUDP}, {"udplite", csumUDPLite}, {"sctp", csumSCTP}, {"SWEETS", 0x7f},
}

var kindCsum = &actionKind{name: "csum", parse: parseCsum}

func parseCsum(w *words, _ *System) (*actionRequest, *ToolError) {
	if err := expect(w, "csum"); err != nil {
		return nil, err
	}
	c := &csum{}
	r := &actionRequest{params: c}
	for w.more() {
		bit := uint8(0)
		for _, known := range csumWords {
			if w.is(known.word) {
				bit = known.bit
			}
		}
		if bit == 0 && !(w.is("and") && c.headers != 0) {
			break
		}
		c.headers |= bit
		w.skip()
	}
	if c.headers == 0 && !w.matches("index") {
		return nil, tool("Illegal \"csum\" (%s)", w.peek())
	}
	r.lookup = c.headers == 0
	return r, r.finish(w, "csum", OK)
}

// run finds the IP header behind all tags and updates checksums.
//
// Ref: act_csum.c, tcf_csum_act
func (c *csum) run(_ *System, p *Packet, a *Action) Code {
	a.count(p)
	if a.Control == Shot {
		return a.drop()
	}
	proto, net := p.Protocol, p.net
	for isVLAN(proto) {
		if !p.has(net, vlanLen) {
			return a.drop()
		}
		proto = binary.BigEndian.Uint16(p.buf[net+2:])
		net += vlanLen
	}
	ok := true
	switch proto {
	case packet.TypeIPv4:
		ok = c.ipv4(p, net)
	case packet.TypeIPv6:
		ok = c.ipv6(p, net)
	}
	if !ok {
		return a.drop()
	}
	return a.Control
}

// write gives the packet's own bytes and moves the position along.
func (p *Packet) write(at int) ([]byte, int) {
	rel := at - p.mac
	p.touch()
	return p.buf, p.mac + rel
}

func (c *csum) ipv4(p *Packet, net int) bool {
	if !p.has(net, 20) {
		return false
	}
	h := p.buf[net:]
	proto := h[9]
	if binary.BigEndian.Uint16(h[6:])&0x1fff != 0 {
		proto = 0
	}
	ihl, total := int(h[0]&15)*4, int(binary.BigEndian.Uint16(h[2:]))
	sum := func(n int) uint32 { return packet.PseudoHeader4(h[12:16], h[16:20], proto, n) }
	if !c.transport(p, net, ihl, total, proto, sum) {
		return false
	}
	if c.headers&csumIP4 != 0 {
		b, at := p.write(net)
		n := min(ihl, p.tail-at)
		binary.BigEndian.PutUint16(b[at+10:], 0)
		binary.BigEndian.PutUint16(b[at+10:], ^packet.Fold(packet.Sum(0, b[at:at+n])))
	}
	return true
}

func (c *csum) ipv6(p *Packet, net int) bool {
	if !p.has(net, 40) {
		return false
	}
	h := p.buf[net:]
	next, at, total := h[6], 40, 40+int(binary.BigEndian.Uint16(h[4:]))
	for {
		switch next {
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts:
			if !p.has(net+at, 8) {
				return false
			}
			length := (int(h[at+1]) + 1) * 8
			if !p.has(net+at, length) {
				return false
			}
			next = h[at]
			at += length
			if !p.has(net+at, 1) {
				return true
			}
			continue
		}
		proto := next
		sum := func(n int) uint32 { return packet.PseudoHeader6(h[8:24], h[24:40], proto, n) }
		return c.transport(p, net, at, total, proto, sum)
	}
}

// transport updates the checksum of a transport header at off behind the
// network header, in a packet of a total length. It reports false where the
// header is not there.
func (c *csum) transport(p *Packet, net, off, total int, proto uint8, pseudo func(int) uint32) bool {
	bit, header, field := uint8(0), 8, 6
	switch proto {
	case packet.ProtoICMP:
		bit, header, field = csumICMP, 8, 2
	case packet.ProtoICMPv6:
		bit, header, field = csumICMP, 8, 2
	case packet.ProtoIGMP:
		bit, header, field = csumIGMP, 8, 2
	case packet.ProtoTCP:
		bit, header, field = csumTCP, 20, 16
	case packet.ProtoUDP:
		bit = csumUDP
	case packet.ProtoUDPLite:
		bit = csumUDPLite
	case packet.ProtoSCTP:
		bit, header = csumSCTP, 12
	}
	six := off >= 40 && p.Protocol != packet.TypeIPv4 && p.buf[net]>>4 == 6
	if bit == 0 || c.headers&bit == 0 || six && (proto == packet.ProtoICMP || proto == packet.ProtoIGMP) || !six && proto == packet.ProtoICMPv6 {
		return true
	}
	if !p.has(net, total) || total < off+header {
		return false
	}
	b, at := p.write(net)
	at += off
	segment := b[at : at+total-off]
	sum := uint32(0)
	switch proto {
	case packet.ProtoSCTP:
		binary.LittleEndian.PutUint32(segment[8:], packet.SCTPChecksum(segment))
		return true
	case packet.ProtoUDP, packet.ProtoUDPLite:
		return csumDatagram(segment, proto, pseudo)
	case packet.ProtoTCP, packet.ProtoICMPv6:
		sum = pseudo(len(segment))
	}
	binary.BigEndian.PutUint16(segment[field:], 0)
	binary.BigEndian.PutUint16(segment[field:], ^packet.Fold(packet.Sum(sum, segment)))
	return true
}

// csumDatagram updates UDP and UDP-Lite, whose length field counts. A datagram
// without checksum keeps none; one whose length does not fit loses its own.
//
// Ref: act_csum.c, tcf_csum_ipv4_udp
func csumDatagram(segment []byte, proto uint8, pseudo func(int) uint32) bool {
	lite := proto == packet.ProtoUDPLite
	if !lite && segment[6] == 0 && segment[7] == 0 {
		return true
	}
	length := int(binary.BigEndian.Uint16(segment[4:]))
	segment[6], segment[7] = 0, 0
	covered := segment
	switch {
	case !lite && length != len(segment), lite && length != 0 && (length < 8 || length > len(segment)):
		return true
	case lite && length != 0:
		covered = segment[:length]
	}
	sum := ^packet.Fold(packet.Sum(pseudo(length), covered))
	if sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(segment[6:], sum)
	return true
}

func (c *csum) show(o *printer, a *Action) {
	var names []string
	for i, n := range csumNames {
		if c.headers>>i&1 != 0 {
			names = append(names, n)
		}
	}
	o.put("kind", "%s ", "csum")
	o.put("csum", "(%s) ", strings.Join(names, ", "))
	showControl(o, "action ", a.Control, "")
	a.showIndex(o, "\t")
}

func (c *csum) flow(*Action) ([]offload.Action, error) { return one(offload.ActCsum), nil }
