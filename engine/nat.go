package engine

import (
	"net/netip"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/engine/vm"
	"verdict/host"
	"verdict/nft/expr"
	"verdict/packet"
)

// natStep is the dispatcher of nat chains: the first packet of a connection
// decides, all others are translated as decided.
// Ref: nf_nat_core.c, nf_nat_inet_fn.
func (w *Worker) natStep(list *hookList, source bool, num catalog.HookNum) (fate Fate, ran bool) {
	conns := w.engine.conns
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
	for _, b := range list.nat {
		before := len(w.machine.Effects.List)
		if fate := w.chain(b); fate != Accepted {
			return fate, true
		}
		ran = true
		for _, effect := range w.machine.Effects.List[before:] {
			done, fate := w.setupNAT(effect.Expr, manip, effect)
			if fate != Accepted {
				return fate, ran
			}
			if done {
				return Accepted, ran
			}
		}
	}
	return Accepted, ran
}

// setupNAT carries out what a nat, masquerade or redirect expression asked
// for. done is false for effects of other kinds.
func (w *Worker) setupNAT(e expr.Expr, manip conntrack.Manip, effect vm.Effect) (done bool, fate Fate) {
	r := conntrack.NATRange{MinAddr: effect.Addr[0], MaxAddr: effect.Addr[1], MinPort: effect.Port[0], MaxPort: effect.Port[1]}
	switch x := e.(type) {
	case *expr.NAT:
		r.HasAddr, r.HasPort, r.Flags = x.HasAddr, x.HasProto, x.Flags
	case *expr.Masq:
		r.HasPort, r.Flags, r.Device = x.HasProto && x.Flags&expr.NATFlagProto != 0, x.Flags, w.meta.OIF.Index
		if w.view.SrcAddr() == netip.IPv4Unspecified() {
			return false, Accepted
		}
		if !w.masquerade(&r) {
			w.out.Reason = "masquerade finds no address on the outgoing interface"
			return true, Lost
		}
	case *expr.Redir:
		r.HasPort, r.Flags = x.HasProto && (x.Flags == 0 || x.Flags&expr.NATFlagProto != 0), x.Flags
		if !w.redirect(&r) {
			w.out.Reason = "redirect finds no address on the incoming interface"
			return true, Lost
		}
	default:
		return false, Accepted
	}
	if w.engine.conns.SetupNAT(&w.track, manip, &r) == conntrack.Drop {
		w.out.Reason = "the address translation cannot be set up"
		return true, Lost
	}
	return true, Accepted
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

// masquerade takes the outgoing interface's address.
// Ref: nf_nat_masquerade.c, nf_nat_masquerade_ipv4, _ipv6.
func (w *Worker) masquerade(r *conntrack.NATRange) bool {
	six := w.pkt.Family == catalog.FamilyIP6
	a, ok := w.engine.sourceAddress(w.meta.OIF, w.view.DstAddr(), six)
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
	a, ok := w.engine.firstAddress(w.meta.IIF, six)
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

// sourceAddress chooses an interface's address towards a destination: the
// first global one whose network holds the next hop, else the first. Where the
// host's addresses are not known, the packet's own local address is taken.
// Ref: devinet.c, inet_select_addr.
func (e *Engine) sourceAddress(d packet.Device, destination netip.Addr, six bool) (netip.Addr, bool) {
	i, ok := e.host.ByIndex(int(d.Index))
	if !ok || len(i.Addresses) == 0 {
		return e.anyLocal(six)
	}
	hop := destination
	if route, ok := e.host.Route(destination); ok && route.Gateway.IsValid() {
		hop = route.Gateway
	}
	var first netip.Addr
	for _, a := range i.Addresses {
		addr := a.Prefix.Addr()
		if addr.Is4() == six || a.Scope != host.ScopeGlobal || a.Secondary {
			continue
		}
		if a.Prefix.Masked().Contains(hop) {
			return addr, true
		}
		if !first.IsValid() {
			first = addr
		}
	}
	if first.IsValid() {
		return first, true
	}
	return e.anyLocal(six)
}

// firstAddress is an interface's first address of a family.
func (e *Engine) firstAddress(d packet.Device, six bool) (netip.Addr, bool) {
	if i, ok := e.host.ByIndex(int(d.Index)); ok {
		for _, a := range i.Addresses {
			if addr := a.Prefix.Addr(); addr.Is4() != six && (!six || !addr.IsLinkLocalUnicast()) {
				return addr, true
			}
		}
		if len(i.Addresses) > 0 {
			return netip.Addr{}, false
		}
	}
	return e.anyLocal(six)
}

// anyLocal is the first global address of the host, whatever its interface.
func (e *Engine) anyLocal(six bool) (netip.Addr, bool) {
	for _, list := range [][]netip.Addr{e.options.Local, e.host.Addresses()} {
		for _, a := range list {
			if a.Is4() != six && !a.IsLoopback() && !a.IsLinkLocalUnicast() {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}
