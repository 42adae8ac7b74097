package engine

import (
	"encoding/binary"
	"net/netip"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/host"
	"verdict/packet"
)

// defaultTTL is the time to live of what the host makes.
const defaultTTL = 64

// answer is an IP packet that the host makes.
type answer struct {
	from, to      netip.Addr
	end           netip.Addr // where a source route leads in the end, if not to
	protocol      uint8
	tos           uint8
	ttl           uint8 // 0: the default
	df            bool
	options, body []byte
	priority      uint32
	ct            conntrack.Attachment
	kind          MadeKind
	// bound is the device that link-local addresses belong to.
	bound uint32
	mark  uint32
	id    uint16 // of the IPv4 header
	// onDevice says that the packet is made on its device, which postrouting
	// then sees as the incoming one.
	onDevice bool
}

// nextID gives an IPv4 identification. Linux draws it at random.
func (e *Engine) nextID() uint16 {
	const multiplier, increment = 25173, 13849
	e.ident = e.ident*multiplier + increment
	return e.ident
}

const macLen = 14

// frame builds the packet behind an empty Ethernet header, checksums included.
func (a *answer) frame() []byte {
	if a.from.Is4() {
		return a.frame4()
	}
	f := make([]byte, macLen+40, macLen+40+len(a.body))
	binary.BigEndian.PutUint16(f[12:], packet.TypeIPv6)
	h := f[macLen:]
	binary.BigEndian.PutUint32(h, 6<<28|uint32(a.tos)<<20)
	binary.BigEndian.PutUint16(h[4:], uint16(len(a.body)))
	h[6], h[7] = a.protocol, a.limit()
	copy(h[8:], a.from.AsSlice())
	copy(h[24:], a.to.AsSlice())
	a.checksum(packet.PseudoHeader6(h[8:24], h[24:40], a.protocol, len(a.body)))
	return append(f, a.body...)
}

func (a *answer) limit() uint8 {
	if a.ttl != 0 {
		return a.ttl
	}
	return defaultTTL
}

func (a *answer) frame4() []byte {
	for len(a.options)&3 != 0 {
		a.options = append(a.options, optionEnd)
	}
	size := 20 + len(a.options)
	f := make([]byte, macLen+size, macLen+size+len(a.body))
	binary.BigEndian.PutUint16(f[12:], packet.TypeIPv4)
	h := f[macLen:]
	h[0], h[1] = 0x40|byte(size/4), a.tos
	binary.BigEndian.PutUint16(h[2:], uint16(size+len(a.body)))
	binary.BigEndian.PutUint16(h[4:], a.id)
	if a.df {
		h[6] = 0x40
	}
	h[8], h[9] = a.limit(), a.protocol
	copy(h[12:], a.from.AsSlice())
	copy(h[16:], a.to.AsSlice())
	copy(h[20:], a.options)
	binary.BigEndian.PutUint16(h[10:], packet.IPv4HeaderChecksum(h))
	var pseudo uint32
	if a.protocol != packet.ProtoICMP {
		end := h[16:20]
		if a.end.Is4() {
			end = a.end.AsSlice()
		}
		pseudo = packet.PseudoHeader4(h[12:16], end, a.protocol, len(a.body))
	}
	a.checksum(pseudo)
	return append(f, a.body...)
}

// checksum fills the transport checksum in.
func (a *answer) checksum(pseudo uint32) {
	at := 2
	if a.protocol == packet.ProtoTCP {
		at = 16
	}
	a.body[at], a.body[at+1] = 0, 0
	binary.BigEndian.PutUint16(a.body[at:], ^packet.Fold(packet.Sum(pseudo, a.body)))
}

// answerWith sends a packet that the host made through output.
func (w *Worker) answerWith(a *answer, to way) {
	if loopbackNet.Contains(a.from) && !to.out.loopback {
		a.ct.Reset()
		return // a loopback address does not leave
	}
	if a.from.Is4() && !a.df {
		a.id = w.engine.nextID()
	}
	c := w.fork(a.frame(), a.ct)
	if c == nil {
		return
	}
	c.meta.Priority, c.meta.Mark = a.priority, a.mark
	c.meta.PktType = packet.PktHost
	c.boundTo, c.onDevice, c.optionsRead = a.bound, a.onDevice, len(a.options) > 0
	c.view.HideMac()
	family := catalog.FamilyIP
	if a.from.Is6() {
		family = catalog.FamilyIP6
	}
	c.output(family, to)
	w.finish(c, a.kind)
}

// specificAddress is the host's address that a packet's options or the answer
// to it show: its destination if that is the host's, else that of the way back.
// Ref: net/ipv4/fib_frontend.c, fib_compute_spec_dst.
func (w *Worker) specificAddress(to way) netip.Addr {
	destination := w.view.DstAddr()
	if to.route == host.RouteLocal || to.route == host.RouteAnycast {
		return destination
	}
	return w.engine.sourceTowards(w.view.SrcAddr(), w.meta.IIF)
}

// sourceTowards is the host's address for packets to a destination.
func (e *Engine) sourceTowards(destination netip.Addr, d packet.Device) netip.Addr {
	route, ok := e.host.RouteVia(destination, boundDevice(destination, d))
	if ok && route.PrefSrc.IsValid() {
		return route.PrefSrc
	}
	if ok && (route.Type == host.RouteLocal || route.Type == host.RouteAnycast) {
		return destination
	}
	if ok {
		if i, found := e.host.ByIndex(route.Interface); found {
			d = e.device(i.Name).meta
		}
	}
	choose := e.sourceAddress4
	if destination.Is6() {
		choose = e.sourceAddress6
	}
	a, _ := choose(d, destination)
	return a
}

// boundDevice is the device that a destination of limited scope belongs to.
func boundDevice(a netip.Addr, d packet.Device) int {
	if a.Is6() && (a.IsLinkLocalUnicast() || a.IsMulticast()) {
		return int(d.Index)
	}
	return 0
}
