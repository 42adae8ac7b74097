package engine

import (
	"encoding/binary"
	"net/netip"

	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/host"
	"verdict/nft/expr"
	"verdict/packet"
)

// actOn carries out an effect that does not wait for the chain's end.
func (w *Worker) actOn(e *vm.Effect) {
	switch x := e.Expr.(type) {
	case *expr.Reject:
		w.rejectPacket(x)
	case *expr.Dup:
		if x.HasAddr {
			w.cloneTo(e, x)
			return
		}
		w.cloneToDevice(e.Dev, MadeClone)
	case *expr.Fwd:
		w.forwardToDevice(e, x)
	}
}

// rejectPacket answers a packet that a rule refuses.
// Ref: nft_reject_inet.c, nft_reject_inet_eval; nft_reject_ipv4.c, _ipv6.c,
// _netdev.c, _bridge.c.
func (w *Worker) rejectPacket(x *expr.Reject) {
	six := w.view.EtherType == packet.TypeIPv6
	if !six && w.view.EtherType != packet.TypeIPv4 {
		return
	}
	code := x.Code
	if x.Type == expr.RejectICMPX {
		code = icmpxCode(code, six)
	}
	switch {
	case w.pkt.HookFamily == catalog.FamilyNetdev || w.pkt.HookFamily == catalog.FamilyBridge:
		w.rejectAtDevice(x, code, six)
	case x.Type == expr.RejectTCP:
		w.rejectTCP()
	case six:
		w.reject6(code)
	default:
		w.reject4(code)
	}
}

// icmpxCode translates the codes that stand for both protocols.
// Ref: nft_reject.c, nft_reject_icmp_code, nft_reject_icmpv6_code.
func icmpxCode(code uint8, six bool) uint8 {
	if six {
		return [...]uint8{unreachable6NoRoute, unreachable6Port, 3, unreachable6Prohibited}[code&3]
	}
	return [...]uint8{unreachableNet, unreachablePort, unreachableHost, unreachableFiltered}[code&3]
}

// routedAs is the type of the route that the packet has at its hook. Before the
// routing decision reject gives it the route back to its sender.
// Ref: nf_reject_ipv4.c, nf_reject_fill_skb_dst.
func (w *Worker) routedAs() host.RouteType {
	if w.pkt.Hook == catalog.HookPrerouting {
		if w.engine.isLocal(w.view.SrcAddr()) {
			return host.RouteLocal
		}
		return host.RouteUnicast
	}
	return w.way.route
}

// reject4 sends destination unreachable.
// Ref: nf_reject_ipv4.c, nf_send_unreach.
func (w *Worker) reject4(code uint8) {
	if w.view.FragOff != 0 || !w.rejectSumOK() {
		return
	}
	w.icmpErrorOn(icmpUnreachable, code, 0, w.routedAs(), MadeReject)
}

// reject6 sends destination unreachable.
// Ref: nf_reject_ipv6.c, nf_send_unreach6.
func (w *Worker) reject6(code uint8) {
	if !w.rejectSumOK6() {
		return
	}
	w.icmp6ErrorOf(icmp6Unreachable, code, 0, MadeReject)
}

// rejectSumOK verifies the transport checksum as reject does: of protocols
// other than TCP, UDP and those with sums of their own the plain sum of all
// bytes must come out.
// Ref: nf_reject.h, nf_reject_verify_csum; netfilter/utils.c, nf_ip_checksum.
func (w *Worker) rejectSumOK() bool {
	v := &w.view
	if !w.whole() || v.ThOff > len(v.Data) {
		return false
	}
	data := v.Data[v.ThOff:v.End]
	if w.unsummed(data, v.L4Proto) {
		return true
	}
	h := v.Data[v.NetOff:]
	var pseudo uint32
	if v.L4Proto == packet.ProtoTCP || v.L4Proto == packet.ProtoUDP {
		pseudo = packet.PseudoHeader4(h[12:16], h[16:20], v.L4Proto, len(data))
	}
	sum := packet.Fold(packet.Sum(pseudo, data))
	return w.headerSumOK() && (sum == 0xffff || sum == 0)
}

// headerSumOK verifies the checksum of an IPv4 header, which the sum that the
// kernel takes spans too. It may be wrong at a device, and while options are
// being written.
func (w *Worker) headerSumOK() bool {
	v := &w.view
	return v.EtherType != packet.TypeIPv4 || v.ThOff <= len(v.Data) && packet.Fold(packet.Sum(0, v.Data[v.NetOff:v.ThOff])) == 0xffff
}

// unsummed tells packets whose checksum reject does not look at, tracking's
// having verified it among them.
func (w *Worker) unsummed(data []byte, protocol uint8) bool {
	switch protocol {
	case packet.ProtoUDP:
		return w.verified || len(data) >= 8 && data[6] == 0 && data[7] == 0
	case packet.ProtoGRE, packet.ProtoAH, packet.ProtoESP, packet.ProtoSCTP, packet.ProtoUDPLite, packet.ProtoDCCP:
		return true
	}
	return w.verified
}

// Ref: nf_reject_ipv6.c, reject6_csum_ok.
func (w *Worker) rejectSumOK6() bool {
	v := &w.view
	at, protocol, _, ok := w.lastHeader6()
	if !ok || !w.whole() || at >= v.End || protocol == packet.ProtoFragment {
		return false
	}
	data := v.Data[at:v.End]
	return w.unsummed(data, protocol) || w.sumOK6(data, protocol)
}

// rejectTCP sends a reset, and closes the connection.
// Ref: nf_reject_ipv4.c, nf_send_reset; nf_reject_ipv6.c, nf_send_reset6.
func (w *Worker) rejectTCP() {
	v := &w.view
	at, ok := w.tcpAt()
	if !ok {
		return
	}
	s, ok := w.readSegment(at)
	if !ok || !w.resetSumOK(at) {
		return
	}
	source, destination := v.SrcAddr(), v.DstAddr()
	if source.Is6() && (!isUnicast6(source) || !isUnicast6(destination)) {
		return
	}
	if route := w.routedAs(); !source.Is6() && (route == host.RouteBroadcast || route == host.RouteMulticast) {
		return
	}
	to := w.engine.outputWay(source, int(w.meta.IIF.Index))
	if to.kind != wayForward || to.out == nil {
		return
	}
	ct := w.ct.Answer()
	w.conns.SetClosing(w.ct.Conn, w.now)
	w.answerWith(&answer{
		from: destination, to: source, protocol: packet.ProtoTCP, df: true, body: s.reset(),
		kind: MadeReject, bound: w.meta.IIF.Index, ct: ct,
	}, to)
}

// resetSumOK verifies the checksum as a reset does: tracking's result holds
// until the packet is forwarded; then all is summed again, an IPv4 header whose
// own checksum is wrong meanwhile included.
// Ref: nf_reject_ipv4.c, nf_reject_ip_tcphdr_get; ip_forward.c, ip_forward.
func (w *Worker) resetSumOK(at int) bool {
	if w.verified && w.pkt.Hook != catalog.HookForward {
		return true
	}
	return w.headerSumOK() && w.transportSumOK(at, packet.ProtoTCP)
}

func isUnicast6(a netip.Addr) bool { return !a.IsUnspecified() && !a.IsMulticast() }

// tcpAt finds the TCP header of a packet that is no later fragment.
func (w *Worker) tcpAt() (at int, ok bool) {
	v := &w.view
	if v.EtherType == packet.TypeIPv4 {
		return v.ThOff, v.L4OK && v.FragOff == 0 && v.L4Proto == packet.ProtoTCP
	}
	at, protocol, _, ok := w.lastHeader6()
	return at, ok && protocol == packet.ProtoTCP
}

// rejectAtDevice answers at a device's hook: built without the host's stack
// and sent straight back.
// Ref: nf_reject_ipv4.c, nf_reject_skb_v4_unreach, nf_reject_skb_v4_tcp_reset;
// nf_reject_ipv6.c; nft_reject_netdev.c, nft_reject_queue_xmit.
func (w *Worker) rejectAtDevice(x *expr.Reject, code uint8, six bool) {
	v := &w.view
	if v.Validity != packet.Valid || len(v.Data) < macLen || v.Data[0]&1 != 0 {
		return
	}
	v.AtIP()
	a := &answer{from: v.DstAddr(), to: v.SrcAddr(), df: true, ct: noConnection(), kind: MadeReject}
	var ok bool
	if x.Type == expr.RejectTCP {
		ok = w.deviceReset(a)
	} else {
		ok = w.deviceError(a, code, six)
	}
	var source, destination [6]byte
	copy(destination[:], v.Data[0:6])
	copy(source[:], v.Data[6:12])
	v.AtDevice()
	if !ok {
		return
	}
	frame := a.frame()
	copy(frame[0:6], source[:])
	copy(frame[6:12], destination[:])
	c := w.fork(frame, a.ct)
	if c == nil {
		return
	}
	c.meta.OIF = w.meta.IIF
	c.transmit()
	w.finish(c, MadeReject)
}

// deviceReset fills in a TCP reset.
func (w *Worker) deviceReset(a *answer) bool {
	at, ok := w.tcpAt()
	if !ok {
		return false
	}
	s, ok := w.readSegment(at)
	if !ok || !w.headerSumOK() || !w.transportSumOK(at, packet.ProtoTCP) {
		return false
	}
	a.protocol, a.body = packet.ProtoTCP, s.reset()
	return true
}

// deviceError fills in destination unreachable.
func (w *Worker) deviceError(a *answer, code uint8, six bool) bool {
	v := &w.view
	const most4, most6 = 536, 1220
	typ, most := uint8(icmpUnreachable), most4
	a.protocol = packet.ProtoICMP
	if six {
		typ, most = icmp6Unreachable, most6
		a.protocol = packet.ProtoICMPv6
		if !w.rejectSumOK6() {
			return false
		}
	} else if v.FragOff != 0 || !w.rejectSumOK() {
		return false
	}
	if w.isUnreachable(six) {
		return false
	}
	quoted := v.Data[v.NetOff:min(v.End, len(v.Data))]
	a.body = make([]byte, 8, 8+most)
	a.body[0], a.body[1] = typ, code
	a.body = append(a.body, quoted[:min(len(quoted), most)]...)
	return true
}

// isUnreachable tells destination unreachable itself, which gets no answer.
func (w *Worker) isUnreachable(six bool) bool {
	v := &w.view
	if six {
		at, protocol, _, ok := w.lastHeader6()
		return ok && protocol == packet.ProtoICMPv6 && at < len(v.Data) && v.Data[at] == icmp6Unreachable
	}
	typ, ok := v.Load8(v.ThOff)
	return v.L4OK && v.L4Proto == packet.ProtoICMP && ok && typ == icmpUnreachable
}

// cloneToDevice sends a copy of the frame out of another device.
// Ref: nf_dup_netdev.c, nf_dup_netdev_egress.
func (w *Worker) cloneToDevice(index uint32, kind MadeKind) {
	i, ok := w.engine.host.ByIndex(int(index))
	if !ok || w.journey.duplicating > maxDuplicating {
		return
	}
	c := w.fork(append([]byte(nil), w.view.Data...), w.ct.Clone())
	if c == nil {
		return
	}
	c.meta = w.meta
	c.meta.OIF = w.engine.device(i.Name).meta
	w.journey.duplicating++
	c.transmit()
	w.journey.duplicating--
	w.finish(c, kind)
}

// maxDuplicating bounds clones of clones. Ref: nf_dup_netdev.c,
// NF_RECURSION_LIMIT.
const maxDuplicating = 2

// forwardToDevice sends the packet itself out of another device; with an
// address, to that neighbour, as if it had been forwarded.
// Ref: nft_fwd_netdev.c, nft_fwd_netdev_eval, nft_fwd_neigh_eval.
func (w *Worker) forwardToDevice(e *vm.Effect, x *expr.Fwd) {
	if !x.HasAddr {
		w.cloneToDevice(e.Dev, MadeForward)
		return
	}
	i, ok := w.engine.host.ByIndex(int(e.Dev))
	if !ok {
		return
	}
	c := w.fork(append([]byte(nil), w.view.Data...), w.ct.Clone())
	if c == nil {
		return
	}
	c.meta = w.meta
	d := w.engine.device(i.Name)
	c.depart(d)
	c.way = way{kind: wayForward, route: host.RouteUnicast, out: d, hop: addressOf(&e.Addr[0], w.view.EtherType == packet.TypeIPv6)}
	if c.decrementTTL() {
		c.toNeighbour()
	}
	w.finish(c, MadeForward)
}

func addressOf(a *[16]byte, six bool) netip.Addr {
	if six {
		return netip.AddrFrom16(*a)
	}
	return netip.AddrFrom4([4]byte(a[:4]))
}

// cloneTo sends a copy to a gateway through output, untracked.
// Ref: nf_dup_ipv4.c, nf_dup_ipv4; nf_dup_ipv6.c.
func (w *Worker) cloneTo(e *vm.Effect, x *expr.Dup) {
	if w.journey.cloning {
		return
	}
	six := w.pkt.Family == catalog.FamilyIP6
	gateway := addressOf(&e.Addr[0], six)
	to := w.engine.cloneWay(gateway, w.view.DstAddr(), e.Dev)
	if to.kind != wayForward || to.out == nil {
		return
	}
	ct := noConnection()
	hidden := w.view.MacHidden()
	// The kernel's copy has a link header, but its bytes are left to chance.
	c := w.fork(w.networkFrame([6]byte{}, [6]byte{}), ct)
	if c == nil {
		return
	}
	c.ct.Untrack()
	c.meta = w.meta
	c.meta.IIF, c.meta.OIF = packet.Device{}, packet.Device{}
	c.mitigateLoop(w.pkt.Hook == catalog.HookPrerouting || w.pkt.Hook == catalog.HookInput)
	if hidden {
		c.view.HideMac()
	}
	c.onDevice, c.cameBy = true, w.arrivedBy()
	w.journey.cloning = true
	c.output(w.pkt.Family, to)
	w.journey.cloning = false
	w.finish(c, MadeClone)
}

// mitigateLoop sets DF in a clone of an IPv4 packet and, of one that came in,
// lowers the time to live.
func (w *Worker) mitigateLoop(received bool) {
	v := &w.view
	data := w.buffer.Writable(v)
	if v.EtherType == packet.TypeIPv6 {
		if received {
			data[v.NetOff+7]--
		}
		return
	}
	h := data[v.NetOff:max(v.ThOff, v.NetOff+20)]
	h[6] |= 0x40
	if received {
		h[8]--
	}
	binary.BigEndian.PutUint16(h[10:], packet.IPv4HeaderChecksum(h))
}
