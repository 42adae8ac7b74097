package packet

import "testing"

// ordinaryTCP is an Ethernet frame with a TCP SYN over IPv4.
var ordinaryTCP = []byte{
	2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00,
	0x45, 0, 0, 40, 0, 1, 0x40, 0, 64, 6, 0x26, 0xcd, 10, 0, 0, 1, 10, 0, 0, 2,
	0x0f, 0xa0, 0, 22, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0,
}

func BenchmarkDecodeTCP4(b *testing.B) {
	v := new(View)
	b.ReportAllocs()
	for b.Loop() {
		v.Decode(LinkEthernet, ordinaryTCP, len(ordinaryTCP))
	}
	if v.ThOff != 34 {
		b.Fatal(v.ThOff)
	}
}

func BenchmarkDecodeTCP4AtDevice(b *testing.B) {
	v := new(View)
	for b.Loop() {
		v.Decode(LinkEthernet, ordinaryTCP, len(ordinaryTCP))
		v.AtDevice()
	}
	if v.ThOff != 34 {
		b.Fatal(v.ThOff)
	}
}

func BenchmarkLoad32(b *testing.B) {
	v := new(View)
	v.Decode(LinkEthernet, ordinaryTCP, len(ordinaryTCP))
	var sum uint32
	for b.Loop() {
		x, _ := v.Load32(v.NetOff + 12)
		sum += x
	}
	if sum == 1 {
		b.Fatal(sum)
	}
}

func BenchmarkLoad(b *testing.B) {
	v := new(View)
	v.Decode(LinkEthernet, ordinaryTCP, len(ordinaryTCP))
	var dst [16]byte
	for b.Loop() {
		if v.Load(BaseTransport, 2, 2, dst[:]) != OK {
			b.Fatal("not loaded")
		}
	}
}

func BenchmarkDecodeLinks(b *testing.B) {
	tests := []struct {
		name  string
		link  LinkType
		frame []byte
	}{
		{"tagged", LinkEthernet, ethernet(b, "8100 0005 0800", ipv4(b, ProtoTCP, 0, "", tcp(b, "")))},
		{"ipv6", LinkEthernet, ethernet(b, "86dd", ipv6(b, ProtoTCP, tcp(b, "")))},
		{"ipv6 extension headers", LinkEthernet, ethernet(b, "86dd", ipv6(b, 0, bytesOf(b, "3c00 010400000000", "0600 010400000000", tcp(b, ""))))},
		{"pppoe", LinkEthernet, ethernet(b, "8864 1100 0001 002a 0021", ipv4(b, ProtoTCP, 0, "", tcp(b, "")))},
		{"cooked", LinkLinuxSLL, bytesOf(b, "0000 0001 0006 0200000000010000 0800", ipv4(b, ProtoTCP, 0, "", tcp(b, "")))},
		{"raw", LinkRaw, ipv4(b, ProtoTCP, 0, "", tcp(b, ""))},
		{"arp", LinkEthernet, ethernet(b, "0806", make([]byte, 28))},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			v := new(View)
			b.ReportAllocs()
			for b.Loop() {
				v.Decode(tt.link, tt.frame, len(tt.frame))
			}
		})
	}
}
