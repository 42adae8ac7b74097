package build

import (
	"fmt"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// TestAgainstGopacket lets another library decode what the texts make, and
// compares fields, and the checksums with those that it computes.
func TestAgainstGopacket(t *testing.T) {
	tests := []struct {
		text string
		want map[gopacket.LayerType]string // some fields of each layer
	}{
		{"ether saddr 02:00:00:00:00:aa vlan id 5 vlan pcp 2 ip saddr 1.2.3.4 ip dscp ef ip ttl 9 ip id 77 tcp sport 1 tcp flags psh,ack tcp window 9 payload \"abc\"",
			map[gopacket.LayerType]string{
				layers.LayerTypeEthernet: "02:00:00:00:00:aa > 02:00:00:00:00:02 Dot1Q",
				layers.LayerTypeDot1Q:    "5 2 IPv4",
				layers.LayerTypeIPv4:     "1.2.3.4 > 10.0.0.2 ttl 9 tos 184 id 77 flags DF off 0 TCP",
				layers.LayerTypeTCP:      "1 > 80 seq 1 ack 0 win 9 S false A true P true opts 0",
			}},
		{"tcp option maxseg size 1400 tcp option timestamp tsval 1 tsecr 2 tcp sequence 5 tcp ackseq 6",
			map[gopacket.LayerType]string{layers.LayerTypeTCP: "40000 > 80 seq 5 ack 6 win 64240 S true A false P false opts 3"}},
		{"ip6 saddr fd00::1 ip6 hoplimit 3 ip6 flowlabel 9 hbh dst udp sport 7 udp dport 9 payload 0x00",
			map[gopacket.LayerType]string{
				layers.LayerTypeIPv6: "fd00::1 > 2001:db8::2 hops 3 flow 9",
				layers.LayerTypeUDP:  "7 > 9 length 9",
			}},
		{"ip frag-off 0x2000 icmp type echo-request icmp id 3 icmp sequence 4",
			map[gopacket.LayerType]string{layers.LayerTypeIPv4: "10.0.0.1 > 10.0.0.2 ttl 64 tos 0 id 0 flags MF off 0 ICMPv4"}},
		{"icmp type echo-reply icmp id 3 icmp sequence 4",
			map[gopacket.LayerType]string{layers.LayerTypeICMPv4: "EchoReply id 3 seq 4"}},
		{"arp operation reply arp saddr ip 1.1.1.1 arp daddr ether 02:00:00:00:00:05",
			map[gopacket.LayerType]string{layers.LayerTypeARP: "2 [1 1 1 1] > [10 0 0 2] [2 0 0 0 0 5]"}},
		{"sctp dport 9 sctp vtag 5 sctp chunk init init-tag 7",
			map[gopacket.LayerType]string{layers.LayerTypeSCTP: "40000 > 9 vtag 5"}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			v := view(t, tt.text)
			parsed := gopacket.NewPacket(v.Data, layers.LayerTypeEthernet, gopacket.Default)
			if failure := parsed.ErrorLayer(); failure != nil {
				t.Fatal(failure.Error())
			}
			for typ, want := range tt.want {
				layer := parsed.Layer(typ)
				if layer == nil {
					t.Fatalf("no layer %v", typ)
				}
				if got := fieldsOf(layer); got != want {
					t.Errorf("%v:\n got %s\nwant %s", typ, got, want)
				}
			}
			network := parsed.NetworkLayer()
			for _, layer := range parsed.Layers() {
				if l, ok := layer.(interface {
					SetNetworkLayerForChecksum(gopacket.NetworkLayer) error
				}); ok && network != nil {
					if err := l.SetNetworkLayerForChecksum(network); err != nil {
						t.Fatal(err)
					}
				}
			}
			err, wrong := parsed.VerifyChecksums()
			if err != nil {
				t.Error(err)
			}
			for _, w := range wrong {
				t.Errorf("checksum of layer %d: %+v", w.Layer.LayerType(), w.ChecksumVerificationResult)
			}
		})
	}
}

func fieldsOf(layer gopacket.Layer) string {
	switch l := layer.(type) {
	case *layers.Ethernet:
		return fmt.Sprint(l.SrcMAC, " > ", l.DstMAC, " ", l.EthernetType)
	case *layers.Dot1Q:
		return fmt.Sprint(l.VLANIdentifier, " ", l.Priority, " ", l.Type)
	case *layers.IPv4:
		return fmt.Sprintf("%v > %v ttl %d tos %d id %d flags %v off %d %v", l.SrcIP, l.DstIP, l.TTL, l.TOS, l.Id, l.Flags, l.FragOffset, l.Protocol)
	case *layers.IPv6:
		return fmt.Sprintf("%v > %v hops %d flow %d", l.SrcIP, l.DstIP, l.HopLimit, l.FlowLabel)
	case *layers.TCP:
		return fmt.Sprintf("%d > %d seq %d ack %d win %d S %v A %v P %v opts %d", l.SrcPort, l.DstPort, l.Seq, l.Ack, l.Window, l.SYN, l.ACK, l.PSH, len(l.Options))
	case *layers.UDP:
		return fmt.Sprintf("%d > %d length %d", l.SrcPort, l.DstPort, l.Length)
	case *layers.ICMPv4:
		return fmt.Sprintf("%v id %d seq %d", l.TypeCode, l.Id, l.Seq)
	case *layers.ARP:
		return fmt.Sprint(l.Operation, " ", l.SourceProtAddress, " > ", l.DstProtAddress, " ", l.DstHwAddress)
	case *layers.SCTP:
		return fmt.Sprintf("%d > %d vtag %d", l.SrcPort, l.DstPort, l.VerificationTag)
	}
	return layer.LayerType().String()
}
