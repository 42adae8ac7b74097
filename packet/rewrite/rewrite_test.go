package rewrite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"verdict/packet"
	"verdict/packet/build"

	"pgregory.net/rapid"
)

// frame makes a frame from text.
func frame(t interface {
	Fatalf(string, ...any)
}, text string) *build.Packet {
	p, err := build.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// verify checks all checksums of the view's packet.
func verify(t interface {
	Fatalf(string, ...any)
}, v *packet.View) {
	if ok, result := v.VerifyIPv4Header(); result == packet.OK && !ok {
		t.Fatalf("bad IPv4 header checksum: %x", v.Data)
	}
	if ok, result := v.VerifyTransport(); result == packet.OK && !ok {
		t.Fatalf("bad transport checksum: %x", v.Data)
	}
}

// packets are one of each kind, with and without VLAN tag and options.
var packets = []string{
	"ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 1 tcp dport 2 tcp flags syn tcp option maxseg size 1460 payload \"abc\"",
	"vlan id 5 ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 1 tcp dport 2 tcp flags ack payload \"abcd\"",
	"ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1 udp dport 2 payload \"abc\"",
	"ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1 udp dport 2 udp checksum 0 payload \"abc\"",
	"ip saddr 10.0.0.1 ip daddr 10.0.0.2 sctp sport 1 sctp dport 2 sctp vtag 7 sctp chunk data",
	"ip saddr 10.0.0.1 ip daddr 10.0.0.2 icmp type echo-request icmp id 3 payload \"abc\"",
	"ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip protocol 50 payload \"abcdefgh\"",
	"ip saddr 10.0.0.1 ip daddr 10.0.0.2 udplite sport 1 udplite dport 2 payload \"abc\"",
	"ip6 saddr fd00::1 ip6 daddr fd00::2 tcp sport 1 tcp dport 2 tcp flags syn payload \"abc\"",
	"ip6 saddr fd00::1 ip6 daddr fd00::2 udp sport 1 udp dport 2 payload \"abc\"",
	"ip6 saddr fd00::1 ip6 daddr fd00::2 icmpv6 type echo-request icmpv6 id 3 payload \"abc\"",
	"ip6 saddr fd00::1 ip6 daddr fd00::2 icmpv6 type nd-neighbor-solicit",
	"ip6 saddr fd00::1 ip6 daddr fd00::2 dst data 0x010400000000 udp sport 1 udp dport 2 payload \"abc\"",
	"ip6 saddr fd00::1 ip6 daddr fd00::2 sctp sport 1 sctp dport 2 sctp vtag 7 sctp chunk data",
}

func layoutOf(v *packet.View) *Layout {
	return &Layout{Network: v.NetOff, Transport: v.ThOff, End: v.End, Protocol: v.L4Proto, IPv6: v.EtherType == packet.TypeIPv6}
}

// TestSetEndpoint changes random ends many times over and verifies checksums,
// that nothing else changed, and that the borrowed frame did not.
func TestSetEndpoint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom(packets).Draw(rt, "packet")
		p := frame(rt, text)
		before := bytes.Clone(p.Data)
		var v packet.View
		var b Buffer
		v.Decode(p.Link, p.Data, len(p.Data))
		for range rapid.IntRange(1, 4).Draw(rt, "n") {
			var e Endpoint
			e.Source = rapid.Bool().Draw(rt, "source")
			copy(e.Addr[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "addr"))
			e.Port = rapid.Uint16().Draw(rt, "port")
			if !b.SetEndpoint(&v, layoutOf(&v), e) {
				rt.Fatalf("%s: refused", text)
			}
			verify(rt, &v)
			checkEnd(rt, &v, e)
		}
		if !bytes.Equal(p.Data, before) {
			rt.Fatalf("the borrowed frame has changed")
		}
		var again packet.View
		again.Decode(p.Link, v.Data, len(v.Data))
		if again.ThOff != v.ThOff || again.L4Proto != v.L4Proto || !bytes.Equal(again.Packet(), v.Packet()) {
			rt.Fatalf("the view does not fit the rewritten frame")
		}
	})
}

// checkEnd compares the packet with what was asked for.
func checkEnd(t *rapid.T, v *packet.View, e Endpoint) {
	addr := v.DstAddr()
	if e.Source {
		addr = v.SrcAddr()
	}
	if got := addr.AsSlice(); !bytes.Equal(got, e.Addr[:len(got)]) {
		t.Fatalf("address %s, want %x", addr, e.Addr)
	}
	if src, dst, ok := v.Ports(); ok && v.L4Proto != packet.ProtoDCCP {
		if e.Source && src != e.Port || !e.Source && dst != e.Port {
			t.Fatalf("ports %d and %d, want %d", src, dst, e.Port)
		}
	}
}

// TestSetEndpointKeepsWrongChecksums: what was wrong by some amount still is.
func TestSetEndpointKeepsWrongChecksums(t *testing.T) {
	for _, text := range packets[:3] {
		p := frame(t, text)
		var v packet.View
		v.Decode(p.Link, p.Data, len(p.Data))
		off, _, _ := packet.ChecksumOffset(v.L4Proto)
		p.Data[v.ThOff+off] ^= 0x55
		var b Buffer
		b.SetEndpoint(&v, layoutOf(&v), Endpoint{Source: true, Addr: [16]byte{9, 9, 9, 9}, Port: 99})
		if ok, _ := v.VerifyTransport(); ok {
			t.Errorf("%s: a wrong checksum became right", text)
		}
	}
}

// TestSetEndpointRefuses packets too short for their protocol, and versions of
// GRE that do not exist.
func TestSetEndpointRefuses(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"ip protocol tcp payload 0x00010002000000", false},
		{"ip protocol tcp payload 0x0001000200000000", true},
		{"ip protocol udp payload 0x00010002000000", false},
		{"ip protocol sctp payload 0x0001000200000000", true},
		{"ip protocol sctp payload 0x00010002000000", false},
		{"ip protocol icmp payload 0x08000000", false},
		{"ip protocol gre payload 0x0000080000000000", true},
		{"ip protocol gre payload 0x3001880b00040007", true},
		{"ip protocol gre payload 0x3002880b00040007", false},
		{"ip protocol gre payload 0x00000800", false},
		{"ip protocol 50 payload 0x00", true},
	}
	for _, tt := range tests {
		p := frame(t, tt.text)
		var v packet.View
		var b Buffer
		v.Decode(p.Link, p.Data, len(p.Data))
		if got := b.SetEndpoint(&v, layoutOf(&v), Endpoint{Addr: [16]byte{1, 2, 3, 4}, Port: 5}); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.text, got, tt.want)
		}
	}
	p := frame(t, "ip protocol gre payload 0x3001880b00040007")
	var v packet.View
	var b Buffer
	v.Decode(p.Link, p.Data, len(p.Data))
	b.SetEndpoint(&v, layoutOf(&v), Endpoint{Addr: [16]byte{1, 2, 3, 4}, Port: 0x1234})
	if id := binary.BigEndian.Uint16(v.Data[v.ThOff+6:]); id != 0x1234 {
		t.Errorf("call id %#x", id)
	}
}

// TestSetQuoted changes ends of the packet that an error quotes.
func TestSetQuoted(t *testing.T) {
	outer := []string{"ip saddr 192.0.2.1 ip daddr 10.0.0.1 icmp type time-exceeded inner ", "ip6 saddr 2001:db8::1 ip6 daddr fd00::1 icmpv6 type time-exceeded inner "}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom(packets).Filter(func(s string) bool { return s[:4] != "vlan" }).Draw(rt, "packet")
		six := text[:3] == "ip6"
		p := frame(rt, outer[0]+text)
		if six {
			p = frame(rt, outer[1]+text)
		}
		var v, inner packet.View
		v.Decode(p.Link, p.Data, len(p.Data))
		quoted := v.ThOff + 8
		inner.Decode(packet.LinkRaw, p.Data[quoted:], len(p.Data)-quoted)
		l := layoutOf(&inner)
		l.Network += quoted
		l.Transport += quoted
		l.End += quoted
		e := Endpoint{Source: rapid.Bool().Draw(rt, "source"), Port: rapid.Uint16().Draw(rt, "port")}
		copy(e.Addr[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "addr"))
		var b Buffer
		if !b.SetQuoted(&v, v.ThOff, l, e) {
			rt.Fatalf("%s: refused", text)
		}
		verify(rt, &v)
		inner.Decode(packet.LinkRaw, v.Data[quoted:], len(v.Data)-quoted)
		verify(rt, &inner)
		checkEnd(rt, &inner, e)
	})
}

// TestReplacePayload grows and shrinks payloads.
func TestReplacePayload(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		i := rapid.SampledFrom([]int{0, 1, 2, 3, 8, 9, 12}).Draw(rt, "packet")
		p := frame(rt, packets[i])
		before := bytes.Clone(p.Data)
		var v packet.View
		var b Buffer
		v.Decode(p.Link, p.Data, len(p.Data))
		hidden := rapid.Bool().Draw(rt, "hidden")
		if hidden {
			v.HideMac()
		}
		start, _ := v.InnerOff()
		payload := bytes.Clone(v.Packet()[start:])
		at := rapid.IntRange(0, len(payload)).Draw(rt, "at")
		n := rapid.IntRange(0, len(payload)-at).Draw(rt, "n")
		text := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "text")
		if !b.ReplacePayload(&v, start+at, n, text) {
			rt.Fatalf("refused")
		}
		verify(rt, &v)
		want := append(append(bytes.Clone(payload[:at]), text...), payload[at+n:]...)
		if got := v.Packet()[start:]; !bytes.Equal(got, want) {
			rt.Fatalf("payload %x, want %x", got, want)
		}
		if v.NetLen != len(v.Packet())-v.NetOff || !bytes.Equal(p.Data, before) || hidden != (v.MacLen == 0) {
			rt.Fatalf("length %d, link header %d", v.NetLen, v.MacLen)
		}
	})
}

// TestReplacePayloadRefuses what it cannot do, changing nothing.
func TestReplacePayloadRefuses(t *testing.T) {
	var b Buffer
	for _, text := range []string{"ip frag-off 0x2000 udp dport 5 payload \"abc\"", "ip frag-off 1 ip protocol udp payload \"abcdefghijkl\"", "ip protocol 50 payload \"abcdefghijkl\""} {
		p := frame(t, text)
		var v packet.View
		v.Decode(p.Link, p.Data, len(p.Data))
		b.Start()
		if text[:14] != "ip protocol 50" && b.ReplacePayload(&v, len(p.Data)-1, 1, []byte("x")) || b.Changed() {
			t.Errorf("%s: replaced", text)
		}
	}
	p := frame(t, "udp dport 5 payload \"abc\"")
	var v packet.View
	v.Decode(p.Link, p.Data[:44], len(p.Data))
	if b.ReplacePayload(&v, 42, 1, []byte("x")) {
		t.Error("a cut packet: replaced")
	}
	v.Decode(p.Link, p.Data, len(p.Data))
	if b.ReplacePayload(&v, 42, 1, make([]byte, 65535)) || b.ReplacePayload(&v, 42, 4, nil) || b.ReplacePayload(&v, 20, 1, nil) {
		t.Error("out of bounds: replaced")
	}
}

// TestPayload writes fields with the checksums that nft asks for.
func TestPayload(t *testing.T) {
	inet := func(off int, pseudo bool) Checksum { return Checksum{Inet: true, Offset: off, Pseudo: pseudo} }
	tests := []struct {
		name  string
		text  string
		base  packet.Base
		off   int
		value []byte
		sum   Checksum
		want  packet.LoadResult
	}{
		{"address", packets[0], packet.BaseNetwork, 12, []byte{1, 2, 3, 4}, inet(10, true), packet.OK},
		{"address, UDP", packets[2], packet.BaseNetwork, 16, []byte{1, 2, 3, 4}, inet(10, true), packet.OK},
		{"address, UDP without checksum", packets[3], packet.BaseNetwork, 16, []byte{1, 2, 3, 4}, inet(10, true), packet.OK},
		{"address, other protocol", packets[6], packet.BaseNetwork, 16, []byte{1, 2, 3, 4}, inet(10, true), packet.OK},
		{"hop limit, odd offset", packets[0], packet.BaseNetwork, 9, []byte{6}, inet(10, false), packet.OK},
		{"type of service", packets[0], packet.BaseNetwork, 1, []byte{0xb8}, inet(10, false), packet.OK},
		{"TCP port", packets[0], packet.BaseTransport, 2, []byte{9, 9}, inet(16, false), packet.OK},
		{"UDP port", packets[2], packet.BaseTransport, 0, []byte{9, 9}, inet(6, false), packet.OK},
		{"ICMP id", packets[5], packet.BaseTransport, 4, []byte{9, 9}, inet(2, false), packet.OK},
		{"ICMPv6 id", packets[10], packet.BaseTransport, 4, []byte{9, 9}, inet(2, false), packet.OK},
		{"IPv6 address, TCP", packets[8], packet.BaseNetwork, 8, bytes.Repeat([]byte{7}, 16), Checksum{Pseudo: true}, packet.OK},
		{"IPv6 address, ICMPv6", packets[10], packet.BaseNetwork, 24, bytes.Repeat([]byte{7}, 16), Checksum{Pseudo: true}, packet.OK},
		{"SCTP port", packets[4], packet.BaseTransport, 2, []byte{9, 9}, Checksum{SCTP: true}, packet.OK},
		{"inner", packets[2], packet.BaseInner, 1, []byte{'x'}, Checksum{}, packet.OK},
		{"beyond the packet", packets[0], packet.BaseTransport, 200, []byte{9, 9}, inet(16, false), packet.Break},
		{"checksum beyond the packet", packets[2], packet.BaseTransport, 0, []byte{9, 9}, inet(200, false), packet.Break},
		{"link address", packets[0], packet.BaseLink, 6, []byte{2, 0, 0, 0, 0, 9}, Checksum{}, packet.OK},
		{"link type behind a tag", packets[1], packet.BaseLink, 12, []byte{8, 0}, Checksum{}, packet.OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := frame(t, tt.text)
			before := bytes.Clone(p.Data)
			var v packet.View
			var b Buffer
			v.Decode(p.Link, p.Data, len(p.Data))
			if got := b.Payload(&v, tt.base, tt.off, tt.value, tt.sum); got != tt.want {
				t.Fatalf("result %s, want %s", got, tt.want)
			}
			if !bytes.Equal(p.Data, before) {
				t.Error("the borrowed frame has changed")
			}
			if tt.want != packet.OK {
				if b.Changed() {
					t.Error("changed all the same")
				}
				return
			}
			read := make([]byte, len(tt.value))
			if v.Load(tt.base, tt.off, len(read), read) != packet.OK || !bytes.Equal(read, tt.value) {
				t.Errorf("reads %x, want %x", read, tt.value)
			}
			if tt.base != packet.BaseInner {
				verify(t, &v)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		p := frame(t, packets[0])
		var v packet.View
		var b Buffer
		v.Decode(p.Link, p.Data[:40], len(p.Data))
		if got := b.Payload(&v, packet.BaseTransport, 8, []byte{1}, Checksum{}); got != packet.Cut || b.Changed() {
			t.Errorf("result %s", got)
		}
	})
}

// TestTCPBytesAndTTL keep checksums right.
func TestTCPBytesAndTTL(t *testing.T) {
	for _, text := range []string{packets[0], packets[1], packets[8]} {
		p := frame(t, text)
		var v packet.View
		var b Buffer
		v.Decode(p.Link, p.Data, len(p.Data))
		b.TCPBytes(&v, v.ThOff+4, []byte{1, 2, 3, 4})
		b.TCPBytes(&v, v.ThOff+13, []byte{0x11})
		b.DecrementTTL(&v)
		verify(t, &v)
		at := v.NetOff + 8
		if v.EtherType == packet.TypeIPv6 {
			at = v.NetOff + 7
		}
		if v.Data[at] != 63 || !bytes.Equal(v.Data[v.ThOff+4:v.ThOff+8], []byte{1, 2, 3, 4}) {
			t.Errorf("%s: hop limit %d", text, v.Data[at])
		}
	}
}

// TestBuffer: nothing is copied before the first write, and the memory serves
// the next packet.
func TestBuffer(t *testing.T) {
	var b Buffer
	for i, text := range packets {
		p := frame(t, text)
		var v packet.View
		v.Decode(p.Link, p.Data, len(p.Data))
		b.Start()
		if b.Changed() || &v.Data[0] != &p.Data[0] {
			t.Fatalf("packet %d was copied too early", i)
		}
		data := b.Writable(&v)
		if !b.Changed() || &v.Data[0] != &data[0] || &data[0] == &p.Data[0] || !bytes.Equal(data, p.Data) {
			t.Fatalf("packet %d was not copied", i)
		}
	}
}

func ExampleBuffer_SetEndpoint() {
	p, _ := build.Parse("ip saddr 10.0.0.1 ip daddr 192.0.2.7 udp sport 4000 udp dport 53")
	var v packet.View
	v.Decode(p.Link, p.Data, len(p.Data))
	var b Buffer
	l := Layout{Network: v.NetOff, Transport: v.ThOff, End: v.End, Protocol: v.L4Proto}
	b.SetEndpoint(&v, &l, Endpoint{Source: true, Addr: [16]byte{203, 0, 113, 1}, Port: 61000})
	fmt.Println(build.Summary(&v))
	// Output: IP 203.0.113.1.61000 > 192.0.2.7.53: udp len 0
}

// TestSetOfOtherLinks: link headers that hold lengths are corrected.
func TestSetOfOtherLinks(t *testing.T) {
	ip := frame(t, "link raw udp dport 53 payload \"abc\"").Data
	long := frame(t, "link raw udp dport 53 payload length 1000").Data
	ether := append(make([]byte, 12), 0x88, 0x64)
	pppoe := func(ip []byte) []byte {
		f := append(bytes.Clone(ether), 0x11, 0, 0, 1)
		f = binary.BigEndian.AppendUint16(f, uint16(len(ip)+2))
		return append(append(f, 0, 0x21), ip...)
	}
	nflog := func(order binary.AppendByteOrder, ip []byte) []byte {
		f := order.AppendUint16([]byte{2, 0, 0, 0}, 8)
		f = append(order.AppendUint16(f, 3), 0, 0, 0, 7) // the mark
		f = order.AppendUint16(f, uint16(len(ip)+4))
		return append(order.AppendUint16(f, 9), ip...)
	}
	tests := []struct {
		name     string
		link     packet.LinkType
		old, new []byte
	}{
		{"PPPoE", packet.LinkEthernet, pppoe(ip), pppoe(long)},
		{"NFLOG, little endian", packet.LinkNFLOG, nflog(binary.LittleEndian, ip), nflog(binary.LittleEndian, long)},
		{"NFLOG, big endian", packet.LinkNFLOG, nflog(binary.BigEndian, ip), nflog(binary.BigEndian, long)},
		{"raw", packet.LinkRaw, ip, long},
	}
	for _, tt := range tests {
		var v packet.View
		var b Buffer
		v.Decode(tt.link, tt.old, len(tt.old))
		if v.NetLen != len(ip) {
			t.Fatalf("%s: length %d before", tt.name, v.NetLen)
		}
		network := v.NetOff
		b.Set(&v, append(bytes.Clone(tt.old[:network]), long...), network, network+len(long))
		if v.NetLen != len(long) || v.NetOff != network || !bytes.Equal(v.Data, tt.new) {
			t.Errorf("%s: length %d, want %d; %x", tt.name, v.NetLen, len(long), v.Data[:network])
		}
		verify(t, &v)
	}
}
