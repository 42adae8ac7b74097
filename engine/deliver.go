package engine

import (
	"encoding/binary"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/host"
	"verdict/packet"
)

// routeKnown takes a received packet on by the host's routes.
func (w *Worker) routeKnown(family catalog.Family, lists *[5]*hookList) {
	d := w.rxDevice()
	to := w.engine.inputWay(w.view.SrcAddr(), w.view.DstAddr(), d)
	w.way = to
	if (to.kind != wayRefused || to.answers) && family == catalog.FamilyIP && !w.options4(to) {
		return
	}
	if to.kind == wayRefused {
		w.refuse(family, to)
		return
	}
	if to.kind == wayDeliver {
		w.deliverLocal(family, lists)
		return
	}
	w.forward(family, lists, to)
}

// refuse ends the way of a packet that the routes refuse, telling its sender
// where the route says so.
// Ref: net/ipv4/route.c, ip_error; net/ipv6/route.c, ip6_pkt_drop.
func (w *Worker) refuse(family catalog.Family, to way) {
	if to.answers && w.engine.options.Replies {
		if family == catalog.FamilyIP {
			if w.engine.peer(w.view.SrcAddr(), w.now).allow(w.now, second, errorBurst) {
				w.icmpError(icmpUnreachable, to.code, 0)
			}
		} else {
			w.icmp6Error(icmp6Unreachable, to.code, 0)
		}
	}
	w.lost(to.reason)
}

// deliverLocal takes a packet through input to the host itself, which answers.
// Fragments are put together first: IPv4 ahead of the hook, IPv6 behind it.
// Ref: net/ipv4/ip_input.c, ip_local_deliver; net/ipv6/ip6_input.c.
func (w *Worker) deliverLocal(family catalog.Family, lists *[5]*hookList) {
	if family == catalog.FamilyIP && !w.joinLocal() {
		return
	}
	if !w.hook(family, catalog.HookInput, lists[catalog.HookInput]) {
		return
	}
	if !w.engine.options.Replies {
		return
	}
	if family == catalog.FamilyIP {
		w.consume4()
		return
	}
	w.consume6()
}

// joinLocal collects fragments that nobody joined before; it reports false for
// a packet that waits for others.
func (w *Worker) joinLocal() bool {
	v := &w.view
	if v.FragOff == 0 && !v.MoreFragments || v.Validity != packet.Valid {
		return true
	}
	held := w.ct
	w.ct = conntrack.Attachment{Info: conntrack.InfoNone}
	w.track.Now = w.now
	result, _ := w.engine.localDefrag.Collect(&w.track, conntrack.FragmentPlace{}, &w.meta.Mark, &w.buffer)
	w.ct = held
	switch result {
	case conntrack.Collected:
		w.lost("it is a fragment of a datagram that is not complete yet")
		return false
	case conntrack.FragmentDropped:
		w.lost("its datagram's fragments do not fit together")
		return false
	}
	return true
}

// deliverLooped receives a packet that the host sent to itself; its route is
// known already.
func (w *Worker) deliverLooped() {
	family := w.family()
	if family == catalog.FamilyUnspec {
		return
	}
	lists := w.lists(family)
	before := w.view.DstAddr()
	if !w.hook(family, catalog.HookPrerouting, lists[catalog.HookPrerouting]) {
		return
	}
	if w.view.DstAddr() != before {
		w.routeKnown(family, lists)
		return
	}
	w.deliverLocal(family, lists)
}

// forward takes a packet through forward and out.
// Ref: net/ipv4/ip_forward.c, ip_forward; net/ipv6/ip6_output.c, ip6_forward.
func (w *Worker) forward(family catalog.Family, lists *[5]*hookList, to way) {
	if w.meta.PktType != packet.PktHost {
		w.lost("it came as a link-layer broadcast, which is not forwarded")
		return
	}
	if !w.mayForward(family, to) {
		return
	}
	w.depart(to.out)
	if !w.hook(family, catalog.HookForward, lists[catalog.HookForward]) {
		return
	}
	w.recordOutgoing(to)
	if !w.engine.options.Replies {
		w.post(family, lists)
		return
	}
	w.leaveHost(family)
}

// mayForward makes the checks and changes of forwarding.
func (w *Worker) mayForward(family catalog.Family, to way) bool {
	v := &w.view
	w.prioritize()
	if w.expired() {
		w.tellExpired(family)
		w.lost("its time to live is over")
		return false
	}
	if family == catalog.FamilyIP6 && !w.mayForward6(to) {
		return false
	}
	size := v.NetLen
	if w.reassembly != nil {
		size = w.reassembly.MaxSize
	}
	if size > to.out.mtu && w.dontFragment() && w.engine.options.Replies {
		w.tooBig(family)
		w.lost("it is larger than the device takes")
		return false
	}
	w.decrementTTL()
	return true
}

// expired reports whether the packet may make no further hop.
func (w *Worker) expired() bool {
	v := &w.view
	at := v.NetOff + 8
	if v.EtherType == packet.TypeIPv6 {
		at = v.NetOff + 7
	}
	ttl, ok := v.Load8(at)
	return ok && ttl <= 1
}

// tellExpired tells the sender that the packet's time is over.
func (w *Worker) tellExpired(family catalog.Family) {
	switch {
	case !w.engine.options.Replies:
	case family == catalog.FamilyIP:
		w.icmpError(icmpTimeExceeded, 0, 0)
	default:
		w.icmp6Error(icmp6TimeExceeded, 0, 0)
	}
}

// mayForward6 checks the source, which must be a single global node.
func (w *Worker) mayForward6(to way) bool {
	source := w.view.SrcAddr()
	if w.engine.options.Replies && to.out.meta.Index == w.meta.IIF.Index && !w.hasRouting6() {
		w.redirect6(to)
		return true
	}
	switch {
	case source.IsUnspecified(), source.IsMulticast(), source.IsLoopback():
		w.lost("its source address can be no sender's")
		return false
	case source.IsLinkLocalUnicast():
		if w.engine.options.Replies {
			w.icmp6Error(icmp6Unreachable, unreachable6Scope, 0)
		}
		w.lost("its source address does not leave the link")
		return false
	}
	return true
}

// tooBig tells the sender what the device takes.
func (w *Worker) tooBig(family catalog.Family) {
	mtu := uint32(w.way.out.mtu)
	if family == catalog.FamilyIP {
		w.icmpError(icmpUnreachable, unreachableFragment, mtu)
		return
	}
	w.icmp6Error(icmp6TooBig, 0, mtu)
}

// options4 acts on the options of an IPv4 header, which every receiver does
// behind its routing decision. It reports false where they end the packet's
// way.
// Ref: net/ipv4/ip_input.c, ip_rcv_options; ip_options.c, __ip_options_compile.
func (w *Worker) options4(to way) bool {
	v := &w.view
	header := v.ThOff - v.NetOff
	if header <= 20 || v.ThOff > len(v.Data) {
		return true
	}
	w.optionsRead = true
	bad, ok := w.readOptions(v.Data[v.NetOff+20:v.ThOff], to)
	if ok {
		return true
	}
	if w.engine.options.Replies && bad != 0 {
		w.icmpError(icmpParameter, 0, uint32(bad)<<24)
	}
	w.lost("its options are not accepted")
	return false
}

// IPv4 options. Ref: RFC 791 §3.1, RFC 2113.
const (
	optionEnd         = 0
	optionNOP         = 1
	optionRecordRoute = 7
	optionTimestamp   = 68
	optionLooseRoute  = 131
	optionStrictRoute = 137
	optionRouterAlert = 148
)

// readOptions checks the options and records the route; bad is the offset of
// the byte that is wrong.
func (w *Worker) readOptions(options []byte, to way) (bad int, ok bool) {
	routed, strict, stamped := false, false, false
options:
	for at := 0; at < len(options); {
		switch options[at] {
		case optionEnd:
			break options
		case optionNOP:
			at++
			continue
		}
		if len(options)-at < 2 || options[at+1] < 2 || int(options[at+1]) > len(options)-at {
			return 20 + at, false
		}
		o := options[at : at+int(options[at+1])]
		switch o[0] {
		case optionLooseRoute, optionStrictRoute:
			switch {
			case len(o) < 3:
				return 20 + at + 1, false
			case o[2] < 4:
				return 20 + at + 2, false
			case routed:
				return 20 + at, false
			}
			routed, strict = true, o[0] == optionStrictRoute
		case optionRecordRoute:
			if wrong := w.recordRoute(o, 20+at, to); wrong != 0 {
				return wrong, false
			}
		case optionTimestamp:
			if stamped {
				return 20 + at, false
			}
			stamped = true
			if wrong := w.recordTime(o, 20+at, to); wrong != 0 {
				return wrong, false
			}
		case optionRouterAlert:
			if len(o) < 4 {
				return 20 + at + 1, false
			}
		}
		at += len(o)
	}
	if routed {
		return w.sourceRoute(strict, to)
	}
	return 0, true
}

// sourceRoute judges a source route once all options are read: a strict one must
// not lead on from here.
// Ref: net/ipv4/ip_options.c, ip_options_rcv_srr.
func (w *Worker) sourceRoute(strict bool, to way) (bad int, ok bool) {
	const destination = 16 // the field's offset in the header
	if forwards, known := w.engine.host.Sysctl("net/ipv4/conf/all/accept_source_route"); known && forwards == "0" {
		return 0, false
	}
	switch {
	case w.meta.PktType != packet.PktHost, to.route != host.RouteUnicast && to.route != host.RouteLocal:
		return 0, false
	case strict && to.route == host.RouteUnicast:
		return destination, false
	}
	return 0, true
}

// recordOutgoing enters the outgoing device's address in place of the one that
// was recorded on arrival, and only now corrects the checksum.
// Ref: net/ipv4/ip_options.c, ip_forward_options.
func (w *Worker) recordOutgoing(to way) {
	if !w.optionsWritten {
		return
	}
	data := w.buffer.Writable(&w.view)
	own, _ := w.engine.sourceAddress4(to.out.meta, to.hop)
	for _, at := range [...]int{w.recordAt, w.stampAt} {
		if at != 0 {
			copy(data[w.view.NetOff+at:], own.AsSlice())
		}
	}
	h := data[w.view.NetOff:w.view.ThOff]
	binary.BigEndian.PutUint16(h[10:], packet.IPv4HeaderChecksum(h))
}

// recordRoute enters the host's address into a record-route option.
func (w *Worker) recordRoute(o []byte, at int, to way) (bad int) {
	switch {
	case len(o) < 3:
		return at + 1
	case o[2] < 4:
		return at + 2
	case int(o[2]) > len(o):
		return 0
	case int(o[2])+3 > len(o):
		return at + 2
	}
	data := w.buffer.Writable(&w.view)
	field := data[w.view.NetOff+at:]
	pointer := int(o[2])
	w.recordAt, w.optionsWritten = at+pointer-1, true
	copy(field[pointer-1:], w.specificAddress(to).AsSlice())
	field[2] += 4
	return 0
}
