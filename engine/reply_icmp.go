package engine

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"verdict/host"
	"verdict/packet"
)

// ICMP types. Ref: RFC 792.
const (
	icmpEchoReply      = 0
	icmpUnreachable    = 3
	icmpSourceQuench   = 4
	icmpRedirect       = 5
	icmpEcho           = 8
	icmpTimeExceeded   = 11
	icmpParameter      = 12
	icmpTimestamp      = 13
	icmpTimestampReply = 14
	icmpHighest        = 18
)

// quoted4 is how long the IP packet of an ICMP error may be.
// Ref: RFC 1812 §4.3.2.3.
const quoted4 = 576

// icmpError tells the sender of the packet why it went no further. Nothing is
// sent about broadcasts, fragments other than the first, and ICMP errors.
// Ref: net/ipv4/icmp.c, __icmp_send.
func (w *Worker) icmpError(typ, code uint8, rest uint32) {
	w.icmpErrorOn(typ, code, rest, w.way.route, MadeError)
}

// icmpErrorOn is icmpError for a packet whose destination has a known type:
// only where that is local, it is the answer's source.
func (w *Worker) icmpErrorOn(typ, code uint8, rest uint32, route host.RouteType, kind MadeKind) {
	v := &w.view
	if w.meta.PktType != packet.PktHost || route == host.RouteBroadcast || route == host.RouteMulticast || v.FragOff != 0 {
		return
	}
	if v.NetOff+20 > len(v.Data) || w.quotesError4() || w.journey.icmpBusy {
		return
	}
	h := v.Data[v.NetOff:]
	options, hop := w.echoOptions()
	if !hop.IsValid() {
		hop = v.SrcAddr()
	}
	to := w.engine.outputWay(hop, 0)
	if to.kind != wayForward || to.out == nil {
		return
	}
	from := v.DstAddr()
	if route != host.RouteLocal {
		from = w.engine.sourceTowards(hop, w.meta.IIF)
	} else if !w.engine.isLocal(from) {
		return
	}
	w.limit(to, v.SrcAddr())
	room := min(quoted4, to.out.mtu) - 20 - (len(options)+3)&^3 - 8
	quoted := v.Data[v.NetOff:min(v.End, len(v.Data))]
	body := make([]byte, 8, 8+room)
	body[0], body[1] = typ, code
	binary.BigEndian.PutUint32(body[4:], rest)
	body = append(body, quoted[:min(len(quoted), room)]...)
	const internetControl = 0xc0
	w.sendICMP(&answer{
		from: from, to: hop, protocol: packet.ProtoICMP, tos: h[1]&0x1e | internetControl,
		options: options, body: body, ct: w.ct.Answer(), kind: kind,
	}, to)
}

// sendICMP sends an ICMP message. While the host sends one it makes no other.
// Ref: net/ipv4/icmp.c, icmp_xmit_lock.
func (w *Worker) sendICMP(a *answer, to way) {
	w.journey.icmpBusy = true
	w.answerWith(a, to)
	w.journey.icmpBusy = false
}

// quotesError4 reports whether the packet is an ICMP error or of unknown type,
// about which no error is sent.
func (w *Worker) quotesError4() bool {
	v := &w.view
	if v.L4Proto != packet.ProtoICMP || !v.L4OK {
		return false
	}
	typ, ok := v.Load8(v.ThOff)
	return !ok || isError4(typ)
}

func isError4(typ uint8) bool {
	switch typ {
	case icmpUnreachable, icmpSourceQuench, icmpRedirect, icmpTimeExceeded, icmpParameter,
		1, 2, 6, 7, // types that were never assigned
		9, 10: // router discovery, which the kernel counts among them
		return true
	}
	return typ > icmpHighest
}

// echoOptions gives the options that an answer repeats: a recorded route, and a
// source route backwards, whose first hop then gets the answer.
// Ref: net/ipv4/ip_options.c, __ip_options_echo.
func (w *Worker) echoOptions() (options []byte, hop netip.Addr) {
	v := &w.view
	if !w.optionsRead || v.ThOff > len(v.Data) {
		return nil, hop
	}
	source := v.Data[v.NetOff+12 : v.NetOff+16]
	var record, route []byte
	in := v.Data[v.NetOff+20 : v.ThOff]
	for at := 0; at+1 < len(in) && in[at] != optionEnd; {
		if in[at] == optionNOP {
			at++
			continue
		}
		n := int(in[at+1])
		if n < 2 || at+n > len(in) {
			break
		}
		switch o := in[at : at+n]; o[0] {
		case optionRecordRoute:
			record = o
		case optionLooseRoute, optionStrictRoute:
			route, hop = backwards(o, source)
		}
		at += n
	}
	return append(append(options, record...), route...), hop
}

// backwards turns a source route that was used up around.
func backwards(o, source []byte) (route []byte, hop netip.Addr) {
	hops := (min(int(o[2]), len(o)+1) - 4) / 4
	if hops < 1 {
		return nil, hop
	}
	address := func(i int) []byte { return o[3+4*i : 7+4*i] }
	for i := hops - 2; i >= 0; i-- {
		route = append(route, address(i)...)
	}
	if bytes.Equal(address(0), source) {
		if len(route) == 0 {
			return nil, hop
		}
		route = route[:len(route)-4]
	}
	route = append(route, source...)
	hop = netip.AddrFrom4([4]byte(address(hops - 1)))
	return append([]byte{o[0], byte(len(route) + 3), 4}, route...), hop
}

// answerICMP answers a delivered ICMP message.
// Ref: net/ipv4/icmp.c, icmp_rcv, icmp_echo, icmp_timestamp.
func (w *Worker) answerICMP() {
	v := &w.view
	message := w.transport()
	if len(message) < 8 || !w.verified && packet.Fold(packet.Sum(0, message)) != 0xffff {
		return
	}
	if w.way.route == host.RouteBroadcast || w.way.route == host.RouteMulticast {
		return
	}
	var body []byte
	switch message[0] {
	case icmpEcho:
		body = append([]byte{icmpEchoReply}, message[1:]...)
	case icmpTimestamp:
		if len(message) < 12 {
			return
		}
		body = make([]byte, 20)
		copy(body, message[:12])
		body[0], body[1] = icmpTimestampReply, 0
		w.stampTime(body[12:]) // received
		w.stampTime(body[16:]) // sent
	default:
		return
	}
	options, hop := w.echoOptions()
	if !hop.IsValid() {
		hop = v.SrcAddr()
	}
	to := w.engine.outputWay(hop, 0)
	if to.kind != wayForward || to.out == nil || w.journey.icmpBusy {
		return
	}
	w.sendICMP(&answer{
		from: w.specificAddress(w.way), to: hop, protocol: packet.ProtoICMP, tos: v.Data[v.NetOff+1],
		options: options, body: body, kind: MadeReply, ct: noConnection(),
	}, to)
}

// stampTime writes milliseconds since midnight.
func (w *Worker) stampTime(b []byte) {
	const day = 86400 * 1e9
	binary.BigEndian.PutUint32(b, uint32(w.now%day/1e6))
}

// transport is the packet from its transport header to its end.
func (w *Worker) transport() []byte {
	v := &w.view
	end := min(v.End, len(v.Data))
	if !v.HasTransport() || v.ThOff > end {
		return nil
	}
	return v.Data[v.ThOff:end]
}

// whole reports whether the packet was captured to its end.
func (w *Worker) whole() bool { return w.view.End <= len(w.view.Data) }

// sourceOf is the answer's source where the packet itself may have had a
// group's address.
func sourceOf(a netip.Addr, other netip.Addr) netip.Addr {
	if a.IsMulticast() {
		return other
	}
	return a
}
