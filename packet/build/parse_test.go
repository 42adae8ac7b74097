package build

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"verdict/packet"
)

// TestParseBytes checks whole frames, written out by hand.
func TestParseBytes(t *testing.T) {
	const ether = "020000000002 020000000001 "
	tests := []struct {
		text string
		want string
	}{
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp sport 4000 tcp dport 22 tcp flags syn",
			ether + "0800 4500 0028 0000 4000 4006 26ce 0a000001 0a000002 0fa0 0016 00000001 00000000 5002 faf0 9138 0000"},
		{"link raw udp dport 53 payload \"hi\"",
			"4500 001e 0000 4000 4011 26cd 0a000001 0a000002 9c40 0035 000a e6f8 6869"},
		{"vlan id 5 vlan pcp 3 ether type 8021ad ip daddr 224.0.0.251 igmp group 224.0.0.251",
			"01005e0000fb 020000000001 88a8 6005 0800 4500 001c 0000 4000 4002 4fe4 0a000001 e00000fb 1600 0904 e00000fb"},
		{"arp operation request arp saddr ip 10.0.0.7 arp daddr ip 10.0.0.9",
			"ffffffffffff 020000000001 0806 0001 0800 06 04 0001 020000000001 0a000007 000000000000 0a000009"},
		{"ether type 0x88cc payload 0x0011", ether + "88cc 0011"},
		{"hex 00:11:22 33", "00112233"},
		{"link raw ip6 saddr fd00::1 ip6 daddr fd00::2 icmpv6 type echo-request icmpv6 id 1",
			"6000 0000 0008 3a 40 fd000000000000000000000000000001 fd000000000000000000000000000002 8000 85b7 0001 0000"},
		{"link raw ip frag-off 0x2003 ip protocol udp payload 0xaabb",
			"4500 0016 0000 2003 4011 46d2 0a000001 0a000002 aabb"},
		{"link raw ip length 9 ip checksum 1 ip hdrlength 4 ip version 5 ip protocol 99 payload 0xff",
			"5400 0009 0000 4000 4063 0001 0a000001 0a000002 ff"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			p, err := Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := hex.EncodeToString(p.Data), strings.ReplaceAll(tt.want, " ", ""); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// view decodes what a text makes.
func view(t testing.TB, text string) *packet.View {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	v := new(packet.View)
	v.Decode(p.Link, p.Data, len(p.Data))
	return v
}

// TestParseSpellings: different words for the same packet.
func TestParseSpellings(t *testing.T) {
	tests := [][]string{
		{"tcp flags syn,ack", "tcp flags syn|ack", "tcp flags syn | ack", "tcp flags syn, ack", "tcp flags 0x12",
			"tcp flags == syn,ack", "tcp flags ack,syn"},
		{"tcp dport 22", "tcp dport ssh", "tcp dport 0x16", "ip protocol tcp tcp dport 22", "meta l4proto tcp th dport 22",
			"tcp dport 22 ip saddr 10.0.0.1", "ether saddr 02:00:00:00:00:01 tcp dport 22", "meta nfproto ipv4 tcp dport 22"},
		{"ip saddr 1.2.3.4 ip ttl 3", "ip saddr 1.2.3.4 ttl 3", "ip ttl 3 ip saddr 1.2.3.4"},
		{"tcp option timestamp tsval 1 tsecr 2", "tcp option timestamp tsval 1 tcp option timestamp tsecr 2",
			"tcp option 8 data 0x0000000100000002"},
		{"udp", "ip protocol udp", "meta l4proto 17", "udp dport 53", "ip protocol 17"},
		{"icmpv6", "ip6 nexthdr icmpv6", "icmpv6 type echo-request", "meta l4proto ipv6-icmp"},
		{"hbh udp", "exthdr hbh exists udp", "hbh data 0x010400000000 udp"},
		{"gre ip saddr 1.1.1.1 gre ip daddr 2.2.2.2", "gre ip saddr 1.1.1.1 ip daddr 2.2.2.2",
			"gre inner ip saddr 1.1.1.1 ip daddr 2.2.2.2"},
		{"vxlan vni 7 vxlan ip saddr 1.1.1.1", "udp dport 4789 vxlan vni 7 inner ether ip saddr 1.1.1.1",
			"vxlan vni 7 vxlan ether saddr 02:00:00:00:00:01 vxlan ip saddr 1.1.1.1"},
		{"payload 0x6869", "payload \"hi\"", "tcp payload \"h\\i\""},
		{"udp length 12 udp payload length 4", "udp length 12 udp payload 0x00000000", "udp payload 0x length 4"},
		{"ip dscp ef ip ecn ce", "ip dscp 46 ip ecn 3"},
		{"icmp type echo-request", "icmp", "icmp type 8"},
		{"ip6 daddr fd00::1 tcp", "ip6 daddr fd00::1"},
	}
	for _, spellings := range tests {
		want := hex.EncodeToString(view(t, spellings[0]).Data)
		for _, text := range spellings[1:] {
			if got := hex.EncodeToString(view(t, text).Data); got != want {
				t.Errorf("%s\n got %s\n%s\nwant %s", text, got, spellings[0], want)
			}
		}
	}
}

func TestParseMeta(t *testing.T) {
	p, err := Parse(`iifname "eth0" oif 7 meta mark 0x10 skuid 1000 meta skgid 5 meta priority 2 meta cgroup 9 ` +
		`meta pkttype multicast meta cpu 3 iifgroup 4 ibrname br0 rtclassid 8 meta time "2024-05-31 12:00:00" hook output udp`)
	if err != nil {
		t.Fatal(err)
	}
	want := packet.Meta{
		Has:  packet.HasSKUID | packet.HasSKGID | packet.HasCGroup | packet.HasPktType | packet.HasRtClassID,
		Mark: 16, SKUID: 1000, SKGID: 5, Priority: 2, CGroup: 9, PktType: packet.PktMulticast, CPU: 3, RtClassID: 8,
		Time: 1717156800e9, BridgeIn: packet.MakeName("br0"),
		IIF: packet.Device{Name: packet.MakeName("eth0"), Group: 4}, OIF: packet.Device{Index: 7},
	}
	if p.Meta != want {
		t.Errorf("\n got %+v\nwant %+v", p.Meta, want)
	}
	if p.Hook != "output" || p.Link != packet.LinkEthernet {
		t.Errorf("hook %q, link %v", p.Hook, p.Link)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		text string
		want string
	}{
		{"", "column 1: empty packet"},
		{"tcp sprot 5", `column 5: unknown field "sprot" of tcp (did you mean "sport"?)`},
		{"ip saddr 1.2.3.4 tpc sport 5", `column 18: unknown field "tpc" of ip`},
		{"tpc sport 5", `column 1: unknown header "tpc" (did you mean "tcp"?)`},
		{"ip saddr ::1", "column 10: ::1 is an IPv6 address, saddr wants IPv4"},
		{"ip6 saddr 1.2.3.4", "column 11: 1.2.3.4 is an IPv4 address, saddr wants IPv6"},
		{"ip saddr 10.0.0", `column 10: "10.0.0" is not an address`},
		{"ether saddr 1:2", `column 13: "1:2" is not a link-layer address`},
		{"tcp dport 99999", "column 11: 99999 does not fit into 16 bits: at most 65535"},
		{"tcp dport sshd", `column 11: unknown value "sshd" (did you mean "ssh"?)`},
		{"tcp flags syn,akc", `column 15: unknown value "akc" (did you mean "ack"?)`},
		{"tcp flags syn | akc", `column 17: unknown value "akc" (did you mean "ack"?)`},
		{"meta mrak 5", `column 6: unknown meta key "mrak" (did you mean "mark"?)`},
		{"meta length 5", "column 6: meta length follows from the headers and the payload; length N pads the payload"},
		{"meta random 5", "column 6: meta random cannot be given for a packet"},
		{"tcp dport 5 tcp dport 6", "column 13: tcp dport given twice"},
		{"tcp dport 5 udp dport 6", "column 13: udp beside tcp: a packet inside another needs the word inner"},
		{"ip saddr 1.1.1.1 ip6 saddr ::1", "column 18: ip6 beside ip: a packet inside another needs the word inner"},
		{"tcp dport", "column 10: value of dport expected"},
		{"payload 0x1", `column 9: "0x1" is not a whole number of hexadecimal bytes`},
		{"payload hello", `column 9: bytes are written as "text" or 0x0011, not "hello"`},
		{`payload "hello`, "column 9: string without closing quote"},
		{"payload 0x00 payload 0x01", "column 22: payload given twice"},
		{"ether type 0xffff tcp", "column 22: the link header's type announces neither IPv4 nor IPv6: name ip or ip6 too"},
		{`udp meta time "2263-01-01"`, "column 15: a time lies between 1970 and 2262"},
		{`udp meta time "1969-12-31"`, "column 15: a time lies between 1970 and 2262"},
		{"ct state new", "column 1: ct is not a property of a packet: the state of a connection follows from the packets before this one"},
		{"th sport 5", "column 1: th needs a transport protocol before it"},
		{"hook inptu", `column 6: unknown hook "inptu" (did you mean "input"?)`},
		{"iifname averyveryverylongname", "column 9: an interface name has 1 to 15 bytes"},
		{"tcp option maxsge size 5", `column 12: unknown option "maxsge" (did you mean "maxseg"?)`},
		{"tcp option maxseg siez 5", `column 19: unknown field "siez" of option maxseg (did you mean "size"?)`},
		{"sctp chunk dtaa", `column 12: unknown chunk "dtaa" (did you mean "data"?)`},
		{"exthdr hhb exists", `column 8: unknown extension header "hhb" (did you mean "hbh"?)`},
		{"link raw ether saddr 02:00:00:00:00:01", "column 39: a link header does not go with link raw"},
		{"link rwa", `column 6: link type "rwa" is neither ethernet, raw nor a number (did you mean "raw"?)`},
		{"arp tcp dport 5", "column 16: ARP carries no other header"},
		{"hex 0", `column 5: "0" is not a whole number of hexadecimal bytes`},
		{"hex 00 tcp dport 5", "column 1: hex is a whole frame: it cannot be combined with headers"},
		{`"tcp"`, "column 1: string without a field before it"},
		{"meta l4proto 99", "column 14: no header for protocol 99: use ip protocol or ip6 nexthdr"},
		{strings.Repeat("inner ", 17), "column 97: more than 16 packets inside each other"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := Parse(tt.text)
			var typed *Error
			if !errors.As(err, &typed) {
				t.Fatalf("error %v of type %T", err, err)
			}
			if err.Error() != tt.want {
				t.Errorf("\n got %s\nwant %s", err, tt.want)
			}
			if typed.Offset < 0 || typed.Offset+typed.Length > len(tt.text) {
				t.Errorf("position %d+%d outside the text", typed.Offset, typed.Length)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	tests := []struct{ text, want string }{
		{"tcp sport 4000 tcp dport 22", "IP 10.0.0.1.4000 > 10.0.0.2.22: tcp S len 0"},
		{"tcp flags psh,ack payload \"abc\" tcp option nop", "IP 10.0.0.1.40000 > 10.0.0.2.80: tcp P. len 3"},
		{"tcp flags 0", "IP 10.0.0.1.40000 > 10.0.0.2.80: tcp none len 0"},
		{"ip6 saddr fd00::1 udp length 12 udp payload 0x00000000", "IP6 fd00::1.40000 > 2001:db8::2.53: udp len 4"},
		{"vlan id 5 icmp type echo-reply icmp id 7 icmp sequence 2", "vlan 5 IP 10.0.0.1 > 10.0.0.2: icmp echo-reply id 7 seq 2 len 8"},
		{"icmp type destination-unreachable icmp code 3", "IP 10.0.0.1 > 10.0.0.2: icmp destination-unreachable code 3 len 8"},
		{"icmpv6 type nd-neighbor-solicit", "IP6 2001:db8::1 > 2001:db8::2: icmp6 nd-neighbor-solicit len 24"},
		{"ip frag-off 0x2000 udp", "IP 10.0.0.1.40000 > 10.0.0.2.53: udp len 0 frag 0+"},
		{"ip frag-off 2 ip protocol udp payload 0x00", "IP 10.0.0.1 > 10.0.0.2: udp len 1 frag 16"},
		{"arp", "ARP who-has 10.0.0.2 tell 10.0.0.1"},
		{"arp operation reply", "ARP 10.0.0.1 is-at 02:00:00:00:00:01"},
		{"arp operation nak", "ARP nak 10.0.0.1 > 10.0.0.2"},
		{"ip protocol 99 payload 0x01", "IP 10.0.0.1 > 10.0.0.2: proto 99 len 1"},
		{"ip length 10 udp", "IP malformed, len 28"},
		{"ether type 0x88cc payload 0x0102", "ethertype 0x88cc len 2"},
		{"link 147 hex 0011", "linktype 147 len 2"},
	}
	for _, tt := range tests {
		if got := Summary(view(t, tt.text)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// TestAnyThree: whatever headers come together make a packet or a mistake.
func TestAnyThree(t *testing.T) {
	phrases := []string{
		"ether type 0xffff", "ether type ip6", "ether type arp", "ether type 8021q", "vlan id 5", "vlan type 0xffff", "link raw",
		"ip", "ip protocol 255", "ip protocol udp", "ip frag-off 5", "ip6", "ip6 nexthdr 255", "ip6 nexthdr hopopt", "arp",
		"hbh", "dst", "rt", "frag frag-off 5", "mh", "ah", "esp", "comp",
		"tcp", "udp", "udplite", "sctp", "dccp", "icmp", "icmpv6", "igmp", "gre", "gre protocol 0x6558", "th dport 5",
		"inner", "inner ether", "inner ip6", "vxlan", "geneve", "gretap", "payload 0x0102", "payload 0x", "length 3",
		"meta protocol ip6", "meta l4proto udp", "meta nfproto ipv6", "iifname lo", "hex 00",
	}
	try := func(text string) {
		defer func() {
			if why := recover(); why != nil {
				t.Errorf("%s: %v", text, why)
			}
		}()
		_, _ = Parse(text) // either is fine
	}
	for _, a := range phrases {
		for _, b := range phrases {
			for _, c := range phrases {
				try(a + " " + b + " " + c)
			}
		}
	}
}
