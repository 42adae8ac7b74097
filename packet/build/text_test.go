package build

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verdict/packet"
)

// TestText: what is printed is what had to be said, essential fields first.
// An empty want is the same as the text.
func TestText(t *testing.T) {
	tests := []struct{ text, want string }{
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 4000 tcp dport 22 tcp flags syn", ""},
		{"tcp", "ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 40000 tcp dport 80 tcp flags syn"},
		{"ip saddr 1.1.1.1 ip daddr 2.2.2.2 udp sport 1 udp dport 2 ip ttl 3 ip id 4 ether saddr 02:00:00:00:00:09 udp checksum 0x0007", ""},
		{"ip saddr 1.1.1.1 ip daddr 2.2.2.2 tcp sport 1 tcp dport 2 tcp flags syn,ack tcp option maxseg size 1460 " +
			"tcp option sack-perm tcp option timestamp tsval 7 tsecr 0 tcp option nop tcp option window count 7", ""},
		{"link raw ip6 saddr fd00::1 ip6 daddr fd00::2 hbh data 0x010400000000 frag frag-off 0 frag more-fragments 1 frag id 9 udp sport 1 udp dport 2 payload \"a\\\"b\"", ""},
		{"vlan id 5 vlan id 6 vlan pcp 1 arp operation reply arp saddr ip 10.0.0.1 arp daddr ip 10.0.0.2", ""},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 icmp type destination-unreachable icmp code port-unreachable " +
			"inner ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 1 udp dport 2", ""},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 gre inner ip saddr 1.1.1.1 ip daddr 2.2.2.2 icmp type echo-request", ""},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1 udp dport 4789 vxlan vni 7 inner ether ip saddr 1.1.1.1 ip daddr 2.2.2.2 icmp type echo-reply", ""},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip protocol 17 payload 0x0001",
			"ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip protocol udp payload 0x0001"},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 sctp sport 1 sctp dport 2 sctp chunk init init-tag 5 sctp chunk 77 data 0x00", ""},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip option ra", "ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 40000 tcp dport 80 tcp flags syn ip option ra value 0"},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1 udp dport 2 payload length 100", ""},
		{"ether type 0x88cc payload 0x0102", ""},
		{"hex 0011", ""},
		{"link 147 hex 0011", ""},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.text
		}
		if got := Text(view(t, tt.text)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestTextOfCut(t *testing.T) {
	p, err := Parse("udp dport 5 payload 0x0102030405060708")
	if err != nil {
		t.Fatal(err)
	}
	var v packet.View
	v.Decode(p.Link, p.Data[:44], len(p.Data))
	const headers = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 40000 udp dport 5"
	if got, want := Text(&v), headers+" payload length 8"; got != want {
		t.Errorf("payload cut:\n got %s\nwant %s", got, want)
	}
	v.Decode(p.Link, p.Data[:38], len(p.Data))
	if got := Text(&v); !strings.HasPrefix(got, "hex 02") {
		t.Errorf("header cut: %s", got)
	}
}

func TestTextOfOtherLinks(t *testing.T) {
	p, err := Parse("link raw icmp type echo-request icmp id 1")
	if err != nil {
		t.Fatal(err)
	}
	var v packet.View
	frame := append([]byte{2, 0, 0, 0}, p.Data...)
	v.Decode(packet.LinkNull, frame, len(frame))
	if got, want := Text(&v), "link raw ip saddr 10.0.0.1 ip daddr 10.0.0.2 icmp type echo-request icmp id 1"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	padded := append(bytes.Clone(view(t, "tcp").Data), make([]byte, 6)...)
	v.Decode(packet.LinkEthernet, padded, len(padded))
	if got, want := Text(&v), "ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 40000 tcp dport 80 tcp flags syn"; got != want {
		t.Errorf("padding:\n got %s\nwant %s", got, want)
	}
}

// TestTextRoundTrip makes packets of random headers and fields, prints and
// parses them. A packet with lengths that contradict each other may become
// hex, others may not.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		p, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var v packet.View
		v.Decode(p.Link, p.Data, len(p.Data))
		printed, words := describe(&v)
		if !words {
			t.Fatalf("no words for %s", text)
		}
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("%s\nprinted as %s: %v", text, printed, err)
		}
		if !bytes.Equal(again.Data, p.Data) || again.Link != p.Link {
			t.Fatalf("%s\nprinted as %s\n got % x\nwant % x", text, printed, again.Data, p.Data)
		}
	})
}

// derived fields are left to Parse, and those that decide what follows.
var derived = []string{"length", "hdrlength", "version", "doff", "checksum", "protocol", "nexthdr", "type", "optlength",
	"csumcov", "cscov", "htype", "ptype", "hlen", "plen", "frag-off", "reserved", "flags"}

// drawText makes up a packet of sensible headers with random values.
func drawText(t *rapid.T) string {
	var out []string
	add := func(h *header) {
		out = append(out, h.name)
		for i := range h.fields {
			f := &h.fields[i]
			skip := h.rank != rankExtension && h != &udpHeader && f.kind == flags || f.only != nil
			for _, name := range derived {
				skip = skip || f.name == name && f.kind != flags
			}
			if skip || !rapid.Bool().Draw(t, h.name+" "+f.name) {
				continue
			}
			b := rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "value")
			if f.kind == etherAddr {
				b[f.bit/8] &^= 1
			}
			out = append(out, h.name, f.name, f.format(b))
		}
	}
	if rapid.Bool().Draw(t, "raw") {
		out = append(out, "link raw")
	} else {
		for range rapid.IntRange(0, 2).Draw(t, "tags") {
			out = append(out, "vlan id", rapid.StringMatching(`[1-9][0-9]{0,2}`).Draw(t, "id"))
		}
	}
	v6 := rapid.Bool().Draw(t, "ipv6")
	if v6 {
		add(&ip6Header)
		for range rapid.IntRange(0, 2).Draw(t, "extensions") {
			add(rapid.SampledFrom([]*header{&hopHeader, &destHeader, &routingHeader, &authHeader}).Draw(t, "extension"))
		}
	} else {
		add(&ipHeader)
	}
	transports := []*header{&tcpHeader, &udpHeader, &udpliteHeader, &sctpHeader, &dccpHeader, &icmpHeader, &igmpHeader, &espHeader, &compHeader}
	if v6 {
		transports = append(transports[:5:5], &icmpv6Header, &espHeader, &mobilityHeader)
	}
	transport := rapid.SampledFrom(transports).Draw(t, "transport")
	add(transport)
	for range rapid.IntRange(0, 2).Draw(t, "options") {
		if transport.items == nil || len(transport.items.kinds) == 0 {
			continue
		}
		out = append(out, transport.name, transport.items.keyword, rapid.SampledFrom(transport.items.names()[2:]).Draw(t, "option"))
	}
	if transport != &sctpHeader {
		if payload := rapid.SliceOfN(rapid.Byte(), 0, longPayload).Draw(t, "payload"); len(payload) > 0 {
			out = append(out, "payload", quote(payload))
		}
	}
	return strings.Join(out, " ")
}
