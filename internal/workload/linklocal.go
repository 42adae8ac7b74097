package workload

import (
	"encoding/binary"
	"net/netip"
	"time"

	"verdict/capture"
	"verdict/packet"
)

// station is a host on a link.
type station struct {
	mac  mac
	ipv4 netip.Addr
	ipv6 netip.Addr // global
	link netip.Addr // fe80::/64
}

// newStation numbers a host: its addresses end in the same number.
func newStation(last byte, ipv4, ipv6 string) station {
	s := station{mac: mac{2, 0, 0, 0, 0, last}}
	if ipv4 != "" {
		s.ipv4 = netip.MustParseAddr(ipv4)
	}
	if ipv6 != "" {
		s.ipv6 = netip.MustParseAddr(ipv6)
		s.link = netip.AddrFrom16([16]byte{0xfe, 0x80, 8: 0, 11: 0xff, 12: 0xfe, 15: last})
	}
	return s
}

// arp adds a request who has an address and, if answered, the reply.
//
// Ref: RFC 826
func (t *trace) arp(at time.Duration, iface int, asker, owner *station, direction capture.Direction, answered bool) {
	request := leg{iface: iface, direction: direction, srcMAC: asker.mac, dstMAC: broadcastMAC}
	t.emit(at, &request, ethernet(broadcastMAC, asker.mac, packet.TypeARP, arpPacket(1, asker, &station{ipv4: owner.ipv4})))
	if !answered {
		return
	}
	reply := mirrored(request, 0).reverse
	t.emit(at+t.delay(40*time.Microsecond, 300*time.Microsecond), &reply,
		ethernet(asker.mac, owner.mac, packet.TypeARP, arpPacket(2, owner, asker)))
}

func arpPacket(operation uint16, sender, target *station) []byte {
	b := []byte{0, 1, 8, 0, 6, 4}
	b = binary.BigEndian.AppendUint16(b, operation)
	b = append(b, sender.mac[:]...)
	b = append(b, sender.ipv4.AsSlice()...)
	b = append(b, target.mac[:]...)
	return append(b, target.ipv4.AsSlice()...)
}

// solicit adds a neighbour solicitation and the advertisement.
//
// Ref: RFC 4861, sections 4.3 and 4.4
func (t *trace) solicit(at time.Duration, iface int, asker, owner *station, direction capture.Direction) {
	target := owner.ipv6.As16()
	group := netip.AddrFrom16([16]byte{0: 0xff, 1: 2, 11: 1, 12: 0xff, 13: target[13], 14: target[14], 15: target[15]})
	request := leg{iface: iface, direction: direction, srcMAC: asker.mac, dstMAC: multicastMAC(group),
		src: netip.AddrPortFrom(asker.link, 0), dst: netip.AddrPortFrom(group, 0), ttl: 255}
	body := append(target[:], 1, 1)
	body = append(body, asker.mac[:]...)
	t.send(at, &request, protoICMPv6, icmpMessage(asker.link, group, 135, 0, 0, body))

	reply := mirrored(request, 255).reverse
	reply.srcMAC, reply.src = owner.mac, netip.AddrPortFrom(owner.ipv6, 0)
	body = append(target[:], 2, 1)
	body = append(body, owner.mac[:]...)
	t.send(at+t.delay(40*time.Microsecond, 300*time.Microsecond), &reply, protoICMPv6,
		icmpMessage(owner.ipv6, asker.link, 136, 0, 0x60000000, body))
}

var allNodes = netip.MustParseAddr("ff02::1")

// advertise adds a router advertisement for a /64.
//
// Ref: RFC 4861, section 4.2
func (t *trace) advertise(at time.Duration, iface int, router *station, network netip.Addr, direction capture.Direction) {
	l := leg{iface: iface, direction: direction, srcMAC: router.mac, dstMAC: multicastMAC(allNodes),
		src: netip.AddrPortFrom(router.link, 0), dst: netip.AddrPortFrom(allNodes, 0), ttl: 255}
	body := make([]byte, 8) // reachable and retransmission times: unspecified
	body = append(body, 1, 1)
	body = append(body, router.mac[:]...)
	body = append(body, 3, 4, 64, 0xc0) // prefix information, on link, autonomous
	body = binary.BigEndian.AppendUint32(body, 86400)
	body = binary.BigEndian.AppendUint32(body, 14400)
	body = append(body, 0, 0, 0, 0)
	body = append(body, network.AsSlice()...)
	t.send(at, &l, protoICMPv6, icmpMessage(router.link, allNodes, 134, 0, 64<<24|1800, body))
}

// multicastMAC returns the link address of an IPv6 group.
func multicastMAC(group netip.Addr) mac {
	b := group.As16()
	return mac{0x33, 0x33, b[12], b[13], b[14], b[15]}
}

// dhcp adds the four messages by which a client gets its address.
//
// Ref: RFC 2131, sections 2 and 3.1
func (t *trace) dhcp(at time.Duration, iface int, client, server *station, fromClient capture.Direction) {
	nowhere, everywhere := netip.IPv4Unspecified(), netip.AddrFrom4([4]byte{255, 255, 255, 255})
	up := leg{iface: iface, direction: fromClient, srcMAC: client.mac, dstMAC: broadcastMAC,
		src: netip.AddrPortFrom(nowhere, 68), dst: netip.AddrPortFrom(everywhere, 67), ttl: 64}
	down := mirrored(up, 64).reverse
	down.srcMAC, down.dstMAC = server.mac, client.mac
	down.src, down.dst = netip.AddrPortFrom(server.ipv4, 67), netip.AddrPortFrom(client.ipv4, 68)
	transaction := uint32(t.next())
	for _, kind := range []byte{1, 2, 3, 5} { // discover, offer, request, acknowledge
		l := &up
		if kind == 2 || kind == 5 {
			l = &down
		}
		t.send(at, l, protoUDP, udpDatagram(l.src, l.dst, dhcpMessage(kind, transaction, client, server)))
		at += t.delay(time.Millisecond, 30*time.Millisecond)
	}
}

func dhcpMessage(kind byte, transaction uint32, client, server *station) []byte {
	fromServer := kind == 2 || kind == 5
	b := make([]byte, 236, 300)
	b[0], b[1], b[2] = 1, 1, 6
	binary.BigEndian.PutUint32(b[4:], transaction)
	copy(b[28:], client.mac[:])
	if fromServer {
		b[0] = 2
		copy(b[16:], client.ipv4.AsSlice())
		copy(b[20:], server.ipv4.AsSlice())
	}
	b = append(b, 99, 130, 83, 99, 53, 1, kind)
	if fromServer || kind == 3 {
		b = append(b, 54, 4)
		b = append(b, server.ipv4.AsSlice()...)
	}
	switch {
	case fromServer:
		b = append(b, 1, 4, 255, 255, 255, 0, 51, 4, 0, 0, 168, 192, 3, 4)
		b = append(b, server.ipv4.AsSlice()...)
	case kind == 3:
		b = append(b, 50, 4)
		b = append(b, client.ipv4.AsSlice()...)
	}
	b = append(b, 255)
	return append(b, make([]byte, 300-len(b))...)
}
