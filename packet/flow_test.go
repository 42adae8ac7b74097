package packet

import (
	"fmt"
	"testing"
)

func TestFlow(t *testing.T) {
	tests := []struct {
		name   string
		packet []byte
		want   string
	}{
		{"tcp", ipv4(t, ProtoTCP, 0, "", tcp(t, "")), "10.0.0.1:4000 10.0.0.2:22 proto 6 ok"},
		{"udp6", ipv6(t, ProtoUDP, udp(t, "")), "2001:db8::1:4000 2001:db8::2:53 proto 17 ok"},
		{"icmp echo", ipv4(t, ProtoICMP, 0, "", bytesOf(t, "0800 0000 0007 0001")), "10.0.0.1:7 10.0.0.2:2048 proto 1 ok"},
		{"icmp error", ipv4(t, ProtoICMP, 0, "", bytesOf(t, "0301 0000 0007 0001")), "10.0.0.1:0 10.0.0.2:769 proto 1 ok"},
		{"icmpv6 reply", ipv6(t, ProtoICMPv6, bytesOf(t, "8100 0000 0009 0001")), "2001:db8::1:9 2001:db8::2:33024 proto 58 ok"},
		{"pptp", ipv4(t, ProtoGRE, 0, "", bytesOf(t, "2001 880b 0000 0102")), "10.0.0.1:0 10.0.0.2:258 proto 47 ok"},
		{"gre", ipv4(t, ProtoGRE, 0, "", bytesOf(t, "0000 0800")), "10.0.0.1:0 10.0.0.2:0 proto 47 ok"},
		{"ports beyond packet", ipv4(t, ProtoTCP, 0, "", []byte{1, 2}), "10.0.0.1:0 10.0.0.2:0 proto 6 break"},
		{"later fragment", ipv4(t, ProtoTCP, 1, "", tcp(t, "")), "0.0.0.0:0 0.0.0.0:0 proto 0 break"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f Flow
			v := decoded(LinkRaw, tt.packet)
			result := v.Flow(&f)
			got := fmt.Sprintf("%v:%d %v:%d proto %d %v", f.SrcAddr(), f.SrcPort, f.DstAddr(), f.DstPort, f.Proto, result)
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if v.Validity == Valid && v.SrcAddr().String() == "invalid IP" {
				t.Error("no source address")
			}
		})
	}
}
