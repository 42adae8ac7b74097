package packet

import "testing"

func TestReceive(t *testing.T) {
	four := ipv4(t, ProtoTCP, 0, "", tcp(t, ""))
	six := ipv6(t, ProtoTCP, tcp(t, ""))
	edit := func(p []byte, at int, b ...byte) []byte {
		p = append([]byte(nil), p...)
		copy(p[at:], b)
		return p
	}
	loopback := append(make([]byte, 15), 1)
	tests := []struct {
		name   string
		packet []byte
		want   Received
	}{
		{"ipv4", four, Delivered},
		{"bad header checksum", edit(four, 10, 0xff), Dropped},
		{"malformed", edit(four, 0, 0x44), Dropped},
		{"truncated", four[:39], Dropped},
		{"ipv6", six, Delivered},
		{"multicast source", edit(six, 8, 0xff), Dropped},
		{"destination without scope", edit(six, 24, 0xff, 0x00), Dropped},
		{"destination of interface scope", edit(six, 24, 0xff, 0x01), Dropped},
		{"destination of link scope", edit(six, 24, 0xff, 0x02), Delivered},
		{"loopback source", edit(six, 8, loopback...), Dropped},
		{"padding of hop-by-hop options", ipv6(t, 0, bytesOf(t, "0600 010400000000")), Delivered},
		{"padding that is not zero", ipv6(t, 0, bytesOf(t, "0600 010400000001")), Dropped},
		{"too much padding", ipv6(t, 0, bytesOf(t, "0601 0106000000000000 010400000000")), Dropped},
		{"too much single padding", ipv6(t, 0, bytesOf(t, "0601 0100 0000000000000000 05020000")), Dropped},
		{"router alert", ipv6(t, 0, bytesOf(t, "0600 0502 0000 0100")), Delivered},
		{"router alert of a wrong length", ipv6(t, 0, bytesOf(t, "0600 0503 000000 00")), Dropped},
		{"unknown option to skip", ipv6(t, 0, bytesOf(t, "0600 1e02 0000 0100")), Delivered},
		{"unknown option to discard", ipv6(t, 0, bytesOf(t, "0600 5e02 0000 0100")), Dropped},
		{"option beyond its header", ipv6(t, 0, bytesOf(t, "0600 1e09 0000 0100")), Dropped},
		{"nine options", ipv6(t, 0, bytesOf(t, "0602 1e00 1e00 1e00 1e00 1e00 1e00 1e00 1e00 1e00 0100 0000")), Dropped},
		{"small jumbogram", ipv6(t, 0, bytesOf(t, "0600 c20400000009")), Dropped},
		{"hop-by-hop header beyond packet", ipv6(t, 0, bytesOf(t, "0601 010400000000")), Dropped},
		{"mapped source", edit(six, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff), Dropped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			link := LinkIPv4
			if tt.packet[0]>>4 == 6 {
				link = LinkIPv6
			}
			if got := decoded(link, tt.packet).Receive(false); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	if got := decoded(LinkIPv6, edit(six, 8, loopback...)).Receive(true); got != Delivered {
		t.Errorf("loopback source on the loopback device: %v", got)
	}
	var v View
	v.Decode(LinkIPv4, four[:19], 40)
	if got := v.Receive(false); got != ReceivedUnknown {
		t.Errorf("cut header: %v", got)
	}
	if got := decoded(LinkEthernet, ethernet(t, "0806", bytesOf(t, "0001080006040001", make([]byte, 20)))).Receive(false); got != Delivered {
		t.Errorf("arp: %v", got)
	}
	if got := decoded(LinkEthernet, ethernet(t, "0806", make([]byte, 28))).Receive(false); got != Dropped {
		t.Errorf("arp without address lengths: %v", got)
	}
	jumbo := ipv6(t, 0, bytesOf(t, "0600 c20400010000", make([]byte, 65528)))
	jumbo[4], jumbo[5] = 0, 0
	if got := decoded(LinkIPv6, jumbo).Receive(false); got != Delivered {
		t.Errorf("jumbogram: %v", got)
	}
}
