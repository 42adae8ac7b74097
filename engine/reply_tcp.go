package engine

import (
	"encoding/binary"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/host"
	"verdict/packet"
)

// noConnection is the attachment of a packet that is tracked on its own.
func noConnection() conntrack.Attachment { return conntrack.Attachment{Info: conntrack.InfoNone} }

// consume4 is what the host does with an IPv4 packet that input let through:
// it answers what no socket takes.
// Ref: net/ipv4/ip_input.c, ip_protocol_deliver_rcu.
func (w *Worker) consume4() {
	v := &w.view
	if !v.L4OK || v.FragOff != 0 {
		return
	}
	switch v.L4Proto {
	case packet.ProtoICMP:
		w.answerICMP()
	case packet.ProtoTCP:
		w.refuseTCP(v.ThOff, MadeReset)
	case packet.ProtoUDP, packet.ProtoUDPLite:
		w.refuseUDP(catalog.FamilyIP, v.ThOff, v.L4Proto)
	case packet.ProtoIGMP:
	default:
		w.icmpError(icmpUnreachable, unreachableProtocol, 0)
	}
}

// TCP flags.
const (
	tcpFIN = 0x01
	tcpSYN = 0x02
	tcpRST = 0x04
	tcpACK = 0x10
)

// segment is the TCP header that a reset answers.
type segment struct {
	header []byte // the segment, captured whole
	length int    // payload
}

// readSegment checks a TCP segment; ok is false where it gets no answer.
func (w *Worker) readSegment(at int) (s segment, ok bool) {
	v := &w.view
	end := min(v.End, len(v.Data))
	if at+20 > end || !w.whole() {
		return s, false
	}
	s.header = v.Data[at:end]
	size := int(s.header[12]>>4) * 4
	if s.header[13]&tcpRST != 0 {
		return s, false
	}
	s.length = len(s.header) - size
	return s, size >= 20 || w.view.Position == packet.PositionIP
}

// reset is the TCP header that refuses a segment.
// Ref: RFC 9293 §3.10.7.1.
func (s *segment) reset() []byte {
	in := s.header
	b := make([]byte, 20)
	copy(b[0:2], in[2:4])
	copy(b[2:4], in[0:2])
	b[12] = 5 << 4
	if in[13]&tcpACK != 0 {
		copy(b[4:8], in[8:12])
		b[13] = tcpRST
		return b
	}
	ack := binary.BigEndian.Uint32(in[4:]) + uint32(s.length)
	ack += uint32(in[13]&tcpFIN) + uint32(in[13]&tcpSYN>>1)
	binary.BigEndian.PutUint32(b[8:], ack)
	b[13] = tcpRST | tcpACK
	return b
}

// optionsFit reports whether the segment's options have lengths that fit, as far
// as a signature may follow: the look for one fails otherwise, and there is no
// answer.
// Ref: net/ipv4/tcp_input.c, tcp_do_parse_auth_options.
func (s *segment) optionsFit() bool {
	const signature = 18
	size := min(int(s.header[12]>>4)*4, len(s.header))
	for at := 20; size-at >= signature; {
		switch s.header[at] {
		case 0:
			return true
		case 1:
			at++
			continue
		}
		if s.header[at+1] < 2 || int(s.header[at+1]) > size-at {
			return false
		}
		at += int(s.header[at+1])
	}
	return true
}

// refuseTCP answers a segment to a closed port.
// Ref: net/ipv4/tcp_ipv4.c, tcp_v4_rcv, tcp_v4_send_reset; net/ipv6/tcp_ipv6.c.
func (w *Worker) refuseTCP(at int, kind MadeKind) {
	if w.meta.PktType != packet.PktHost || w.way.route != host.RouteLocal {
		return
	}
	s, ok := w.readSegment(at)
	if ok && !s.optionsFit() {
		return
	}
	if !ok || s.header[12]>>4 < 5 || s.length < 0 || !w.verified && !w.transportSumOK(at, packet.ProtoTCP) {
		return
	}
	v := &w.view
	source := v.SrcAddr()
	options, hop := w.echoOptions()
	if hop.IsValid() {
		source = hop
	}
	to := w.engine.outputWay(source, int(w.meta.IIF.Index))
	if to.kind != wayForward || to.out == nil {
		return
	}
	a := &answer{
		from: v.DstAddr(), to: source, end: v.SrcAddr(), protocol: packet.ProtoTCP, df: true, body: s.reset(), kind: kind, options: options,
		priority: w.meta.Priority, bound: w.meta.IIF.Index, ct: noConnection(),
	}
	const ecn = 3
	if source.Is4() {
		a.tos = v.Data[v.NetOff+1] &^ ecn
	} else {
		a.tos = w.trafficClass() &^ ecn
	}
	w.answerWith(a, to)
}

// refuseUDP answers a datagram to a closed port.
// Ref: net/ipv4/udp.c, __udp4_lib_rcv; net/ipv6/udp.c.
func (w *Worker) refuseUDP(family catalog.Family, at int, protocol uint8) {
	v := &w.view
	end := min(v.End, len(v.Data))
	if at+8 > end || !w.whole() {
		return
	}
	datagram := v.Data[at:end]
	length := int(binary.BigEndian.Uint16(datagram[4:]))
	if length > len(datagram) || protocol == packet.ProtoUDP && length < 8 {
		return
	}
	if protocol == packet.ProtoUDP {
		datagram = datagram[:length]
	}
	sum := binary.BigEndian.Uint16(datagram[6:])
	if sum == 0 && (family == catalog.FamilyIP6 || protocol == packet.ProtoUDPLite) {
		return
	}
	if sum != 0 && !w.verified && !w.datagramSumOK(family, datagram, protocol) {
		return
	}
	w.trimTo(at + len(datagram))
	w.ct.Reset()
	if family == catalog.FamilyIP {
		w.icmpError(icmpUnreachable, unreachablePort, 0)
		return
	}
	w.icmp6Error(icmp6Unreachable, unreachable6Port, 0)
}

// trimTo cuts the packet's end off, which the datagram's length leaves out.
func (w *Worker) trimTo(end int) {
	v := &w.view
	if end >= v.End {
		return
	}
	v.Trim(end)
}

// datagramSumOK verifies a UDP or UDP-Lite checksum.
func (w *Worker) datagramSumOK(family catalog.Family, datagram []byte, protocol uint8) bool {
	covered := datagram
	if protocol == packet.ProtoUDPLite {
		n := int(binary.BigEndian.Uint16(datagram[4:]))
		if n != 0 && n < 8 {
			return false
		}
		if n != 0 {
			covered = datagram[:n]
		}
	}
	h := w.view.Data[w.view.NetOff:]
	pseudo := uint32(0)
	if family == catalog.FamilyIP6 {
		pseudo = packet.PseudoHeader6(h[8:24], h[24:40], protocol, len(datagram))
	} else {
		pseudo = packet.PseudoHeader4(h[12:16], h[16:20], protocol, len(datagram))
	}
	return packet.Fold(packet.Sum(pseudo, covered)) == 0xffff
}

// transportSumOK verifies a checksum that covers pseudo header and transport
// data.
func (w *Worker) transportSumOK(at int, protocol uint8) bool {
	v := &w.view
	data := v.Data[at:min(v.End, len(v.Data))]
	if v.EtherType == packet.TypeIPv6 {
		return w.sumOK6(data, protocol)
	}
	h := v.Data[v.NetOff:]
	return packet.Fold(packet.Sum(packet.PseudoHeader4(h[12:16], h[16:20], protocol, len(data)), data)) == 0xffff
}
