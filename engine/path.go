package engine

import (
	"net/netip"

	"verdict/catalog"
	"verdict/host"
	"verdict/packet"
)

// receive takes a frame that an interface delivers through the host.
func (w *Worker) receive() {
	d := w.inputDevice()
	w.arrive(d)
	w.meta.PktType = w.receivedType(d)
	w.markLoopback(d)
	if w.engine.options.KnownRoutes && w.shortTag() {
		w.lost("it ends within its VLAN tag")
		return
	}
	if w.engine.options.TC != nil && !w.tcIngress(d) {
		return
	}
	w.received(d)
}

// received takes a frame on that traffic control let pass.
func (w *Worker) received(d *device) {
	if (len(w.hooks.ingress) > 0 || w.sink != nil) && !w.ingress(d) {
		return
	}
	if w.bridged(d) {
		w.bridgeFrame(d)
		return
	}
	w.deliver(d)
}

// shortTag reports whether a tagged frame is too short for its tag.
// Ref: net/core/skbuff.c, skb_vlan_untag.
func (w *Worker) shortTag() bool {
	const least = 20 // the header, the tag and a protocol within it
	v := &w.view
	return v.Link == packet.LinkEthernet && v.OrigLen < least && (v.OuterType == packet.TypeVLAN || v.OuterType == packet.TypeSVLAN)
}

// inputDevice is the interface of an incoming frame.
func (w *Worker) inputDevice() *device {
	name := w.in.In
	if name == "" {
		name = w.engine.options.Interface
	}
	return w.deviceOf(name)
}

// receivedType decides for whom a unicast frame is: a frame to another
// station's address is not the host's, where the host's address is known.
func (w *Worker) receivedType(d *device) packet.PktType {
	kind := w.meta.PktType
	if kind != packet.PktUnicast {
		return kind
	}
	if d.hasMAC && w.view.Link == packet.LinkEthernet && len(w.view.Data) >= 6 && [6]byte(w.view.Data[:6]) != d.mac {
		return packet.PktOtherHost
	}
	return packet.PktHost
}

// markLoopback gives frames of the loopback device what the sending half of
// the way left behind.
func (w *Worker) markLoopback(d *device) {
	if d.loopback && w.meta.PktType == packet.PktLoopback {
		w.meta.PktType = packet.PktHost
	}
}

// deliver takes a frame through the hooks of its protocol.
func (w *Worker) deliver(d *device) {
	if d = w.untag(d); d == nil {
		w.lost("no VLAN interface takes its tag")
		return
	}
	family := w.family()
	if family == catalog.FamilyUnspec {
		return // no protocol whose hooks could drop it
	}
	switch w.view.Receive(d.loopback) {
	case packet.Dropped:
		w.optionProblem(0)
		w.lost("the protocol's receiver refuses it: bad length, checksum or address")
		return
	case packet.ReceivedUnknown:
		w.out.Fate, w.out.Reason, w.out.CutAt = Unknown, "the header was not captured whole", len(w.view.Data)
		return
	}
	if family == catalog.FamilyIP6 {
		next, _ := w.view.Load8(w.view.NetOff + 6)
		w.hopRead = next == packet.ProtoHopByHop
	}
	if w.meta.PktType == packet.PktOtherHost {
		w.lost("it is addressed to another station")
		return
	}
	if family == catalog.FamilyARP {
		if w.hook(catalog.FamilyARP, catalog.HookARPInput, w.hooks.arp[catalog.HookARPInput]) && w.engine.options.Replies {
			w.consumeARP()
		}
		return
	}
	lists := w.lists(family)
	if !w.hook(family, catalog.HookPrerouting, lists[catalog.HookPrerouting]) {
		return
	}
	w.route(family, lists)
}

// untag hands a tagged frame to the VLAN interface on top of the one that
// received it; nil if the host is known to have none. Where the host's
// interfaces are not known, one is assumed and the packet keeps the interface
// that the capture names.
func (w *Worker) untag(d *device) *device {
	if w.view.NumVLAN == 0 || !w.engine.options.KnownRoutes {
		return d
	}
	for i := range w.view.NumVLAN {
		id := w.view.VLANTCI[i] & 0xfff
		if id == 0 {
			continue // a priority tag belongs to the interface itself
		}
		if d = w.engine.vlan(d, id); d == nil {
			return nil
		}
	}
	w.meta.IIF = d.meta
	return d
}

// vlan finds the VLAN interface of a tag on a lower interface.
func (e *Engine) vlan(lower *device, id uint16) *device {
	name := lower.meta.Name.String()
	for _, i := range e.host.Interfaces() {
		if i.Lower == name && i.VLAN == id {
			return e.device(i.Name)
		}
	}
	return nil
}

func (w *Worker) lists(family catalog.Family) *[5]*hookList {
	if family == catalog.FamilyIP6 {
		return &w.hooks.ip[1]
	}
	return &w.hooks.ip[0]
}

// route decides between local delivery and forwarding.
func (w *Worker) route(family catalog.Family, lists *[5]*hookList) {
	if w.engine.options.KnownRoutes && w.in.Out == "" {
		w.routeKnown(family, lists)
		return
	}
	if w.martian() {
		w.lost("its addresses cannot be routed: a martian")
		return
	}
	if w.forMe() {
		w.hook(family, catalog.HookInput, lists[catalog.HookInput])
		return
	}
	if w.meta.PktType == packet.PktBroadcast || w.meta.PktType == packet.PktMulticast {
		w.lost("what came as link-level broadcast is not forwarded")
		return
	}
	if !w.findRoute(w.view.DstAddr()) {
		return
	}
	if !w.decrementTTL() {
		w.lost("its time to live is over")
		return
	}
	w.prioritize()
	if !w.hook(family, catalog.HookForward, lists[catalog.HookForward]) {
		return
	}
	w.post(family, lists)
}

// forMe reports whether a packet is delivered locally: to an own address, a
// broadcast or a group.
func (w *Worker) forMe() bool {
	byLink := w.meta.PktType == packet.PktBroadcast && !w.engine.options.KnownRoutes
	if _, d, ok := w.view.Addresses4(); ok {
		return byLink || w.engine.isLocal4(d) || d>>28 == ipv4Group || d == ipv4Broadcast || w.engine.host.LocalType4(d) == host.RouteBroadcast
	}
	a := w.view.DstAddr()
	return !a.IsValid() || byLink || w.engine.isLocal(a) || a.IsMulticast() || w.engine.host.IsBroadcast(a)
}

// findRoute sets the outgoing interface of a forwarded packet.
func (w *Worker) findRoute(a netip.Addr) bool {
	e := w.engine
	if w.in.Out != "" {
		w.depart(w.outDevice(w.in.Out))
		return true
	}
	route, ok := e.host.Route(a)
	switch {
	case ok && route.Type == host.RouteUnicast:
		i, _ := e.host.ByIndex(route.Interface)
		w.depart(w.outDevice(i.Name))
		return true
	case ok && e.options.KnownRoutes:
		w.lost("its route is " + route.Type.String())
		return false
	case e.options.KnownRoutes:
		w.lost("there is no route to its destination")
		return false
	}
	w.meta.OIF = w.otherDevice(w.meta.IIF)
	return true
}

// otherDevice guesses where a forwarded packet leaves when no routes are
// known: by the only other interface, if there is just one.
func (w *Worker) otherDevice(in packet.Device) packet.Device {
	var other *host.Interface
	for _, i := range w.engine.host.Interfaces() {
		if i.Type == arphrdLoopback || uint32(i.Index) == in.Index {
			continue
		}
		if other != nil {
			return packet.Device{}
		}
		other = i
	}
	if other == nil {
		return packet.Device{}
	}
	return w.outDevice(other.Name).meta
}

// post takes a packet that leaves through postrouting and egress.
func (w *Worker) post(family catalog.Family, lists *[5]*hookList) {
	if !w.hook(family, catalog.HookPostrouting, lists[catalog.HookPostrouting]) {
		return
	}
	if (len(w.hooks.egress) > 0 || w.sink != nil) && !w.egress() {
		w.emitted.add(&w.view, w.serial)
		return
	}
	w.tcEgress()
	w.emitted.add(&w.view, w.serial)
}

// send takes a packet of the host itself through output.
func (w *Worker) send() {
	if family := w.family(); w.engine.options.Replies && (family == catalog.FamilyIP || family == catalog.FamilyIP6) {
		w.sendRouted(family)
		return
	}
	if w.emitted.has(&w.view, w.serial) {
		w.out.Copy = true
		return
	}
	name := w.in.Out
	if name == "" && w.in.Direction != 0 {
		name = w.in.In
	}
	if name == "" {
		name = w.outputName()
	}
	d := w.engine.device(name)
	w.depart(d)
	w.meta.PktType = packet.PktHost
	family := w.family()
	switch family {
	case catalog.FamilyUnspec:
		w.tcEgress()
		return
	case catalog.FamilyARP:
		if w.hook(catalog.FamilyARP, catalog.HookARPOutput, w.hooks.arp[catalog.HookARPOutput]) {
			w.tcEgress()
		}
		return
	}
	w.view.HideMac()
	lists := w.lists(family)
	destination := w.view.DstAddr()
	if !w.hook(family, catalog.HookOutput, lists[catalog.HookOutput]) {
		return
	}
	if w.in.Out == "" && w.view.DstAddr() != destination {
		d = w.reroute(d)
	}
	if !w.hook(family, catalog.HookPostrouting, lists[catalog.HookPostrouting]) {
		return
	}
	if len(w.hooks.egress) > 0 && !w.egress() || !w.tcEgress() {
		return
	}
	if d.loopback {
		w.loop(d)
	}
}

// outputName finds the interface of a packet that the host sends: by route,
// else the capture's own interface.
func (w *Worker) outputName() string {
	e := w.engine
	if route, ok := e.host.Route(w.view.DstAddr()); ok && (route.Type == host.RouteUnicast || route.Type == host.RouteLocal) {
		if i, ok := e.host.ByIndex(route.Interface); ok {
			return i.Name
		}
	}
	if w.in.In != "" {
		return w.in.In
	}
	return e.options.Interface
}

// loop delivers what the host sent to itself. The connection stays attached.
func (w *Worker) loop(d *device) {
	w.meta.IIF, w.meta.OIF = d.meta, packet.Device{}
	family := w.family()
	lists := w.lists(family)
	if w.hook(family, catalog.HookPrerouting, lists[catalog.HookPrerouting]) {
		w.hook(family, catalog.HookInput, lists[catalog.HookInput])
	}
}

// decrementTTL does what forwarding does to the packet before the forward
// hook; it reports false when the packet's time is over.
// Ref: ip_forward.c, ip_forward; ip6_output.c, ip6_forward.
func (w *Worker) decrementTTL() bool {
	v := &w.view
	at := v.NetOff + 8
	if v.EtherType == packet.TypeIPv6 {
		at = v.NetOff + 7
	}
	ttl, ok := v.Load8(at)
	if !ok {
		return true
	}
	if ttl <= 1 {
		return false
	}
	if w.engine.options.Forwarded || w.engine.options.Replies || w.program.Uses.TTL {
		w.buffer.DecrementTTL(v)
	}
	return true
}

// runOnly sends the packet through the one hook that was asked for.
func (w *Worker) runOnly(key hookKey) {
	d := w.inputDevice()
	w.arrive(d)
	w.meta.PktType = w.receivedType(d)
	if w.in.Out != "" {
		w.depart(w.engine.device(w.in.Out))
	}
	if key.family == catalog.FamilyNetdev {
		if key.hook == catalog.HookNetdevIngress {
			w.ingress(d)
		} else {
			w.egress()
		}
		return
	}
	if w.bridged(d) {
		w.hook(catalog.FamilyBridge, key.hook, w.hooks.bridge[key.hook])
		return
	}
	family := w.family()
	switch family {
	case catalog.FamilyUnspec:
	case catalog.FamilyARP:
		w.onlyARP(key.hook)
	default:
		w.onlyIP(family, key.hook)
	}
}

// onlyARP maps the hook to ARP's two.
func (w *Worker) onlyARP(hook catalog.HookNum) {
	switch hook {
	case catalog.HookInput:
		w.hook(catalog.FamilyARP, catalog.HookARPInput, w.hooks.arp[catalog.HookARPInput])
	case catalog.HookOutput:
		w.hook(catalog.FamilyARP, catalog.HookARPOutput, w.hooks.arp[catalog.HookARPOutput])
	}
}

// onlyIP runs one IP hook. Connections are followed all the same, so that ct
// state means something: tracking comes before the hook and confirmation after
// it, where the hook itself does not have them.
func (w *Worker) onlyIP(family catalog.Family, hook catalog.HookNum) {
	tracked := w.hooks.tracks[0]
	if family == catalog.FamilyIP6 {
		tracked = w.hooks.tracks[1]
	}
	track := tracked && hook != catalog.HookPrerouting && hook != catalog.HookOutput
	if track && w.trackStep(family, catalog.HookPrerouting) != Accepted {
		w.out.Fate = Lost
		return
	}
	if !w.hook(family, hook, w.lists(family)[hook]) {
		return
	}
	if tracked && hook != catalog.HookInput && hook != catalog.HookPostrouting {
		if w.confirmStep(hook) != Accepted {
			w.out.Fate = Lost
		}
	}
}
