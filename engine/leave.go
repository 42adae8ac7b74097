package engine

import (
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/packet"
)

// sendRouted takes a packet of the host itself through output along its route.
func (w *Worker) sendRouted(family catalog.Family) {
	w.meta.PktType = packet.PktHost
	w.view.HideMac()
	to := w.engine.outputWay(w.view.DstAddr(), int(w.boundTo))
	if to.kind != wayForward || to.out == nil {
		w.lost(to.reason)
		return
	}
	w.output(family, to)
}

// output takes a packet of the host itself through the output hook and on.
// Ref: net/ipv4/ip_output.c, __ip_local_out; net/ipv6/output_core.c.
func (w *Worker) output(family catalog.Family, to way) {
	w.way = to
	w.depart(to.out)
	before := w.view.DstAddr()
	w.rerouted = false
	if !w.hook(family, catalog.HookOutput, w.lists(family)[catalog.HookOutput]) {
		return
	}
	if w.rerouted || w.view.DstAddr() != before {
		to = w.engine.outputWay(w.view.DstAddr(), int(w.boundTo))
		if to.kind != wayForward || to.out == nil {
			w.lost(to.reason)
			return
		}
		w.way = to
		w.depart(to.out)
	}
	w.leaveHost(family)
}

// leaveHost takes a packet through postrouting and hands it to its device,
// in pieces if need be.
// Ref: net/ipv4/ip_output.c, ip_output, ip_finish_output; net/ipv6/ip6_output.c,
// ip6_output, ip6_finish_output.
func (w *Worker) leaveHost(family catalog.Family) {
	if w.onDevice {
		w.meta.IIF = w.meta.OIF
	}
	if !w.hook(family, catalog.HookPostrouting, w.lists(family)[catalog.HookPostrouting]) {
		return
	}
	if w.way.out.loopback {
		w.loopBack()
		return
	}
	if w.reassembly == nil && w.view.NetLen <= w.way.out.mtu {
		w.toNeighbour()
		return
	}
	w.fragment(family)
}

// loopBack queues the packet for the host itself. Connection and mark stay.
func (w *Worker) loopBack() {
	frame := w.networkFrame([6]byte{}, [6]byte{})
	w.journey.waiting = append(w.journey.waiting, looped{frame: frame, ct: w.ct.Clone(), meta: w.meta, way: w.way})
}

// networkFrame is the packet with a new Ethernet header, without padding.
func (w *Worker) networkFrame(to, from [6]byte) []byte {
	v := &w.view
	end := min(v.End, len(v.Data))
	frame := make([]byte, 0, 14+end-v.NetOff)
	frame = append(append(frame, to[:]...), from[:]...)
	frame = append(frame, byte(v.EtherType>>8), byte(v.EtherType))
	return append(frame, v.Data[v.NetOff:end]...)
}

// fragment sends the packet in pieces, each a socket buffer of its own.
func (w *Worker) fragment(family catalog.Family) {
	how := w.reassembly
	if how == nil {
		how = &conntrack.Reassembly{MaxSize: w.way.out.mtu, DF: w.dontFragment()}
		if how.DF {
			how.MaxSize = w.view.NetLen
		}
	}
	w.engine.fragmentID++
	frames, leaves := how.Split(&w.view, w.way.out.mtu, w.engine.fragmentID)
	switch leaves {
	case conntrack.LeavesWhole:
		w.toNeighbour()
		return
	case conntrack.LeavesNot:
		w.tooBig(family)
		w.lost("it is larger than the device takes")
		return
	}
	// Pieces that are as they came are sent from the buffers that they came in:
	// the first is still this one.
	const tcpHeader = 20
	same := len(how.Sizes) > 0 && (w.view.L4Proto != packet.ProtoTCP || how.Sizes[0] >= tcpHeader) && len(frames) == len(how.Sizes) && len(frames[0])-w.pieceHeader(frames[0]) == how.Sizes[0]
	meta := w.meta
	for i, piece := range frames {
		if i == 0 && same {
			w.buffer.Set(&w.view, piece, w.view.NetOff, len(piece))
			if !w.toNeighbour() {
				return
			}
			continue
		}
		ct := w.ct.Clone()
		c := w.fork(append([]byte(nil), piece...), ct)
		if c == nil {
			return
		}
		c.meta = meta
		c.way = w.way
		sent := c.toNeighbour()
		w.finish(c, MadeFragment)
		if !sent {
			return
		}
	}
}

// pieceHeader is how much of a fragment's frame comes before its payload.
func (w *Worker) pieceHeader(frame []byte) int {
	at := w.view.NetOff
	if w.view.EtherType == packet.TypeIPv6 {
		return w.view.ThOff + 8
	}
	return at + int(frame[at]&0xf)*4
}

// dontFragment reads the flag of an IPv4 header; IPv6 is never cut on the way.
func (w *Worker) dontFragment() bool {
	b, _ := w.view.Load8(w.view.NetOff + 6)
	return w.view.EtherType == packet.TypeIPv6 || b&0x40 != 0
}

// toNeighbour sends the packet to the next hop, whose hardware address must be
// known: the host asks for it otherwise, and the packet waits. It reports false
// where egress dropped the packet.
// Ref: net/ipv4/ip_output.c, ip_finish_output2; net/core/neighbour.c.
func (w *Worker) toNeighbour() bool {
	to, ok := w.engine.hardware(w.way)
	if !ok {
		w.out.Reason = "the hardware address of the next hop is not known"
		return true
	}
	frame := w.networkFrame(to, w.way.out.mac)
	w.view.ShowMac()
	w.buffer.Set(&w.view, frame, macLen, len(frame))
	return w.transmit()
}

// transmit hands the frame to the outgoing device: a bridge takes it to its
// ports, others send it after egress, which may drop it: false.
// Ref: net/core/dev.c, __dev_queue_xmit.
func (w *Worker) transmit() bool {
	d := w.engine.device(w.meta.OIF.Name.String())
	if d.isBridge {
		w.bridgeOut(d)
		return true
	}
	if !w.egress() || !w.tcEgress() {
		return false
	}
	sent := SentFrame{Device: w.meta.OIF.Name.String(), Data: append([]byte(nil), w.view.Data...)}
	if w.depth > 0 {
		sent.Made, sent.Kind = true, madeKinds // finish tells which
	}
	w.journey.sent = append(w.journey.sent, sent)
	return true
}

// hardware finds the link-layer address of a next hop: computed for groups and
// broadcasts, else from the neighbour table.
func (e *Engine) hardware(to way) ([6]byte, bool) {
	hop := to.hop
	switch {
	case hop.Is4() && hop.IsMulticast():
		b := hop.As4()
		return [6]byte{0x01, 0x00, 0x5e, b[1] & 0x7f, b[2], b[3]}, true
	case hop.Is6() && hop.IsMulticast():
		b := hop.As16()
		return [6]byte{0x33, 0x33, b[12], b[13], b[14], b[15]}, true
	case hop.Is4() && e.host.IsBroadcast(hop):
		return [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, true
	}
	if mac, ok := e.host.Neighbour(int(to.out.meta.Index), hop); ok {
		return [6]byte(mac), true
	}
	mac, ok := e.learned[neighbour{to.out.meta.Index, hop}]
	return mac, ok
}
