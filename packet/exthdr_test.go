package packet

import (
	"fmt"
	"testing"
)

func TestFindIPv6(t *testing.T) {
	chain := ipv6(t, 0, bytesOf(t,
		"2b00 010400000000", // hop-by-hop at 40
		"2c02 0401 00000000 20010db8000000000000000000000003", // routing at 48
		"3300 0000 00000007",               // first fragment at 72
		"3c02 0000 00000001 00000001 0000", // authentication at 80, 16 bytes
		"0000",
		"0600 010400000000", // destination at 96
		tcp(t, "")))         // tcp at 104
	later := ipv6(t, 44, bytesOf(t, "3c00 0010 00000007", "0600 010400000000"))
	tests := []struct {
		name   string
		packet []byte
		header uint8
		want   string
	}{
		{"hop-by-hop", chain, ProtoHopByHop, "40 present"},
		{"routing", chain, ProtoRouting, "48 present"},
		{"fragment", chain, ProtoFragment, "72 present"},
		{"authentication", chain, ProtoAH, "80 present"},
		{"behind authentication", chain, ProtoDestOpts, "96 present"},
		{"the transport header", chain, ProtoTCP, "104 present"},
		{"mobility", chain, ProtoMobility, "0 absent"},
		{"fragment header of a later fragment", later, ProtoFragment, "40 present"},
		{"behind it", later, ProtoDestOpts, "0 absent"},
		{"header that starts beyond the packet", chain[:90], ProtoDestOpts, "96 present"},
		{"chain beyond packet", chain[:81], ProtoDestOpts, "0 absent"},
		{"mobility at the end", ipv6(t, 135, bytesOf(t, "3b00 0500 00000000")), ProtoMobility, "40 present"},
		{"ipv4", ipv4(t, ProtoTCP, 0, "", nil), ProtoTCP, "0 break"},
		{"short header", chain[:30], ProtoTCP, "0 absent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			off, found := decoded(LinkRaw, tt.packet).FindIPv6(tt.header)
			if got := fmt.Sprint(off, " ", found); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	var v View
	v.Decode(LinkRaw, chain[:75], len(chain))
	if _, found := v.FindIPv6(ProtoDestOpts); found != FoundCut {
		t.Errorf("cut chain: %v", found)
	}
}

func TestFindIPv4(t *testing.T) {
	tests := []struct {
		name    string
		options string
		option  uint8
		want    string
	}{
		{"router alert", "94040000", OptionRA, "20 present"},
		{"router alert behind padding", "01010101 94040000", OptionRA, "24 present"},
		{"router alert with a value", "94040001", OptionRA, "0 absent"},
		{"router alert short", "94030001", OptionRA, "0 absent"},
		{"record route", "07070400000000 00", OptionRR, "20 present"},
		{"record route full", "07070800000000 00", OptionRR, "20 present"},
		{"record route without room", "07070700000000 00", OptionRR, "0 absent"},
		{"record route, pointer too small", "07070300000000 00", OptionRR, "0 absent"},
		{"record route twice", "070704 00000000 070704 00000000 0000", OptionRR, "0 absent"},
		{"loose source route", "830704 0a000003 00", OptionLSRR, "20 present"},
		{"strict is not loose", "890704 0a000003 00", OptionLSRR, "0 absent"},
		{"strict source route", "890704 0a000003 00", OptionSSRR, "20 present"},
		{"source route under way", "830708 0a000003 00", OptionLSRR, "0 absent"},
		{"source route of odd length", "830804 0a000003 00", OptionLSRR, "0 absent"},
		{"two source routes", "830704 0a000003 890704 0a000003 0000", OptionLSRR, "0 absent"},
		{"behind the end of the list", "00940400 00000000", OptionRA, "0 absent"},
		{"other option malformed", "94040000 44030500", OptionRA, "0 absent"},
		{"timestamp with room", "94040000 44080500 00000000", OptionRA, "20 present"},
		{"timestamp full and overflowing", "94040000 440409f0", OptionRA, "0 absent"},
		{"timestamp with addresses needs eight", "94040000 44080501 00000000", OptionRA, "0 absent"},
		{"length 1", "94040000 82010000", OptionRA, "0 absent"},
		{"length beyond the header", "94040000 82090000", OptionRA, "0 absent"},
		{"no length", "94040000 010101 82", OptionRA, "0 absent"},
		{"no options", "", OptionRA, "0 absent"},
		{"unsupported kind", "44080500 00000000", OptionTS, "0 absent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			off, found := decoded(LinkRaw, ipv4(t, ProtoTCP, 0, tt.options, nil)).FindIPv4(tt.option)
			if got := fmt.Sprint(off, " ", found); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if _, found := decoded(LinkRaw, ipv6(t, ProtoTCP, nil)).FindIPv4(OptionRA); found != FoundBreak {
		t.Errorf("ipv6: %v", found)
	}
	packet := ipv4(t, ProtoTCP, 0, "94040000", nil)
	var v View
	v.Decode(LinkRaw, packet[:22], len(packet))
	if _, found := v.FindIPv4(OptionRA); found != FoundCut {
		t.Errorf("cut options: %v", found)
	}
}

func TestFindTCPOption(t *testing.T) {
	tests := []struct {
		name    string
		options string
		kind    uint8
		want    string
	}{
		{"maxseg", "020405b4", 2, "40 4 present"},
		{"behind padding", "0101 020405b4 0101", 2, "42 4 present"},
		{"behind the end of the list", "00000000 020405b4", 2, "44 4 present"},
		{"zero length steps by one", "ff00 030307 000000", 3, "42 3 present"},
		{"nop", "01010101", 1, "40 1 present"},
		{"in the last byte", "03030700", 0, "0 0 absent"},
		{"end before the last byte", "03030700 00000000", 0, "43 1 present"},
		{"reaches beyond the header", "020505b4", 2, "0 0 short"},
		{"first decides", "020605b4 020405b4", 2, "40 6 present"},
		{"hidden inside another", "fe08 0204 05b4 0101", 2, "0 0 absent"},
		{"none", "", 2, "0 0 absent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			off, n, found := decoded(LinkRaw, ipv4(t, ProtoTCP, 0, "", tcp(t, tt.options))).FindTCPOption(tt.kind)
			if got := fmt.Sprint(off, " ", n, " ", found); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	segment := tcp(t, "020405b4")
	small := append([]byte(nil), segment...)
	small[12] = 0x40
	for name, packet := range map[string][]byte{
		"data offset 16":    ipv4(t, ProtoTCP, 0, "", small),
		"header not whole":  ipv4(t, ProtoTCP, 0, "", segment[:22]),
		"later fragment":    ipv4(t, ProtoTCP, 1, "", segment),
		"another transport": ipv4(t, ProtoUDP, 0, "", segment),
	} {
		if _, _, found := decoded(LinkRaw, packet).FindTCPOption(2); found != Absent {
			t.Errorf("%s: %v", name, found)
		}
	}
	packet := ipv4(t, ProtoTCP, 0, "", segment)
	var v View
	v.Decode(LinkRaw, packet[:42], len(packet))
	if _, _, found := v.FindTCPOption(2); found != FoundCut {
		t.Errorf("cut header: %v", found)
	}
}

func TestFindSCTPChunk(t *testing.T) {
	const header = "0fa0 0016 00000001 00000000"
	tests := []struct {
		name   string
		chunks string
		chunk  uint8
		want   string
	}{
		{"first", "03000010 00000001 00010000 00000000", 3, "32 16 present"},
		{"second, behind padding", "0a000005 ff000000 01000014 00000001", 1, "40 20 present"},
		{"absent", "03000004", 0, "0 0 absent"},
		{"zero length ends", "03000000 00000004", 0, "0 0 absent"},
		{"zero length itself", "03000000", 3, "0 0 absent"},
		{"longer than the packet", "03000040", 3, "32 64 present"},
		{"header not whole", "0300", 3, "0 0 absent"},
		{"none", "", 3, "0 0 absent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			packet := ipv4(t, ProtoSCTP, 0, "", bytesOf(t, header, tt.chunks))
			off, n, found := decoded(LinkRaw, packet).FindSCTPChunk(tt.chunk)
			if got := fmt.Sprint(off, " ", n, " ", found); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if _, _, found := decoded(LinkRaw, ipv4(t, ProtoSCTP, 1, "", bytesOf(t, header, "03000004"))).FindSCTPChunk(3); found != Absent {
		t.Errorf("later fragment: %v", found)
	}
}

func TestFindDCCPOption(t *testing.T) {
	// A request with short sequence numbers: 12 bytes, service code, options.
	request := func(words int, options string) []byte {
		return ipv4(t, ProtoDCCP, 0, "", bytesOf(t, "0fa0 0016", words, "00 0000 00 00 0001", "00000000", options))
	}
	// A data packet with long sequence numbers: 16 bytes.
	data := ipv4(t, ProtoDCCP, 0, "", bytesOf(t, "0fa0 0016 05 00 0000 05 00 0000 00000001", "02000000"))
	tests := []struct {
		name   string
		packet []byte
		option uint8
		want   string
	}{
		{"first", request(5, "20030100"), 32, "36 present"},
		{"behind one-byte options", request(5, "00010229"), 41, "39 present"},
		{"behind a long option", request(6, "20030100 02000000"), 2, "40 present"},
		{"bad length ends", request(6, "20010000 02000000"), 2, "0 absent"},
		{"no length", request(5, "00000020"), 2, "0 absent"},
		{"no options", request(4, ""), 0, "0 absent"},
		{"data, long sequence numbers", data, 2, "36 present"},
		{"not dccp", ipv4(t, ProtoTCP, 0, "", tcp(t, "")), 0, "0 absent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			off, found := decoded(LinkRaw, tt.packet).FindDCCPOption(tt.option)
			if got := fmt.Sprint(off, " ", found); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
