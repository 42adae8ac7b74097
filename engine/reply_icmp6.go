package engine

import (
	"encoding/binary"
	"net/netip"

	"verdict/catalog"
	"verdict/host"
	"verdict/packet"
)

// ICMPv6 types and codes. Ref: RFC 4443.
const (
	icmp6Unreachable  = 1
	icmp6TooBig       = 2
	icmp6TimeExceeded = 3
	icmp6Parameter    = 4
	icmp6Echo         = 128
	icmp6EchoReply    = 129
	icmp6Redirect     = 137

	parameter6Field = packet.ProblemField
	parameter6Next  = 1 // unknown next header
	parameter6Chain = 3 // first fragment without all headers
)

// minMTU6 is the size up to which an ICMPv6 error may quote.
const minMTU6 = 1280

// icmp6Error tells the sender of an IPv6 packet why it went no further.
// Ref: net/ipv6/icmp.c, icmp6_send.
func (w *Worker) icmp6Error(typ, code uint8, rest uint32) {
	w.icmp6ErrorOf(typ, code, rest, MadeError)
}

func (w *Worker) icmp6ErrorOf(typ, code uint8, rest uint32, kind MadeKind) {
	v := &w.view
	source, destination := v.SrcAddr(), v.DstAddr()
	if w.journey.icmp6Busy || !source.IsValid() || source.IsUnspecified() || source.IsMulticast() || w.quotesError6() {
		return
	}
	if (destination.IsMulticast() || w.meta.PktType != packet.PktHost) && typ != icmp6TooBig && !w.mustReport(typ, code, rest) {
		return
	}
	bound := w.scopeDevice()
	to := w.engine.outputWay(source, int(bound))
	if to.kind != wayForward || to.out == nil {
		return
	}
	if to.route == host.RouteAnycast {
		return
	}
	if typ != icmp6TooBig {
		w.limit(to, source)
	}
	from := destination
	if !w.engine.isLocal(destination) || destination.IsMulticast() {
		from = w.engine.errorSource6(source, to.out.meta, w.arrivedBy())
	}
	quoted := v.Data[v.NetOff:min(v.End, len(v.Data))]
	room := minMTU6 - 40 - 8
	body := make([]byte, 8, 8+room)
	body[0], body[1] = typ, code
	binary.BigEndian.PutUint32(body[4:], rest)
	body = append(body, quoted[:min(len(quoted), room)]...)
	w.sendICMP6(&answer{
		from: from, to: source, protocol: packet.ProtoICMPv6,
		body: body, ct: w.ct.Answer(), kind: kind, bound: bound,
	}, to)
}

// mustReport tells unknown options that are reported even where the packet was
// for many.
// Ref: net/ipv6/icmp.c, opt_unrec.
func (w *Worker) mustReport(typ, code uint8, pointer uint32) bool {
	if typ != icmp6Parameter || code != packet.ProblemOption {
		return false
	}
	option, ok := w.view.Load8(w.view.NetOff + int(pointer))
	return ok && option>>6 == 2
}

// optionProblem tells the sender of a packet that its options are refused, as
// packet.View.OptionProblem says.
func (w *Worker) optionProblem(offset int) {
	if !w.engine.options.Replies || w.view.EtherType != packet.TypeIPv6 || w.meta.PktType == packet.PktOtherHost {
		return
	}
	if code, pointer, found := w.view.OptionProblem(offset, w.rxDevice().loopback); found {
		w.icmp6Error(icmp6Parameter, code, uint32(pointer))
	}
}

// sendICMP6 sends an ICMPv6 message. While the host sends one it makes no
// other, redirects apart.
// Ref: net/ipv6/icmp.c, icmpv6_xmit_lock.
func (w *Worker) sendICMP6(a *answer, to way) {
	w.journey.icmp6Busy = true
	w.answerWith(a, to)
	w.journey.icmp6Busy = false
}

// scopeDevice is the device that link-local addresses of the packet belong to;
// of what the host sent to itself, that of the destination.
// Ref: net/ipv6/icmp.c, icmp6_dev.
func (w *Worker) scopeDevice() uint32 {
	if !w.rxDevice().loopback {
		return w.meta.IIF.Index
	}
	route, ok := w.engine.host.Route(w.view.DstAddr())
	if !ok {
		return w.meta.IIF.Index
	}
	return uint32(route.Interface)
}

// arrivedBy is the device by which the packet came in, or the one that it is a
// clone of.
func (w *Worker) arrivedBy() packet.Device {
	if w.cameBy.Exists() {
		return w.cameBy
	}
	return w.meta.IIF
}

// errorSource6 is the source of an error about a packet that was for others: an
// address of the device that the packet came in by.
// Ref: net/ipv6/icmp.c, icmp6_send.
func (e *Engine) errorSource6(to netip.Addr, out, in packet.Device) netip.Addr {
	if in.Exists() {
		out = in
	}
	a, _ := e.sourceAddress6(out, to)
	return a
}

// quotesError6 reports whether the packet is an ICMPv6 error, about which no
// error is sent.
// Ref: net/ipv6/icmp.c, is_ineligible.
func (w *Worker) quotesError6() bool {
	at, protocol, _, ok := w.lastHeader6()
	if !ok || protocol != packet.ProtoICMPv6 {
		return false
	}
	if at >= len(w.view.Data) {
		return true
	}
	typ := w.view.Data[at]
	return typ < icmp6Echo
}

// lastHeader6 walks the extension headers to the transport header; field is
// where its number stands, counted from the IP header.
// Ref: net/ipv6/exthdrs_core.c, ipv6_skip_exthdr.
func (w *Worker) lastHeader6() (at int, protocol uint8, field int, ok bool) {
	v := &w.view
	data := v.Data[:min(v.End, len(v.Data))]
	if v.NetOff+40 > len(data) {
		return 0, 0, 0, false
	}
	field = v.NetOff + 6
	at, protocol = v.NetOff+40, data[field]
	for {
		size := 0
		switch protocol {
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts:
			if at+2 > len(data) {
				return 0, 0, 0, false
			}
			size = 8 + 8*int(data[at+1])
		case packet.ProtoFragment:
			if at+8 > len(data) {
				return 0, 0, 0, false
			}
			if binary.BigEndian.Uint16(data[at+2:])&^7 != 0 {
				return at, protocol, field - v.NetOff, true
			}
			size = 8
		case packet.ProtoAH:
			if at+2 > len(data) {
				return 0, 0, 0, false
			}
			size = 8 + 4*int(data[at+1])
		default:
			return at, protocol, field - v.NetOff, true
		}
		field, protocol = at, data[at]
		at += size
	}
}

// answerICMP6 answers a delivered ICMPv6 message.
// Ref: net/ipv6/icmp.c, icmpv6_rcv, icmpv6_echo_reply.
func (w *Worker) answerICMP6(at int) {
	v := &w.view
	message := v.Data[at:min(v.End, len(v.Data))]
	source, destination := v.SrcAddr(), v.DstAddr()
	if w.journey.icmp6Busy || len(message) < 8 || !w.verified && !w.sumOK6(message, packet.ProtoICMPv6) || message[0] != icmp6Echo {
		return
	}
	bound := w.meta.IIF.Index
	to := w.engine.outputWay(source, int(bound))
	if to.kind != wayForward || to.out == nil || source.IsUnspecified() || source.IsMulticast() {
		return
	}
	from := sourceOf(destination, w.engine.sourceTowards(source, w.meta.IIF))
	body := append([]byte{icmp6EchoReply}, message[1:]...)
	w.sendICMP6(&answer{
		from: from, to: source, protocol: packet.ProtoICMPv6, tos: w.trafficClass(),
		body: body, kind: MadeReply, bound: bound, ct: noConnection(),
	}, to)
}

// trafficClass reads the IPv6 header's traffic class.
func (w *Worker) trafficClass() uint8 {
	h := w.view.Data[w.view.NetOff:]
	return h[0]<<4 | h[1]>>4
}

// sumOK6 verifies a transport checksum.
func (w *Worker) sumOK6(segment []byte, protocol uint8) bool {
	h := w.view.Data[w.view.NetOff:]
	return packet.Fold(packet.Sum(packet.PseudoHeader6(h[8:24], h[24:40], protocol, len(segment)), segment)) == 0xffff
}

// segmentRouting is the routing header that no interface accepts unless told so.
// Ref: net/ipv6/exthdrs.c, ipv6_srh_rcv; RFC 8754.
const segmentRouting = 4

// consume6 is what the host does with an IPv6 packet that input let through:
// it walks the extension headers and answers what no socket takes.
// Ref: net/ipv6/ip6_input.c, ip6_protocol_deliver_rcu.
func (w *Worker) consume6() {
	at, protocol, field, ok := w.extensions6()
	if !ok {
		return
	}
	destination := w.view.DstAddr()
	if destination.IsMulticast() && protocol != packet.ProtoICMPv6 {
		return
	}
	switch protocol {
	case packet.ProtoTCP:
		w.refuseTCP(at, MadeReset)
	case packet.ProtoUDP, packet.ProtoUDPLite:
		w.refuseUDP(catalog.FamilyIP6, at, protocol)
	case packet.ProtoICMPv6:
		w.answerICMP6(at)
	case packet.ProtoNoNext, packet.ProtoFragment:
	default:
		w.icmp6Error(icmp6Parameter, parameter6Next, uint32(field))
	}
}

// extensions6 judges the extension headers of a delivered packet and finds what
// follows them; field is where its number stands.
func (w *Worker) extensions6() (at int, protocol uint8, field int, ok bool) {
	v := &w.view
	if v.MoreFragments && v.FragOff == 0 {
		if at, _, _, ok := w.fragment6(); ok && !w.headersWhole(v.Data[:min(v.End, len(v.Data))], at) {
			w.icmp6Error(icmp6Parameter, parameter6Chain, 0)
			return 0, 0, 0, false
		}
	}
	if !w.joinLocal() {
		w.out.Fate = Accepted
		return 0, 0, 0, false
	}
	data := v.Data[:min(v.End, len(v.Data))]
	field, at = v.NetOff+6, v.NetOff+40
	for {
		protocol = data[field]
		size := 8
		switch protocol {
		case packet.ProtoHopByHop:
			if field != v.NetOff+6 || !w.hopRead {
				return at, protocol, field - v.NetOff, true // known where it came first only
			}
			if at+8 > len(data) {
				return 0, 0, 0, false
			}
			size += 8 * int(data[at+1])
		case packet.ProtoDestOpts, packet.ProtoRouting:
			if at+8 > len(data) || at+8+8*int(data[at+1]) > len(data) {
				return 0, 0, 0, false
			}
			size += 8 * int(data[at+1])
			header := data[at : at+size]
			switch {
			case protocol == packet.ProtoDestOpts && !v.ValidOptions(header):
				w.optionProblem(at)
				return 0, 0, 0, false
			case protocol == packet.ProtoRouting && header[2] == segmentRouting:
				return 0, 0, 0, false
			case protocol == packet.ProtoRouting && header[3] != 0:
				w.icmp6Error(icmp6Parameter, parameter6Field, uint32(at+2-v.NetOff))
				return 0, 0, 0, false
			}
		case packet.ProtoFragment:
			if at+8 > len(data) {
				return 0, 0, 0, false
			}
		default:
			return at, protocol, field - v.NetOff, true
		}
		field, at = at, at+size
	}
}

// fragment6 finds the fragment header.
func (w *Worker) fragment6() (at int, protocol uint8, field int, ok bool) {
	v := &w.view
	data := v.Data[:min(v.End, len(v.Data))]
	field, at = v.NetOff+6, v.NetOff+40
	for at+8 <= len(data) {
		switch data[field] {
		case packet.ProtoFragment:
			return at, data[at], field, true
		case packet.ProtoHopByHop, packet.ProtoDestOpts, packet.ProtoRouting:
			field, at = at, at+8+8*int(data[at+1])
		default:
			return 0, 0, 0, false
		}
	}
	return 0, 0, 0, false
}

// headersWhole reports whether the first fragment, whose fragment header is at
// an offset, holds the transport header.
// Ref: net/ipv6/reassembly.c, ipv6frag_thdr_truncated; RFC 7112.
func (w *Worker) headersWhole(data []byte, at int) bool {
	protocol, at := data[at], at+8
	for at+2 <= len(data) {
		switch protocol {
		case packet.ProtoHopByHop, packet.ProtoDestOpts, packet.ProtoRouting:
			protocol, at = data[at], at+8+8*int(data[at+1])
			continue
		}
		break
	}
	need := 1
	switch protocol {
	case packet.ProtoTCP:
		need = 20
	case packet.ProtoUDP, packet.ProtoICMPv6:
		need = 8
	}
	return at+need <= len(data)
}
