package build

import (
	"bytes"
	"errors"
	"testing"

	"verdict/packet"
)

// FuzzParse parses anything: no panic, errors that point into the text, and
// frames of bounded size that print as text which parses again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 4000 tcp dport 22 tcp flags syn",
		"vlan id 5 vlan id 6 ip6 saddr fd00::1 hbh dst frag frag-off 1 frag more-fragments 1 payload 0x0011",
		"tcp flags syn | ack tcp option maxseg size 1460 tcp option timestamp tsval 1 tsecr 2 payload \"a\\\"b\" length 9",
		"udp dport 4789 vxlan vni 5 vxlan ip saddr 1.2.3.4 vxlan tcp dport 80",
		"gretap ip ttl 3", "geneve vni 5 geneve data 0x00112233 inner ether ip",
		"icmp type destination-unreachable icmp code 3 inner ip saddr 10.0.0.2 udp dport 53",
		"icmpv6 type nd-neighbor-solicit icmpv6 taddr fd00::1", "arp operation reply arp saddr ip 1.1.1.1",
		"sctp chunk init init-tag 5 sctp chunk 77 data 0x00", "dccp type data dccp option 32 data 0x00 dccp option 3",
		"ip option rr ptr 4 addr 1.1.1.1 igmp type leave-group", "ip hdrlength 1 ip length 9 esp spi 5",
		"iifname \"eth0\" meta mark 0x10 meta pkttype multicast hook input", "link raw mh type 5", "hex 00 11:22",
		"rt type 4 rt data 0x00000000 ah spi 5 comp cpi 3", "ether type 0x88cc payload 0x0102", "inner inner ip6 udplite",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			var typed *Error
			if !errors.As(err, &typed) || typed.Offset < 0 || typed.Length < 0 || typed.Offset+typed.Length > len(text) {
				t.Fatalf("%T %+v", err, err)
			}
			return
		}
		if len(p.Data) > maxFrame {
			if len(p.Data) > len(text) {
				t.Fatalf("%d bytes", len(p.Data))
			}
		}
		var v packet.View
		v.Decode(p.Link, p.Data, len(p.Data))
		Summary(&v)
		printed, words := describe(&v)
		if len(p.Data) == 0 {
			return
		}
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("%s\nprinted as %s: %v", text, printed, err)
		}
		if !words && !bytes.Equal(again.Data, p.Data) {
			t.Fatalf("hex differs: %s", printed)
		}
		if words && len(p.Data) <= longPayload && p.Link == packet.LinkEthernet && again.Link == p.Link && v.EtherType != packet.TypeARP &&
			!bytes.Equal(again.Data, v.Packet()) {
			t.Fatalf("%s\nprinted as %s\n got % x\nwant % x", text, printed, again.Data, v.Packet())
		}
	})
}
