package packet

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// loaded runs Load and shows the bytes, or the reason why there are none. It
// checks on the way that Check and the fast loads agree.
func loaded(t *testing.T, v *View, base Base, off, n int) string {
	t.Helper()
	dst := bytes.Repeat([]byte{0xcc}, n+1)
	result := v.Load(base, off, n, dst)
	if check := v.Check(base, off, n); check != result {
		t.Errorf("load %d %d+%d: %v, check says %v", base, off, n, result, check)
	}
	if dst[n] != 0xcc {
		t.Errorf("load %d %d+%d writes beyond its length", base, off, n)
	}
	if result != OK {
		return result.String()
	}
	return hex.EncodeToString(dst[:n])
}

func TestLoad(t *testing.T) {
	frame := ethernet(t, "0800", append(ipv4(t, ProtoTCP, 0, "", tcp(t, "")), 0xee, 0xee))
	tests := []struct {
		name string
		base Base
		off  int
		n    int
		want string
	}{
		{"destination address", BaseLink, 0, 6, "020000000002"},
		{"across into the network header", BaseLink, 12, 4, "08004500"},
		{"protocol", BaseNetwork, 9, 1, "06"},
		{"addresses", BaseNetwork, 12, 8, "0a0000010a000002"},
		{"ports", BaseTransport, 0, 4, "0fa00016"},
		{"last bytes", BaseTransport, 16, 4, "00000000"},
		{"one too far", BaseTransport, 17, 4, "break"},
		{"padding is not there", BaseNetwork, 40, 1, "break"},
		{"inner of a header without data", BaseInner, 0, 1, "break"},
		{"nothing at the end", BaseNetwork, 40, 0, ""},
		{"negative", BaseNetwork, -1, 1, "break"},
		{"far", BaseNetwork, 1 << 30, 1 << 30, "break"},
		{"tunnel base", 4, 0, 1, "break"},
	}
	v := decoded(LinkEthernet, frame)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.n > 1000 {
				if got := v.Load(tt.base, tt.off, tt.n, nil).String(); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				return
			}
			if got := loaded(t, v, tt.base, tt.off, tt.n); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	v.AtDevice()
	if got := loaded(t, v, BaseNetwork, 40, 2); got != "eeee" {
		t.Errorf("padding at the device: %s", got)
	}
	v.HideMac()
	if got := loaded(t, v, BaseLink, 0, 6); got != "break" {
		t.Errorf("hidden link header: %s", got)
	}
}

func TestLoadCut(t *testing.T) {
	frame := ethernet(t, "0800", ipv4(t, ProtoTCP, 0, "", append(tcp(t, ""), 1, 2, 3, 4)))
	var v View
	v.Decode(LinkEthernet, frame[:44], len(frame))
	for _, tt := range []struct {
		base Base
		off  int
		n    int
		want string
	}{
		{BaseTransport, 8, 2, "0000"},
		{BaseTransport, 8, 3, "cut"},
		{BaseTransport, 20, 4, "cut"},
		{BaseTransport, 20, 5, "break"},
		{BaseInner, 0, 1, "cut"},
	} {
		if got := loaded(t, &v, tt.base, tt.off, tt.n); got != tt.want {
			t.Errorf("load %d %d+%d: got %s, want %s", tt.base, tt.off, tt.n, got, tt.want)
		}
	}
	v.Decode(LinkEthernet, frame[:20], len(frame))
	for base, want := range map[Base]string{BaseNetwork: "01", BaseTransport: "cut", BaseInner: "cut"} {
		if got := loaded(t, &v, base, 5, 1); got != want {
			t.Errorf("header cut, base %d: got %s, want %s", base, got, want)
		}
	}
}

func TestLoadFragment(t *testing.T) {
	v := decoded(LinkRaw, ipv4(t, ProtoUDP, 7, "", udp(t, "")))
	if got := loaded(t, v, BaseTransport, 0, 2); got != "break" {
		t.Errorf("later fragment: %s", got)
	}
	if v.HasTransport() {
		t.Error("later fragment has a transport header")
	}
	v = decoded(LinkRaw, ipv4(t, ProtoUDP, 0x2000, "", udp(t, "")))
	if got := loaded(t, v, BaseTransport, 0, 2); got != "0fa0" {
		t.Errorf("first fragment: %s", got)
	}
}

// TestLoadLinkOfTagged: a tag shows at the device, and is gone in the IP
// stack, where the link header reads as an untagged one.
func TestLoadLinkOfTagged(t *testing.T) {
	v := decoded(LinkEthernet, ethernet(t, "88a8 0064 8100 0005 0800", ipv4(t, ProtoTCP, 0, "", tcp(t, ""))))
	if got, want := loaded(t, v, BaseLink, 6, 12), "020000000001"+"0800"+"45000028"; got != want {
		t.Errorf("ip: got %s, want %s", got, want)
	}
	v.AtDevice()
	if got, want := loaded(t, v, BaseLink, 6, 18), "020000000001"+"88a8006481000005080045000028"[:24]; got != want {
		t.Errorf("device: got %s, want %s", got, want)
	}
	if got, want := loaded(t, v, BaseNetwork, 0, 4), "00050800"; got != want {
		t.Errorf("network header at the device: got %s, want %s", got, want)
	}
}

func TestLoadLinkOfCooked(t *testing.T) {
	four := ipv4(t, ProtoTCP, 0, "", tcp(t, ""))
	tests := []struct {
		name   string
		link   LinkType
		header string
		device bool
		off, n int
		want   string
	}{
		{"source and type", LinkLinuxSLL, "0000 0001 0006 0200000000010000 0800", false, 6, 8, "0200000000010800"},
		{"into the packet", LinkLinuxSLL, "0000 0001 0006 0200000000010000 0800", false, 12, 4, "08004500"},
		{"destination", LinkLinuxSLL, "0000 0001 0006 0200000000010000 0800", false, 0, 6, "cut"},
		{"no source", LinkLinuxSLL, "0000 0001 0000 0000000000000000 0800", false, 6, 6, "cut"},
		{"loopback", LinkLinuxSLL, "0000 0304 0006 0000000000000000 0800", false, 0, 14, "0000000000000000000000000800"},
		{"tunnel", LinkLinuxSLL, "0000 0300 0004 0a00000100000000 0800", false, 0, 1, "break"},
		{"version 2", LinkLinuxSLL2, "0800 0000 00000007 0001 00 06 0200000000010000", false, 6, 10, "02000000000108004500"},
		{"tag in the stack", LinkLinuxSLL, "0000 0001 0006 0200000000010000 8100 0005 0800", false, 12, 4, "08004500"},
		{"tag at the device", LinkLinuxSLL, "0000 0001 0006 0200000000010000 8100 0005 0800", true, 12, 8, "8100000508004500"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := decoded(tt.link, bytesOf(t, tt.header, four))
			if tt.device {
				v.AtDevice()
			}
			if got := loaded(t, v, BaseLink, tt.off, tt.n); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestInnerOff(t *testing.T) {
	gre := func(header string) []byte { return ipv4(t, ProtoGRE, 0, "", bytesOf(t, header, "4500")) }
	long := tcp(t, "0101 0101")
	tests := []struct {
		name   string
		packet []byte
		want   int // 0: none
	}{
		{"udp", ipv4(t, ProtoUDP, 0, "", udp(t, "")), 28},
		{"udp without header", ipv4(t, ProtoUDP, 0, "", nil), 28},
		{"tcp", ipv4(t, ProtoTCP, 0, "", long), 44},
		{"tcp header short", ipv4(t, ProtoTCP, 0, "", long[:19]), 0},
		{"gre", gre("0000 0800"), 24},
		{"gre with key", gre("2000 0800 00000001"), 28},
		{"gre with all", gre("b000 0800 00000000 00000001 00000002"), 36},
		{"gre with routing", gre("4000 0800 00000000"), 0},
		{"gre version 1", gre("3081 880b 00000001 00000002"), 0},
		{"ipip", ipv4(t, ProtoIPIP, 0, "", ipv4(t, ProtoTCP, 0, "", nil)), 20},
		{"6in4", ipv4(t, ProtoIPv6, 0, "", ipv6(t, ProtoTCP, nil)), 0},
		{"icmp", ipv4(t, ProtoICMP, 0, "", make([]byte, 8)), 0},
		{"later fragment", ipv4(t, ProtoUDP, 1, "", udp(t, "")), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			off, ok := decoded(LinkRaw, tt.packet).InnerOff()
			if off != tt.want || ok != (tt.want != 0) {
				t.Errorf("got %d %v, want %d", off, ok, tt.want)
			}
		})
	}
}

// TestFastLoads: the fast loads give what Load gives, read as little-endian,
// at every offset.
func TestFastLoads(t *testing.T) {
	frame := ethernet(t, "0800", ipv4(t, ProtoTCP, 0, "", tcp(t, "")))
	var v View
	v.Decode(LinkEthernet, frame[:50], len(frame))
	for off := -20; off < 60; off++ {
		var want [4]byte
		for n, load := range map[int]func(int) (uint32, bool){
			1: func(at int) (uint32, bool) { x, ok := v.Load8(at); return uint32(x), ok },
			2: func(at int) (uint32, bool) { x, ok := v.Load16(at); return uint32(x), ok },
			4: v.Load32,
		} {
			want = [4]byte{}
			result := v.Load(BaseNetwork, off, n, want[:])
			got, ok := load(v.NetOff + off)
			if off < 0 && v.NetOff+off >= 0 {
				continue // before the header: no rule asks for it
			}
			value := uint32(want[0]) | uint32(want[1])<<8 | uint32(want[2])<<16 | uint32(want[3])<<24
			if ok != (result == OK) || ok && got != value {
				t.Errorf("%d bytes at %d: %x %v, Load says %x %v", n, off, got, ok, value, result)
			}
		}
	}
}
