package packet

import (
	"fmt"
	"testing"
)

// describe prints what a rule can learn from the offsets at the current
// position.
func describe(v *View) string {
	s := fmt.Sprintf("mac %d+%d net %d %04x len %d %s", v.MacOff, v.MacLen, v.NetOff, v.EtherType, v.NetLen, v.Validity)
	if v.L4OK {
		s += fmt.Sprintf(" l4 %d at %d", v.L4Proto, v.ThOff)
	}
	if v.L4Cut {
		s += " l4 cut"
	}
	if v.FragOff != 0 {
		s += fmt.Sprintf(" frag %d", v.FragOff)
	}
	if v.MoreFragments {
		s += " more"
	}
	if v.AuthHeader {
		s += " auth"
	}
	for i := range v.NumVLAN {
		s += fmt.Sprintf(" tag %04x:%d", v.VLANTPID[i], v.VLANTCI[i])
	}
	return s + " " + v.PktType.String()
}

func TestDecodeEthernet(t *testing.T) {
	four := ipv4(t, ProtoTCP, 0, "", tcp(t, ""))
	six := ipv6(t, ProtoUDP, udp(t, ""))
	tests := []struct {
		name   string
		frame  []byte
		ip     string
		device string // empty: the same
	}{
		{"ipv4", ethernet(t, "0800", four),
			"mac 0+14 net 14 0800 len 40 valid l4 6 at 34 unicast", ""},
		{"ipv6", ethernet(t, "86dd", six),
			"mac 0+14 net 14 86dd len 48 valid l4 17 at 54 unicast", ""},
		{"padding", ethernet(t, "0800", append(four[:40:40], make([]byte, 6)...)),
			"mac 0+14 net 14 0800 len 40 valid l4 6 at 34 unicast",
			"mac 0+14 net 14 0800 len 46 valid l4 6 at 34 unicast"},
		{"arp", ethernet(t, "0806", make([]byte, 28)),
			"mac 0+14 net 14 0806 len 28 not ip unicast", ""},
		{"broadcast", bytesOf(t, "ffffffffffff 020000000001 0806", make([]byte, 28)),
			"mac 0+14 net 14 0806 len 28 not ip broadcast", ""},
		{"multicast", bytesOf(t, "01005e000001 020000000001 0800", four),
			"mac 0+14 net 14 0800 len 40 valid l4 6 at 34 multicast", ""},
		{"802.1Q", ethernet(t, "8100 0005 0800", four),
			"mac 0+18 net 18 0800 len 40 valid l4 6 at 38 tag 8100:5 unicast", ""},
		{"802.1ad over 802.1Q", ethernet(t, "88a8 0064 8100 0005 0800", four),
			"mac 0+22 net 22 0800 len 40 valid l4 6 at 42 tag 88a8:100 tag 8100:5 unicast",
			"mac 0+22 net 18 8100 len 44 not ip tag 88a8:100 tag 8100:5 unicast"},
		{"old outer tag", ethernet(t, "9100 0064 8100 0005 0800", four),
			"mac 0+22 net 22 0800 len 40 valid l4 6 at 42 tag 9100:100 tag 8100:5 unicast",
			"mac 0+22 net 14 9100 len 48 not ip tag 9100:100 tag 8100:5 unicast"},
		{"three tags", ethernet(t, "8100 0001 8100 0002 8100 0003 0800", four),
			"mac 0+26 net 26 0800 len 40 valid l4 6 at 46 tag 8100:1 tag 8100:2 tag 8100:3 unicast",
			"mac 0+26 net 18 8100 len 48 not ip tag 8100:1 tag 8100:2 tag 8100:3 unicast"},
		{"tag without room", ethernet(t, "8100 00", nil),
			"mac 0+14 net 14 8100 len 1 not ip unicast", ""},
		{"pppoe session", ethernet(t, "8864 1100 0001 002a 0021", four),
			"mac 0+0 net 22 0800 len 40 valid l4 6 at 42 unicast",
			"mac 0+14 net 14 8864 len 48 not ip unicast"},
		{"pppoe session, compressed protocol", ethernet(t, "8864 1100 0001 002a 57", six),
			"mac 0+0 net 21 86dd len 48 valid l4 17 at 61 unicast",
			"mac 0+14 net 14 8864 len 55 not ip unicast"},
		{"pppoe lcp", ethernet(t, "8864 1100 0001 0004 c021 0000", nil),
			"mac 0+14 net 14 8864 len 10 not ip unicast", ""},
		{"pppoe discovery", ethernet(t, "8863 1109 0000 0004 01010000", nil),
			"mac 0+14 net 14 8863 len 10 not ip unicast", ""},
		{"mpls", ethernet(t, "8847 00010040 00020140", four),
			"mac 0+0 net 22 0800 len 40 valid l4 6 at 42 unicast",
			"mac 0+14 net 14 8847 len 48 not ip unicast"},
		{"mpls explicit null for ipv6", ethernet(t, "8847 00002140", six),
			"mac 0+0 net 18 86dd len 48 valid l4 17 at 58 unicast",
			"mac 0+14 net 14 8847 len 52 not ip unicast"},
		{"mpls pseudo wire", ethernet(t, "8847 00010140 00000000", make([]byte, 14)),
			"mac 0+14 net 14 8847 len 22 not ip unicast", ""},
		{"mpls below a tag", ethernet(t, "8100 0007 8847 00010140", four),
			"mac 0+0 net 22 0800 len 40 valid l4 6 at 42 tag 8100:7 unicast",
			"mac 0+18 net 18 8847 len 44 not ip tag 8100:7 unicast"},
		{"vn-tag", ethernet(t, "8926 00000000 0800", four),
			"mac 0+14 net 14 8926 len 46 not ip unicast", ""},
		{"802.2", ethernet(t, "0026 424203", make([]byte, 35)),
			"mac 0+14 net 14 0004 len 38 not ip unicast", ""},
		{"802.3 ipx", ethernet(t, "0026 ffff", make([]byte, 36)),
			"mac 0+14 net 14 0001 len 38 not ip unicast", ""},
		{"short header", bytesOf(t, "ffffffffffff 0200"),
			"mac 0+8 net 8 0000 len 0 not ip broadcast", ""},
		{"empty", nil, "mac 0+0 net 0 0000 len 0 not ip unicast", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := decoded(LinkEthernet, tt.frame)
			if got := describe(v); got != tt.ip {
				t.Errorf("ip:\n got %s\nwant %s", got, tt.ip)
			}
			want := tt.device
			if want == "" {
				want = tt.ip
			}
			v.AtDevice()
			if got := describe(v); got != want {
				t.Errorf("device:\n got %s\nwant %s", got, want)
			}
			v.AtIP()
			if got := describe(v); got != tt.ip {
				t.Errorf("back at ip:\n got %s\nwant %s", got, tt.ip)
			}
		})
	}
}

func TestDecodeOtherLinks(t *testing.T) {
	four := ipv4(t, ProtoTCP, 0, "", tcp(t, ""))
	six := ipv6(t, ProtoUDP, udp(t, ""))
	join := func(pieces ...any) []byte { return bytesOf(t, pieces...) }
	const at0, v4at4 = "mac 0+0 net 0 0800 len 40 valid l4 6 at 20 host", "mac 0+0 net 4 0800 len 40 valid l4 6 at 24 host"
	const v6at4 = "mac 0+0 net 4 86dd len 48 valid l4 17 at 44 host"
	tests := []struct {
		name  string
		link  LinkType
		frame []byte
		want  string
	}{
		{"raw ipv4", LinkRaw, four, at0},
		{"raw ipv4 bsd", LinkRawBSD, four, at0},
		{"raw ipv4 openbsd", LinkRawOpenBSD, four, at0},
		{"raw ipv6", LinkRaw, six, "mac 0+0 net 0 86dd len 48 valid l4 17 at 40 host"},
		{"raw other", LinkRaw, join("ff00"), "mac 0+0 net 0 0000 len 2 not ip host"},
		{"ipv4", LinkIPv4, four, at0},
		{"ipv6 with ipv4 inside", LinkIPv6, four, "mac 0+0 net 0 86dd len 40 malformed host"},
		{"null little endian", LinkNull, join("02000000", four), v4at4},
		{"null big endian", LinkNull, join("00000002", four), v4at4},
		{"null freebsd ipv6", LinkNull, join("1c000000", six), v6at4},
		{"null darwin ipv6", LinkNull, join("0000001e", six), v6at4},
		{"null other family", LinkNull, join("07000000", four), "mac 0+0 net 4 0000 len 40 not ip host"},
		{"loop", LinkLoop, join("00000018", six), v6at4},
		{"ppp", LinkPPP, join("0021", four), "mac 0+0 net 2 0800 len 40 valid l4 6 at 22 host"},
		{"ppp hdlc", LinkPPPHDLC, join("ff030021", four), v4at4},
		{"ppp cisco", LinkPPPHDLC, join("0f000800", four), v4at4},
		{"ppp lcp", LinkPPPHDLC, join("ff03c021", "0101"), "mac 0+0 net 2 0000 len 4 not ip host"},
		{"ppp sent", LinkPPPWithDir, join("01 ff030057", six), "mac 0+0 net 5 86dd len 48 valid l4 17 at 45 outgoing"},
		{"cisco hdlc", LinkCiscoHDLC, join("8f008847 00010140", four), "mac 0+0 net 8 0800 len 40 valid l4 6 at 28 host"},
		{"pppoe", LinkPPPoE, join("1100 0001 002a 0021", four), "mac 0+0 net 8 0800 len 40 valid l4 6 at 28 host"},
		{"cooked", LinkLinuxSLL, join("0000 0001 0006 0200000000010000 0800", four),
			"mac 0+14 net 16 0800 len 40 valid l4 6 at 36 host"},
		{"cooked outgoing", LinkLinuxSLL, join("0004 0001 0006 0200000000010000 86dd", six),
			"mac 0+14 net 16 86dd len 48 valid l4 17 at 56 outgoing"},
		{"cooked tun", LinkLinuxSLL, join("0000 fffe 0000 0000000000000000 0800", four),
			"mac 0+0 net 16 0800 len 40 valid l4 6 at 36 host"},
		{"cooked with tag", LinkLinuxSLL, join("0003 0001 0006 0200000000010000 8100 0005 0800", four),
			"mac 0+18 net 20 0800 len 40 valid l4 6 at 40 tag 8100:5 other"},
		{"cooked 2", LinkLinuxSLL2, join("0800 0000 00000007 0001 01 06 0200000000010000", four),
			"mac 0+14 net 20 0800 len 40 valid l4 6 at 40 broadcast"},
		{"cooked cut", LinkLinuxSLL, join("0000 0001"), "mac 0+0 net 4 0000 len 0 not ip host"},
		{"unknown", 147, four, "mac 0+0 net 0 0000 len 40 not ip host"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := describe(decoded(tt.link, tt.frame)); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDecodeIP(t *testing.T) {
	edit := func(p []byte, at int, b byte) []byte {
		p = append([]byte(nil), p...)
		p[at] = b
		return p
	}
	four := ipv4(t, ProtoTCP, 0, "", tcp(t, ""))
	six := ipv6(t, ProtoTCP, tcp(t, ""))
	next := func(first int, pieces ...any) []byte { return ipv6(t, first, bytesOf(t, pieces...)) }
	many := ""
	for range 20 {
		many += "3c00 000000000000"
	}
	tests := []struct {
		name   string
		packet []byte
		want   string
	}{
		{"options", ipv4(t, ProtoUDP, 0, "94040000", udp(t, "")), "len 32 valid l4 17 at 24"},
		{"first fragment", ipv4(t, ProtoUDP, 0x2000, "", udp(t, "")), "len 28 valid l4 17 at 20 more"},
		{"later fragment", ipv4(t, ProtoUDP, 0x2003, "", udp(t, "")), "len 28 valid l4 17 at 20 frag 3 more"},
		{"last fragment", ipv4(t, ProtoUDP, 0x0003, "", udp(t, "")), "len 28 valid l4 17 at 20 frag 3"},
		{"don't fragment", ipv4(t, ProtoUDP, 0x4000, "", udp(t, "")), "len 28 valid l4 17 at 20"},
		{"version 5", edit(four, 0, 0x55), "len 40 malformed"},
		{"header length 16", edit(four, 0, 0x44), "len 40 malformed"},
		{"total below header", edit(four, 3, 19), "len 40 malformed"},
		{"total beyond packet", edit(four, 3, 41), "len 40 truncated"},
		{"trailing bytes", append(four[:40:40], 1, 2), "len 40 valid l4 6 at 20"},
		{"short", four[:19], "len 19 malformed"},
		{"v6 version 4", edit(six, 0, 0x45), "len 60 malformed"},
		{"v6 payload beyond packet", edit(six, 5, 21), "len 60 truncated"},
		{"v6 payload length zero", edit(six, 5, 0), "len 40 valid l4 6 at 40"},
		{"v6 short", six[:39], "len 39 malformed"},
		{"v6 hop-by-hop and destination", next(0, "3c00 010400000000", "0600 010400000000", tcp(t, "")),
			"len 76 valid l4 6 at 56"},
		{"v6 jumbo", edit(next(0, "0600 c20400010000", tcp(t, "")), 5, 0), "len 68 valid l4 6 at 48"},
		{"v6 routing", next(43, "0602 0401 00000000 20010db8000000000000000000000003", tcp(t, "")),
			"len 84 valid l4 6 at 64"},
		{"v6 authentication ends the walk", next(51, "0604 0000 00000001 00000001 000000000000000000000000", tcp(t, "")),
			"len 84 valid l4 51 at 40 auth"},
		{"v6 esp", next(50, "00000001 00000001"), "len 48 valid l4 50 at 40"},
		{"v6 first fragment", next(44, "0600 0001 00000007", tcp(t, "")), "len 68 valid l4 6 at 48 more"},
		{"v6 later fragment", next(44, "0600 0011 00000007", tcp(t, "")), "len 68 valid l4 6 at 48 frag 2 more"},
		{"v6 later fragment of an extension header", next(44, "3c00 0010 00000007", tcp(t, "")), "len 68 valid"},
		{"v6 atomic fragment", next(44, "0600 0000 00000007", tcp(t, "")), "len 68 valid l4 6 at 48"},
		{"v6 no next header", next(59), "len 40 valid l4 59 at 40"},
		{"v6 chain cut by packet", next(0, 6), "len 41 valid"},
		{"v6 chain points beyond packet", next(0, "06ff 0000"), "len 44 valid l4 6 at 2088"},
		{"v6 too many headers", next(60, many), "len 200 valid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := decoded(LinkRaw, tt.packet)
			if tt.packet[0] == 0x55 || tt.packet[0] == 0x44 {
				v = decoded(LinkIPv4, tt.packet)
			}
			if tt.packet[0] == 0x45 && tt.name[0] == 'v' && tt.name[1] == '6' {
				v = decoded(LinkIPv6, tt.packet)
			}
			want := fmt.Sprintf("mac 0+0 net 0 %04x %s host", v.EtherType, tt.want)
			if got := describe(v); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// TestDecodeCut takes bytes off the capture, not off the packet.
func TestDecodeCut(t *testing.T) {
	frame := ethernet(t, "0800", ipv4(t, ProtoTCP, 0, "", tcp(t, "02040578")))
	chain := ethernet(t, "86dd", ipv6(t, 0, bytesOf(t, "0600 010400000000", tcp(t, ""))))
	tests := []struct {
		name     string
		frame    []byte
		captured int
		want     string
	}{
		{"header", frame, 33, "mac 0+14 net 14 0800 len 44 header cut l4 cut unicast"},
		{"options", frame, 40, "mac 0+14 net 14 0800 len 44 valid l4 6 at 34 unicast"},
		{"link header", frame, 10, "mac 0+14 net 14 0000 len 44 not ip l4 cut unicast"},
		{"extension header", chain, 54, "mac 0+14 net 14 86dd len 68 valid l4 cut unicast"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v View
			v.Decode(LinkEthernet, tt.frame[:tt.captured], len(tt.frame))
			if got := describe(&v); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestDecodeReuse makes sure that nothing of a frame remains for the next.
func TestDecodeReuse(t *testing.T) {
	plain := ethernet(t, "0800", ipv4(t, ProtoTCP, 0, "", tcp(t, "")))
	others := [][]byte{
		ethernet(t, "88a8 0064 8100 0005 86dd", ipv6(t, 51, make([]byte, 24))),
		ethernet(t, "8847 00010140", ipv4(t, ProtoUDP, 0x2005, "", udp(t, ""))),
		ethernet(t, "0800", nil),
	}
	var v View
	for _, other := range others {
		v.Decode(LinkEthernet, other, len(other)+9)
		v.InnerOff()
		v.HideMac()
		v.AtDevice()
		v.Decode(LinkEthernet, plain, len(plain))
		if got, want := describe(&v), describe(decoded(LinkEthernet, plain)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		var b [14]byte
		if r := v.Load(BaseLink, 0, 14, b[:]); r != OK || string(b[:]) != string(plain[:14]) {
			t.Errorf("link header after reuse: %v % x", r, b)
		}
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	frame := ethernet(t, "8100 0005 86dd", ipv6(t, 0, bytesOf(t, "0600 010400000000", tcp(t, "02040578"))))
	var v View
	var f Flow
	var dst [16]byte
	allocations := testing.AllocsPerRun(100, func() {
		v.Decode(LinkEthernet, frame, len(frame))
		v.AtDevice()
		v.AtIP()
		v.Flow(&f)
		v.InnerOff()
		v.Load(BaseLink, 8, 8, dst[:])
		v.FindIPv6(ProtoDestOpts)
		v.FindTCPOption(2)
		v.VerifyTransport()
		v.Receive(false)
		v.Ports()
		v.SrcAddr()
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestNFLOG(t *testing.T) {
	four := ipv4(t, ProtoTCP, 0, "", tcp(t, ""))
	record := func(payload []byte, pieces ...any) []byte {
		return bytesOf(t, append(pieces, payload)...)
	}
	frame := record(four, "02 00 0000", "0800 0100 0800 01 00", "0800 0200 00000007",
		"0800 0400 00000003", "1200 1000 020000000002 020000000001 0800 0000", "0800 0b00 000003e8", "2c00 0900")
	v := decoded(LinkNFLOG, frame)
	if got, want := describe(v), "mac 32+14 net 60 0800 len 40 valid l4 6 at 80 host"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	log, ok := v.Log()
	want := LogInfo{Family: 2, Hook: 1, HWProto: 0x0800, Mark: 7, InIndex: 3, UID: 1000, HasUID: true, MacLen: 14}
	if !ok || log != want {
		t.Errorf("log %+v, want %+v", log, want)
	}
	var b [4]byte
	if r := v.Load(BaseLink, 12, 4, b[:]); r != OK || b != [4]byte{8, 0, 0x45, 0} {
		t.Errorf("load across the end of the link header: %v % x", r, b)
	}

	t.Run("big endian and shortened", func(t *testing.T) {
		v := decoded(LinkNFLOG, record(four[:24], "0a 00 0000", "0008 0001 0800 03 00", "001c 0009"))
		if got, want := describe(v), "mac 0+0 net 16 0800 len 40 valid l4 6 at 36 host"; got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		if r := v.Load(BaseTransport, 4, 4, b[:]); r != Cut {
			t.Errorf("load of what the logger left out: %v, want cut", r)
		}
	})
	t.Run("broken attributes", func(t *testing.T) {
		v := decoded(LinkNFLOG, bytesOf(t, "02000000 ffff0900 45"))
		if v.L4OK || v.EtherType != 0 {
			t.Error(describe(v))
		}
	})
}
