package engine

import (
	"encoding/binary"
	"net/netip"

	"verdict/catalog"
	"verdict/host"
	"verdict/packet"
)

// neighbour is a key of the addresses that the host learned.
type neighbour struct {
	device uint32
	addr   netip.Addr
}

// ARP operations.
const (
	arpRequest = 1
	arpReply   = 2
)

// consumeARP answers requests for the host's own addresses, and learns from
// them.
// Ref: net/ipv4/arp.c, arp_process.
func (w *Worker) consumeARP() {
	v := &w.view
	if v.NetOff+28 > len(v.Data) {
		return
	}
	b := v.Data[v.NetOff : v.NetOff+28]
	operation := binary.BigEndian.Uint16(b[6:])
	if binary.BigEndian.Uint16(b) != 1 || binary.BigEndian.Uint16(b[2:]) != packet.TypeIPv4 {
		return
	}
	sender, target := netip.AddrFrom4([4]byte(b[14:18])), netip.AddrFrom4([4]byte(b[24:28]))
	if operation != arpRequest || target.IsMulticast() || loopbackNet.Contains(target) {
		return
	}
	d := w.rxDevice()
	if sender != netip.IPv4Unspecified() {
		if to := w.engine.inputWay4(sender2(sender), target, d); to.kind != wayDeliver || to.route != host.RouteLocal {
			return
		}
		w.learnNeighbour(d, sender, [6]byte(b[8:14]))
	} else if !w.engine.isLocal(target) {
		return
	}
	w.sendARP(d, [6]byte(b[8:14]), target, sender)
}

func sender2(a netip.Addr) netip.Addr { return a }

// learnNeighbour remembers the sender of a request that was answered.
func (w *Worker) learnNeighbour(d *device, a netip.Addr, mac [6]byte) {
	if _, known := w.engine.host.Neighbour(int(d.meta.Index), a); known {
		return
	}
	w.engine.learned[neighbour{d.meta.Index, a}] = mac
}

// sendARP sends a reply through the arp output hook.
func (w *Worker) sendARP(d *device, to [6]byte, own, asker netip.Addr) {
	frame := make([]byte, macLen+28)
	copy(frame, to[:])
	copy(frame[6:], d.mac[:])
	binary.BigEndian.PutUint16(frame[12:], packet.TypeARP)
	b := frame[macLen:]
	copy(b, []byte{0, 1, 8, 0, 6, 4, 0, arpReply})
	copy(b[8:], d.mac[:])
	copy(b[14:], own.AsSlice())
	copy(b[18:], to[:])
	copy(b[24:], asker.AsSlice())
	c := w.fork(frame, noConnection())
	if c == nil {
		return
	}
	c.meta.PktType = packet.PktHost
	c.depart(d)
	if c.hook(catalog.FamilyARP, catalog.HookARPOutput, w.hooks.arp[catalog.HookARPOutput]) {
		c.transmit()
	}
	w.finish(c, MadeReply)
}
