package engine

import (
	"net/netip"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/engine/vm"
	"verdict/host"
	"verdict/nft/expr"
)

// natStep is the dispatcher of nat chains: the first packet of a connection
// decides, all others are translated as decided.
// Ref: nf_nat_core.c, nf_nat_inet_fn.
func (w *Worker) natStep(list *hookList, source bool, num catalog.HookNum) (fate Fate, ran bool) {
	conns := w.conns
	if w.ct.Unknown() {
		w.out.Reason, w.out.CutAt = "the capture ends before what its connection needs", len(w.view.Data)
		return Unknown, false
	}
	w.track.Now, w.track.Out = w.now, w.meta.OIF.Index
	manip := conntrack.DestinationManip
	if source {
		manip = conntrack.SourceManip
	}
	if conns.NATUndecided(&w.track, manip) {
		fate, ran = w.natChains(list, manip)
		if fate != Accepted {
			return fate, ran
		}
		if conns.NATUndecided(&w.track, manip) && conns.SetupNAT(&w.track, manip, nil) == conntrack.Drop {
			return Lost, ran
		}
	}
	if conns.Translate(&w.track, manip, num == catalog.HookPrerouting || num == catalog.HookOutput, &w.buffer) == conntrack.Drop {
		w.out.Reason = "its addresses could not be translated"
		return Lost, ran
	}
	return Accepted, ran
}

// natChains runs nat chains until one decides.
func (w *Worker) natChains(list *hookList, manip conntrack.Manip) (fate Fate, ran bool) {
	w.manip = manip
	for _, b := range list.nat {
		if fate := w.chain(b); fate != Accepted {
			return fate, true
		}
		ran = true
		if !w.conns.NATUndecided(&w.track, manip) {
			break
		}
	}
	return w.natTables(list, manip, ran)
}

// setupNAT carries out what a nat, masquerade or redirect expression asked
// for. It reports false where that is not possible.
func (w *Worker) setupNAT(effect *vm.Effect) bool {
	r := conntrack.NATRange{MinAddr: effect.Addr[0], MaxAddr: effect.Addr[1], MinPort: effect.Port[0], MaxPort: effect.Port[1]}
	switch x := effect.Expr.(type) {
	case *expr.NAT:
		r.HasAddr, r.HasPort, r.Flags = x.HasAddr, x.HasProto, x.Flags
	case *expr.Masq:
		r.HasPort, r.Flags, r.Device = x.HasProto && x.Flags&expr.NATFlagProto != 0, x.Flags, w.meta.OIF.Index
		if w.view.SrcAddr() == netip.IPv4Unspecified() {
			return true
		}
		if !w.masquerade(&r) {
			w.out.Reason = "masquerade finds no address on the outgoing interface"
			return false
		}
	case *expr.Redir:
		r.HasPort, r.Flags = x.HasProto && (x.Flags == 0 || x.Flags&expr.NATFlagProto != 0), x.Flags
		if !w.redirect(&r) {
			w.out.Reason = "redirect finds no address on the incoming interface"
			return false
		}
	}
	if w.conns.SetupNAT(&w.track, w.manip, &r) == conntrack.Drop {
		w.out.Reason = "the address translation cannot be set up"
		return false
	}
	return true
}

// reroute finds the output device of a packet of the host itself whose
// destination was translated; without a route it stays.
// Ref: nf_nat_proto.c, nf_nat_ipv4_local_fn.
func (w *Worker) reroute(d *device) *device {
	route, ok := w.engine.host.Route(w.view.DstAddr())
	if !ok || route.Type != host.RouteUnicast && route.Type != host.RouteLocal {
		return d
	}
	i, ok := w.engine.host.ByIndex(route.Interface)
	if !ok {
		return d
	}
	d = w.engine.device(i.Name)
	w.depart(d)
	return d
}

// routeAgain finds the route anew behind a chain of type route that changed
// what the routing decision looks at.
// Ref: nft_chain_route.c, nf_route_table_hook4, nf_route_table_hook6.
func (w *Worker) routeAgain(fate Fate) Fate {
	if fate == Accepted {
		w.rerouted = true
	}
	return fate
}

// masquerade takes the outgoing interface's address.
// Ref: nf_nat_masquerade.c, nf_nat_masquerade_ipv4, _ipv6.
func (w *Worker) masquerade(r *conntrack.NATRange) bool {
	choose := w.engine.sourceAddress4
	if w.pkt.Family == catalog.FamilyIP6 {
		choose = w.engine.sourceAddress6
	}
	a, ok := choose(w.meta.OIF, w.view.DstAddr())
	if !ok {
		return false
	}
	setAddress(r, a)
	return true
}

// redirect sends the packet to the host itself: to the incoming interface's
// address, or the loopback address for the host's own packets.
// Ref: nf_nat_redirect.c, nf_nat_redirect_ipv4, _ipv6.
func (w *Worker) redirect(r *conntrack.NATRange) bool {
	six := w.pkt.Family == catalog.FamilyIP6
	if w.pkt.Hook == catalog.HookOutput {
		a := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		if six {
			a = netip.IPv6Loopback()
		}
		setAddress(r, a)
		return true
	}
	a, ok := w.engine.firstAddress(w.meta.IIF, w.view.DstAddr())
	if !ok {
		return false
	}
	setAddress(r, a)
	return true
}

func setAddress(r *conntrack.NATRange, a netip.Addr) {
	r.HasAddr = true
	r.MinAddr, r.MaxAddr = [16]byte{}, [16]byte{}
	copy(r.MinAddr[:], a.AsSlice())
	r.MaxAddr = r.MinAddr
}
