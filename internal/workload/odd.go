package workload

import (
	"encoding/binary"
	"net/netip"
	"time"

	"verdict/packet"
)

// oddFrames adds what every interface on the internet sees besides proper
// traffic: probes with senseless flags, spoofed sources, fragments, damaged
// and unknown packets. Each frame's comment says what is odd about it. They
// come along the given leg, one every so often.
func (t *trace) oddFrames(at, every time.Duration, from leg) {
	for _, add := range []func(time.Duration, leg){
		t.senselessFlags, t.spoofedSources, t.fragments, t.damagedHeaders, t.wrongChecksums, t.otherProtocols, t.unknownTypes,
	} {
		add(at, from)
		at += every
	}
}

// soon moves a little on.
func (t *trace) soon(at *time.Duration) time.Duration {
	*at += t.delay(time.Millisecond, 40*time.Millisecond)
	return *at
}

func (t *trace) senselessFlags(at time.Duration, l leg) {
	for _, odd := range []struct {
		flags uint8
		why   string
	}{
		{0, "TCP without flags"},
		{flagFIN | flagPSH | flagURG, "TCP with FIN, PSH and URG alone"},
		{flagSYN | flagFIN, "TCP with SYN and FIN"},
		{flagSYN | flagRST, "TCP with SYN and RST"},
		{flagACK, "TCP acknowledgement without a connection"},
		{flagSYN | flagACK, "TCP answer that nobody asked for"},
		{flagRST, "TCP reset without a connection"},
	} {
		f := mirrored(l, 64)
		f.forward.src = netip.AddrPortFrom(l.src.Addr(), uint16(t.between(40000, 60000)))
		f.forward.dst = netip.AddrPortFrom(l.dst.Addr(), pick(&t.random, []uint16{22, 80, 443}))
		t.probe(t.soon(&at), f, odd.flags, 0)
		t.odd(odd.why)
	}
}

func (t *trace) spoofedSources(at time.Duration, l leg) {
	for _, odd := range []struct{ source, why string }{
		{"127.0.0.1", "loopback source from outside"},
		{"10.66.6.6", "private source from outside"},
		{"0.0.0.0", "source 0.0.0.0"},
		{"240.0.0.1", "reserved source"},
		{"224.0.0.5", "multicast source"},
		{"255.255.255.255", "broadcast source"},
		{l.dst.Addr().String(), "the receiver's own address as source"},
	} {
		f := mirrored(l, 64)
		f.forward.src = netip.AddrPortFrom(netip.MustParseAddr(odd.source), uint16(t.between(1024, 65000)))
		f.forward.dst = netip.AddrPortFrom(l.dst.Addr(), 80)
		t.probe(t.soon(&at), f, flagSYN, 0)
		t.odd(odd.why)
	}
}

// fragments adds a datagram in three pieces, a lone later one, and a first
// one too short for its ports.
func (t *trace) fragments(at time.Duration, l leg) {
	src, dst := netip.AddrPortFrom(l.src.Addr(), 53), netip.AddrPortFrom(l.dst.Addr(), 33000)
	datagram := udpDatagram(src, dst, t.bytes(600))
	header := ipHeader{src: src.Addr(), dst: dst.Addr(), protocol: protoUDP, ttl: l.ttl, id: uint16(t.next())}
	piece := func(id uint16, from, to int, why string) {
		h := header
		h.id, h.fragment = id, uint16(from/8)
		if to < len(datagram) {
			h.fragment |= 0x2000
		}
		t.emit(t.soon(&at), &l, ethernet(l.dstMAC, l.srcMAC, packet.TypeIPv4, h.ipv4(datagram[from:to])))
		t.odd(why)
	}
	piece(header.id, 0, 256, "first fragment")
	piece(header.id, 256, 512, "second fragment")
	piece(header.id, 512, len(datagram), "last fragment")
	piece(header.id+1, 256, 512, "fragment whose first never came")
	piece(header.id+2, 0, 8, "first fragment of eight bytes")
}

// damagedHeaders adds packets whose headers contradict themselves.
func (t *trace) damagedHeaders(at time.Duration, l leg) {
	src, dst := netip.AddrPortFrom(l.src.Addr(), 40001), netip.AddrPortFrom(l.dst.Addr(), 443)
	tcp := tcpHeader{src: src, dst: dst, seq: 1, flags: flagSYN, window: 1024}
	header := ipHeader{src: src.Addr(), dst: dst.Addr(), protocol: protoTCP, ttl: l.ttl, id: 7}
	for _, odd := range []struct {
		why    string
		damage func(ip []byte) []byte
	}{
		{"IPv4 total length beyond the frame", func(ip []byte) []byte { binary.BigEndian.PutUint16(ip[2:], 1400); return ip }},
		{"IPv4 total length below the header", func(ip []byte) []byte { binary.BigEndian.PutUint16(ip[2:], 12); return ip }},
		{"IPv4 header length 4", func(ip []byte) []byte { ip[0] = 0x44; return ip }},
		{"IP version 5 in an IPv4 frame", func(ip []byte) []byte { ip[0] = 0x55; return ip }},
		{"IPv4 header cut off", func(ip []byte) []byte { return ip[:12] }},
		{"TCP header cut off", func(ip []byte) []byte { binary.BigEndian.PutUint16(ip[2:], 32); return ip[:32] }},
	} {
		ip := odd.damage(header.ipv4(tcp.segment(nil)))
		if len(ip) >= 20 {
			binary.BigEndian.PutUint16(ip[10:], 0)
			binary.BigEndian.PutUint16(ip[10:], checksum(0, ip[:20]))
		}
		t.emit(t.soon(&at), &l, ethernet(l.dstMAC, l.srcMAC, packet.TypeIPv4, ip))
		t.odd(odd.why)
	}
	short := tcp.segment(nil)
	short[12] = 4 << 4
	t.send(t.soon(&at), &l, protoTCP, short)
	t.odd("TCP data offset 4")
}

func (t *trace) wrongChecksums(at time.Duration, l leg) {
	src, dst := netip.AddrPortFrom(l.src.Addr(), 40002), netip.AddrPortFrom(l.dst.Addr(), 53)
	header := ipHeader{src: src.Addr(), dst: dst.Addr(), protocol: protoUDP, ttl: l.ttl, id: 8}
	ip := header.ipv4(udpDatagram(src, dst, []byte("checksum")))
	ip[10] ^= 0xff
	t.emit(t.soon(&at), &l, ethernet(l.dstMAC, l.srcMAC, packet.TypeIPv4, ip))
	t.odd("wrong IPv4 header checksum")

	datagram := udpDatagram(src, dst, []byte("checksum"))
	datagram[6] ^= 0xff
	t.send(t.soon(&at), &l, protoUDP, datagram)
	t.odd("wrong UDP checksum")

	datagram = udpDatagram(src, dst, []byte("length"))
	binary.BigEndian.PutUint16(datagram[4:], 200)
	t.send(t.soon(&at), &l, protoUDP, datagram)
	t.odd("UDP length beyond the packet")
}

func (t *trace) otherProtocols(at time.Duration, l leg) {
	for _, odd := range []struct {
		protocol uint8
		payload  []byte
		why      string
	}{
		{2, []byte{0x16, 0, 0x09, 0x04, 224, 0, 0, 251}, "IGMP report"},
		{47, append([]byte{0, 0, 8, 0, 0x45}, make([]byte, 19)...), "GRE"},
		{50, t.bytes(64), "ESP"},
		{132, append([]byte{0x9c, 0x40, 0x01, 0xbb, 0, 0, 0, 0}, t.bytes(20)...), "SCTP"},
		{253, t.bytes(16), "protocol for experiments"},
	} {
		t.send(t.soon(&at), &l, odd.protocol, odd.payload)
		t.odd(odd.why)
	}
	for _, odd := range []struct {
		kind, code uint8
		why        string
	}{{13, 0, "ICMP timestamp request"}, {5, 1, "ICMP redirect"}, {8, 0, "ICMP echo with an IP option"}} {
		body := make([]byte, 28)
		body[0] = 0x45
		header := ipHeader{src: l.src.Addr(), dst: l.dst.Addr(), protocol: protoICMP, ttl: l.ttl, id: 9}
		if odd.kind == 8 {
			header.options = []byte{7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0} // record route
		}
		ip := header.ipv4(icmpMessage(l.src.Addr(), l.dst.Addr(), odd.kind, odd.code, 0, body))
		t.emit(t.soon(&at), &l, ethernet(l.dstMAC, l.srcMAC, packet.TypeIPv4, ip))
		t.odd(odd.why)
	}
}

// unknownTypes adds frames that are no IP packets.
func (t *trace) unknownTypes(at time.Duration, l leg) {
	bridgeGroup := mac{0x01, 0x80, 0xc2, 0, 0, 0}
	stp := []byte{0, 38, 0x42, 0x42, 3, 0, 0, 0, 0, 0, 0x80, 0, 2, 0, 0, 0, 0, 0xfe}
	frame := append(append(append([]byte(nil), bridgeGroup[:]...), l.srcMAC[:]...), append(stp, make([]byte, 28)...)...)
	t.emit(t.soon(&at), &l, frame)
	t.odd("spanning tree in an 802.3 frame")

	lldp := append([]byte{2, 7, 4}, l.srcMAC[:]...)
	lldp = append(lldp, 4, 3, 7, 'p', '1', 6, 2, 0, 120, 0, 0)
	t.emit(t.soon(&at), &l, ethernet(mac{0x01, 0x80, 0xc2, 0, 0, 0x0e}, l.srcMAC, 0x88cc, lldp))
	t.odd("LLDP")

	header := ipHeader{src: l.src.Addr(), dst: l.dst.Addr(), protocol: protoICMP, ttl: l.ttl, id: 10}
	ping := header.ipv4(icmpMessage(l.src.Addr(), l.dst.Addr(), 8, 0, 1, make([]byte, 16)))
	tagged := append([]byte{0x20, 0, 8, 0}, ping...) // priority 1, VLAN 0
	t.emit(t.soon(&at), &l, ethernet(l.dstMAC, l.srcMAC, packet.TypeVLAN, tagged))
	t.odd("priority-tagged frame")

	t.emit(t.soon(&at), &l, ethernet(l.dstMAC, l.srcMAC, 0x88b5, t.bytes(46)))
	t.odd("EtherType for experiments")
	t.emit(t.soon(&at), &l, append([]byte(nil), l.dstMAC[:]...))
	t.odd("frame of six bytes")
}
