package engine

import (
	"net/netip"

	"verdict/packet"
)

// Neighbour discovery options. Ref: RFC 4861 §4.6.
const (
	ndTargetAddress    = 2
	ndRedirectedHeader = 4
)

// redirect6 tells the sender of a forwarded packet that its destination is a
// neighbour on the link that the packet came from.
// Ref: net/ipv6/ip6_output.c, ip6_forward; ndisc.c, ndisc_send_redirect;
// RFC 4861 §4.5, §8.2.
func (w *Worker) redirect6(to way) {
	v := &w.view
	source, destination := v.SrcAddr(), v.DstAddr()
	e := w.engine
	if to.out.meta.Index != w.meta.IIF.Index || w.hasRouting6() || !e.peer(destination, w.now).allow(w.now, second, peerBurst) {
		return
	}
	if to.hop != destination && !to.hop.IsLinkLocalUnicast() {
		return
	}
	from, ok := e.linkLocal(to.out.meta)
	back := e.outputWay(source, int(w.meta.IIF.Index))
	if !ok || back.kind != wayForward || back.out == nil || back.hop != source {
		return
	}
	if !e.peer(source, w.now).allow(w.now, second, peerBurst) {
		return
	}
	body := make([]byte, 8, minMTU6)
	body[0] = icmp6Redirect
	body = append(body, to.hop.AsSlice()...)
	body = append(body, destination.AsSlice()...)
	if mac, ok := e.hardware(to); ok {
		body = append(append(body, ndTargetAddress, 1), mac[:]...)
	}
	quoted := v.Data[v.NetOff:min(v.End, len(v.Data))]
	size := min(minMTU6-40-len(body), len(quoted)+8) &^ 7
	body = append(body, ndRedirectedHeader, byte(size/8), 0, 0, 0, 0, 0, 0)
	body = append(body, quoted[:size-8]...)
	const neighbourLimit = 255
	w.answerWith(&answer{
		from: from, to: source, protocol: packet.ProtoICMPv6, ttl: neighbourLimit,
		body: body, ct: noConnection(), kind: MadeError, bound: w.meta.IIF.Index, onDevice: true,
	}, back)
}

// linkLocal is a device's link-local address.
func (e *Engine) linkLocal(d packet.Device) (netip.Addr, bool) {
	if i, ok := e.host.ByIndex(int(d.Index)); ok {
		for _, a := range i.Addresses {
			if a.Prefix.Addr().Is6() && a.Prefix.Addr().IsLinkLocalUnicast() {
				return a.Prefix.Addr(), true
			}
		}
	}
	return netip.Addr{}, false
}

// hasRouting6 reports whether the packet has a routing header.
func (w *Worker) hasRouting6() bool {
	v := &w.view
	for at, protocol := v.NetOff+40, v.Data[v.NetOff+6]; at+2 <= len(v.Data); {
		switch protocol {
		case packet.ProtoRouting:
			return true
		case packet.ProtoHopByHop, packet.ProtoDestOpts:
			protocol, at = v.Data[at], at+8+8*int(v.Data[at+1])
		default:
			return false
		}
	}
	return false
}
