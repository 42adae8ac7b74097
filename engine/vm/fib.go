package vm

import (
	"net/netip"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/packet"
)

// Routes is the routing table of the simulated host, as fib and rt ask it.
type Routes interface {
	// AddressType gives the RTN_ number of an address: 1 unicast, 2 local,
	// 3 broadcast, 5 multicast, … dev restricts it to addresses of a device
	// (0: any), of is the packet's own device.
	AddressType(a netip.Addr, dev, of uint32) uint32
	// OutputDevice gives the device towards an address, with saddr the
	// sender's, mark the packet's; ok is false without route. dev is the
	// device that a strict check allows (0: any).
	OutputDevice(q RouteQuery) (d packet.Device, ok bool)
	// MTU gives the largest packet that the route to an address takes, in
	// bytes; ok is false without route.
	MTU(a netip.Addr) (mtu int, ok bool)
	// NextHop gives the gateway towards an address, or the address itself.
	NextHop(a netip.Addr) (netip.Addr, bool)
}

// RouteQuery is a question to the routing table.
type RouteQuery struct {
	Dst, Src netip.Addr
	Mark     uint32
	Dev      uint32 // the route must lead to this device, 0: any
	Of       uint32 // device whose VRF is searched, 0: none
}

// fib looks addresses of the packet up in the routing table.
// Ref: nft_fib.c, nft_fib_ipv4.c, nft_fib_ipv6.c.
func (m *Machine) fib(in *inst) outcome {
	e := m.prog.fibs[in.ref]
	if m.Routes == nil {
		return outBreak
	}
	view := m.pkt.View
	source, destination := view.SrcAddr(), view.DstAddr()
	if !source.IsValid() {
		return m.noTransport()
	}
	address, other := destination, source
	if e.Flags&expr.FibSaddr != 0 {
		address, other = source, destination
	}
	if e.Result == expr.FibResultType {
		m.put32(in.dst, m.Routes.AddressType(address, m.fibDevice(e), m.packetDevice()))
		return outNext
	}
	m.fibOutput(e, in, address, other)
	return outNext
}

// fibDevice is the device that the flags iif and oif bind the question to.
func (m *Machine) fibDevice(e *expr.Fib) uint32 {
	switch {
	case e.Flags&expr.FibIif != 0:
		return m.pkt.Meta.IIF.Index
	case e.Flags&expr.FibOif != 0:
		return m.pkt.Meta.OIF.Index
	}
	return 0
}

// packetDevice is the device that holds the packet.
// Ref: include/net/netfilter/nft_fib.h, nft_fib_l3mdev_master_ifindex_rcu.
func (m *Machine) packetDevice() uint32 {
	if in := m.pkt.Meta.IIF; in.Exists() {
		return in.Index
	}
	return m.pkt.Meta.OIF.Index
}

// fibOutput answers with the device of the route back, or its presence.
func (m *Machine) fibOutput(e *expr.Fib, in *inst, address, other netip.Addr) {
	var device packet.Device
	found := false
	switch {
	case m.loopedBack(), m.fromNowhere():
		device, found = m.pkt.Meta.IIF, true
	default:
		query := RouteQuery{Dst: address, Src: other, Dev: m.fibDevice(e)}
		if query.Of = query.Dev; query.Of == 0 {
			query.Of = m.packetDevice()
		}
		if e.Flags&expr.FibMark != 0 {
			query.Mark = m.pkt.Meta.Mark
		}
		device, found = m.Routes.OutputDevice(query)
	}
	if !found {
		device = packet.Device{}
	}
	switch {
	case e.Flags&expr.FibPresent != 0:
		m.put8(in.dst, flag(found))
	case e.Result == expr.FibResultOifname:
		m.putName(in.dst, device.Name)
	default:
		m.put32(in.dst, device.Index)
	}
}

// loopedBack tells whether the packet came over the loopback device, whose
// packets pass every reverse path check.
// Ref: include/net/netfilter/nft_fib.h, nft_fib_can_skip.
func (m *Machine) loopedBack() bool {
	switch {
	case m.pkt.HookFamily == catalog.FamilyNetdev:
		if m.pkt.Hook != catalog.HookNetdevIngress {
			return false
		}
	case m.pkt.Hook != catalog.HookPrerouting && m.pkt.Hook != catalog.HookInput:
		return false
	}
	meta := m.pkt.Meta
	return meta.IIF.Type == arphrdLoopback && meta.IIF.Exists() || meta.PktType == packet.PktLoopback
}

const arphrdLoopback = 772

// fromNowhere tells whether the packet is the first of a host that has no
// address yet: DHCP and IGMP from 0.0.0.0, ICMPv6 from :: to a link-local
// address. Ref: nft_fib_ipv4.c, nft_fib4_eval; nft_fib_ipv6.c, nft_fib6_eval.
func (m *Machine) fromNowhere() bool {
	view := m.pkt.View
	source, destination := view.SrcAddr(), view.DstAddr()
	switch source {
	case netip.IPv4Unspecified():
		return destination == netip.AddrFrom4([4]byte{255, 255, 255, 255}) || destination.IsLinkLocalMulticast()
	case netip.IPv6Unspecified():
		icmp := view.L4OK && view.L4Proto == packet.ProtoICMPv6
		return icmp && (destination.IsLinkLocalUnicast() || destination.IsLinkLocalMulticast())
	}
	return false
}

// The routing keys. Ref: enum nft_rt_keys.
const (
	rtClassid = iota
	rtNexthop4
	rtNexthop6
	rtTCPMSS
	rtXfrm
)

// rt loads routing data of the packet's own route, which exists after the
// routing decision. Ref: nft_rt.c, nft_rt_get_eval.
func (m *Machine) rt(in *inst) outcome {
	meta := m.pkt.Meta
	switch in.sub {
	case rtClassid:
		return m.optional32(in.dst, meta.RtClassID, meta.Has&packet.HasRtClassID != 0)
	case rtXfrm:
		m.put8(in.dst, 0)
		return outNext
	case rtTCPMSS:
		return m.segmentSize(in)
	}
	if m.Routes == nil {
		return outBreak
	}
	destination := m.pkt.View.DstAddr()
	if !destination.IsValid() || destination.Is4() != (in.sub == rtNexthop4) {
		return outBreak
	}
	hop, ok := m.Routes.NextHop(destination)
	if !ok {
		return outBreak
	}
	raw := hop.AsSlice()
	copy(m.bytes(in.dst, len(raw)), raw)
	return outNext
}

// segmentSize loads the largest TCP segment that the routes to both ends take.
// Before the routing decision there is none.
// Ref: nft_rt.c, get_tcpmss.
func (m *Machine) segmentSize(in *inst) outcome {
	if m.Routes == nil || m.pkt.Hook == catalog.HookPrerouting {
		return outBreak
	}
	view := m.pkt.View
	destination := view.DstAddr()
	if !destination.IsValid() {
		return m.noTransport()
	}
	mtu, ok := m.Routes.MTU(destination)
	if !ok {
		return outBreak
	}
	if back, ok := m.Routes.MTU(view.SrcAddr()); ok {
		mtu = min(mtu, back)
	}
	headers := 40
	if destination.Is6() {
		headers = 60
	}
	const smallest, largest = 88, 65535 // TCP_MIN_MSS, an IP packet
	size := smallest
	if mtu > headers && mtu <= largest {
		size = mtu - headers
	}
	m.put32(in.dst, uint32(size))
	return outNext
}
