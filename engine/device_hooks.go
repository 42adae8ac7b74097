package engine

import (
	"slices"

	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/packet"
)

// ingress takes a frame through the ingress chains of its interface: those of
// netdev tables and those of inet tables.
func (w *Worker) ingress(d *device) bool {
	w.view.AtDevice()
	defer w.view.AtIP()
	name := d.meta.Name.String()
	return w.deviceHook(w.hooks.ingress, name, catalog.HookNetdevIngress, w.view.NetLen)
}

// egress takes a packet that leaves through the egress chains of its
// interface.
func (w *Worker) egress() bool {
	w.view.AtDevice()
	in := w.meta.IIF
	w.meta.IIF = packet.Device{} // the hook is told of the outgoing device alone
	defer func() {
		w.meta.IIF = in
		w.view.AtIP()
	}()
	name := w.meta.OIF.Name.String()
	return w.deviceHook(w.hooks.egress, name, catalog.HookNetdevEgress, w.view.DeviceLen())
}

func (w *Worker) deviceHook(chains []*vm.Base, name string, num catalog.HookNum, length int) bool {
	w.pkt.Family, w.pkt.HookFamily, w.pkt.Hook = catalog.FamilyNetdev, catalog.FamilyNetdev, num
	w.pkt.Length = length
	fate, ran := Accepted, false
	for _, b := range chains {
		if !slices.Contains(b.Chain.Base.Devices, name) {
			continue
		}
		if !ran {
			w.enter(catalog.FamilyNetdev, num)
		}
		ran = true
		if b.Family == catalog.FamilyInet {
			if fate = w.inetIngress(b); fate != Accepted {
				break
			}
			continue
		}
		w.pkt.Family = w.deviceFamily()
		if fate = w.chain(b); fate != Accepted {
			break
		}
	}
	if ran {
		w.leave(catalog.FamilyNetdev, num, fate, true)
	}
	return fate == Accepted
}

// deviceFamily is what meta nfproto shows in netdev chains.
func (w *Worker) deviceFamily() catalog.Family { return catalog.FamilyNetdev }

// inetIngress evaluates an inet chain at ingress: malformed packets are
// dropped by its mere presence, packets of other protocols are passed over.
// Ref: nft_chain_filter.c, nft_do_chain_inet_ingress.
func (w *Worker) inetIngress(b *vm.Base) Fate {
	switch w.view.EtherType {
	case packet.TypeIPv4:
		w.pkt.Family = catalog.FamilyIP
	case packet.TypeIPv6:
		w.pkt.Family = catalog.FamilyIP6
	default:
		return Accepted
	}
	switch w.view.Validity {
	case packet.Malformed, packet.Truncated:
		w.out.Reason = "malformed for an inet ingress chain"
		return Lost
	}
	return w.chain(b)
}

// bridged reports whether a frame is taken by a bridge.
func (w *Worker) bridged(d *device) bool { return d.bridgeID != 0 }

// bridgeFrame takes a frame that came in through a bridge port through the
// bridge's hooks.
func (w *Worker) bridgeFrame(d *device) {
	e := w.engine
	w.view.AtDevice()
	w.meta.BridgeIn = d.bridge
	lists := &w.hooks.bridge
	if !w.hook(catalog.FamilyBridge, catalog.HookPrerouting, lists[catalog.HookPrerouting]) {
		return
	}
	out, up := e.bridgePort(d, &w.view)
	if up {
		w.bridgeUp(d)
		return
	}
	if out == nil {
		w.lost("the bridge has no port for it")
		return
	}
	w.meta.OIF, w.meta.BridgeOut = out.meta, out.bridge
	if w.hook(catalog.FamilyBridge, catalog.HookForward, lists[catalog.HookForward]) {
		w.hook(catalog.FamilyBridge, catalog.HookPostrouting, lists[catalog.HookPostrouting])
	}
}

// bridgeUp delivers a frame to the host through the bridge device.
func (w *Worker) bridgeUp(d *device) {
	if !w.hook(catalog.FamilyBridge, catalog.HookInput, w.hooks.bridge[catalog.HookInput]) {
		return
	}
	w.view.AtIP()
	bridge := w.engine.device(d.bridge.String())
	w.meta.IIF, w.meta.BridgeIn = bridge.meta, packet.Name{}
	w.deliver(bridge)
}

// bridgePort finds where a bridge sends a frame: up to the host, or out
// through the port that its forwarding database names, else through the only
// other port.
func (e *Engine) bridgePort(in *device, v *packet.View) (out *device, up bool) {
	if len(v.Data) < 6 {
		return nil, false
	}
	to := [6]byte(v.Data[:6])
	bridge := e.device(in.bridge.String())
	if bridge.hasMAC && to == bridge.mac || to[0]&1 != 0 {
		return nil, true
	}
	for _, entry := range e.host.FDB() {
		if entry.MAC == to {
			return e.device(entry.Dev), false
		}
	}
	for _, i := range e.host.Interfaces() {
		if i.MasterIndex == in.bridgeID && uint32(i.Index) != in.meta.Index {
			return e.device(i.Name), false
		}
	}
	return nil, false
}
