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
	w.device = name
	for _, b := range chains {
		if !slices.Contains(b.Chain.Base.Devices, name) {
			continue
		}
		if !ran && w.sink != nil {
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
	} else {
		w.pass(catalog.FamilyNetdev, num)
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
