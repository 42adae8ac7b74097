package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verdict"
	"verdict/diag"
	"verdict/engine"
	"verdict/host"
	"verdict/packet"
	"verdict/packet/build"
)

const routerHost = `{
  "interfaces": [
    {"name": "lan0", "mac": "02:00:00:00:01:01", "addresses": ["10.0.0.1/24", "fd00:1::1/64"]},
    {"name": "wan0", "mac": "02:00:00:00:02:01", "addresses": ["203.0.113.1/24", "2001:db8::1/64"]}
  ],
  "routes": [
    {"dst": "default", "gateway": "203.0.113.2", "dev": "wan0"},
    {"dst": "10.99.0.0/16", "type": "unreachable"}
  ],
  "neighbours": [
    {"dst": "10.0.0.2", "dev": "lan0", "mac": "02:00:00:00:01:02"},
    {"dst": "fd00:1::2", "dev": "lan0", "mac": "02:00:00:00:01:02"},
    {"dst": "203.0.113.2", "dev": "wan0", "mac": "02:00:00:00:02:02"}
  ]
}`

const routerRules = `
table ip t {
	chain forward {
		type filter hook forward priority 0; policy accept;
		tcp dport 25 reject with tcp reset
		udp dport 25 reject
		udp dport 514 dup to 203.0.113.2 device "wan0"
		udp dport 515 dup to 203.0.113.2 device "lan0"
	}
	chain output {
		type filter hook output priority 0; policy accept;
		udp dport 514 ip frag-off & 0x4000 == 0 drop
		udp dport 514 meta iiftype ether mark set 3
	}
	chain postrouting {
		type filter hook postrouting priority 0; policy accept;
		iifname "wan0" udp dport 514 mark 3 mark set 1
		mark 1 udp dport 514 ip dscp set cs1
	}
}
table netdev n {
	chain ingress {
		type filter hook ingress device "lan0" priority 0; policy accept;
		udp dport 9 dup to "wan0" drop
	}
}`

// TestReplies shows what a host without sockets sends because of a packet.
func TestReplies(t *testing.T) {
	const from = "iifname lan0 ether saddr 02:00:00:00:01:02 ether daddr 02:00:00:00:01:01 "
	const four = from + "ip saddr 10.0.0.2 "
	tests := []struct{ name, packet, want string }{
		{"echo", four + "ip daddr 10.0.0.1 icmp type echo-request", "reply accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 icmp 0/0 (reply)"},
		{"closed TCP port", four + "ip daddr 10.0.0.1 tcp dport 80 tcp flags syn", "reset accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 proto 6 (reset)"},
		{"closed UDP port", four + "ip daddr 10.0.0.1 udp dport 80", "error accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 icmp 3/3 (error)"},
		{"unknown protocol", four + "ip daddr 10.0.0.1 ip protocol 99", "error accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 icmp 3/2 (error)"},
		{"time exceeded", four + "ip ttl 1 ip daddr 8.8.8.8 udp dport 53", "error accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 icmp 11/0 (error)"},
		{"unreachable route", from + "ip saddr 10.0.0.3 ip daddr 10.99.0.1 udp dport 53", "error accept |"},
		{"forwarded", four + "ip daddr 8.8.8.8 udp dport 53", "| wan0 02:00:00:00:02:02 10.0.0.2>8.8.8.8 proto 17 DF"},
		{"reject", four + "ip daddr 8.8.8.8 udp dport 25", "reject accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 icmp 3/3 (reject)"},
		{"reject with reset", four + "ip daddr 8.8.8.8 tcp dport 25 tcp flags syn", "reject accept | lan0 02:00:00:00:01:02 8.8.8.8>10.0.0.2 proto 6 (reject)"},
		{"no answer to a reset", four + "ip daddr 10.0.0.1 tcp dport 80 tcp flags rst", "|"},
		{"clone", four + "ip daddr 8.8.8.8 udp dport 9", "clone accept | wan0 02:00:00:00:01:01 10.0.0.2>8.8.8.8 proto 17 DF (clone)"},
		{"clone to a gateway", four + "ip daddr 10.0.0.3 ip frag-off 0x0000 udp dport 514", "clone accept | wan0 02:00:00:00:02:02 10.0.0.2>10.0.0.3 proto 17 dscp 8 DF (clone)"},
		{"clone to a gateway where no route leads to it", four + "ip daddr 10.0.0.2 udp dport 515", "clone accept | lan0 02:00:00:00:01:02 10.0.0.2>10.0.0.2 proto 17 DF (clone) lan0 02:00:00:00:01:02 10.0.0.2>10.0.0.2 proto 17 DF"},
		{"strict source route that leads on", four + "ip daddr 8.8.8.8 ip option ssrr ptr 4 addr 1.2.3.4 udp dport 53", "error accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 icmp 12/0 (error)"},
		{"loose source route that leads on", four + "ip daddr 8.8.8.8 ip option lsrr ptr 4 addr 1.2.3.4 udp dport 53", "| wan0 02:00:00:00:02:02 10.0.0.2>8.8.8.8 proto 17 DF options 8307040102030400"},
		{"timestamp without room", four + "ip daddr 8.8.8.8 ip option 68 data 0x0500 udp dport 53", "| wan0 02:00:00:00:02:02 10.0.0.2>8.8.8.8 proto 17 DF options 44040510"},
		{"timestamps without room, too many", four + "ip daddr 8.8.8.8 ip option 68 data 0x05f0 udp dport 53", "error accept | lan0 02:00:00:00:01:02 10.0.0.1>10.0.0.2 icmp 12/0 (error)"},
		{"network 0", from + "ip saddr 0.125.194.33 ip daddr 8.8.8.8 udp dport 53", "| wan0 02:00:00:00:02:02 0.125.194.33>8.8.8.8 proto 17 DF"},
		{"no answer to router discovery", four + "ip ttl 1 ip daddr 8.8.8.8 icmp type router-solicitation", "|"},
		{"IPv6 unknown option", from + "ip6 saddr fd00:1::2 ip6 daddr fd00:1::1 hbh data 0x9c0400000000 udp dport 80", "error accept | lan0 02:00:00:00:01:02 fd00:1::1>fd00:1::2 icmp 4/2 (error)"},
		{"IPv6 unknown option, silently", from + "ip6 saddr fd00:1::2 ip6 daddr fd00:1::1 hbh data 0x5c0400000000 udp dport 80", "|"},
		{"IPv6 unknown destination option", from + "ip6 saddr fd00:1::2 ip6 daddr fd00:1::1 dst data 0x9c0400000000 udp dport 80", "error accept | lan0 02:00:00:00:01:02 fd00:1::1>fd00:1::2 icmp 4/2 (error)"},
		{"IPv6 port", from + "ip6 saddr fd00:1::2 ip6 daddr fd00:1::1 udp dport 80", "error accept | lan0 02:00:00:00:01:02 fd00:1::1>fd00:1::2 icmp 1/4 (error)"},
		{"IPv6 echo", from + "ip6 saddr fd00:1::2 ip6 daddr fd00:1::1 icmpv6 type echo-request", "reply accept | lan0 02:00:00:00:01:02 fd00:1::1>fd00:1::2 icmp 129/0 (reply)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := routerEngine(t)
			p, err := build.Parse(tt.packet)
			if err != nil {
				t.Fatal(err)
			}
			in := verdict.PacketInput(p)
			var out engine.Outcome
			e.Worker().Evaluate(&in, &out)
			if got := describeReplies(&out); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func routerEngine(t *testing.T) *verdict.Engine {
	t.Helper()
	h, err := host.Parse("host.json", []byte(routerHost))
	if err != nil {
		t.Fatal(err)
	}
	rules, findings := verdict.LoadSources(verdict.LoadOptions{Host: h}, diag.NewSource("rules", []byte(routerRules)))
	if rules == nil {
		t.Fatal(findings.Err())
	}
	e, err := rules.NewEngine(verdict.EngineOptions{Replies: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// describeReplies lists what was made, and behind a bar the frames that left.
func describeReplies(out *engine.Outcome) string {
	var parts []string
	for _, m := range out.Made {
		parts = append(parts, m.Kind.String()+" "+m.Fate.String())
	}
	parts = append(parts, "|")
	for _, s := range out.Sent {
		var v packet.View
		v.Decode(packet.LinkEthernet, s.Data, len(s.Data))
		text := fmt.Sprintf("%s %s %s>%s", s.Device, host.MAC(s.Data[:6]), v.SrcAddr(), v.DstAddr())
		if v.L4Proto == packet.ProtoICMP || v.L4Proto == packet.ProtoICMPv6 {
			text += fmt.Sprintf(" icmp %d/%d", s.Data[v.ThOff], s.Data[v.ThOff+1])
		} else {
			text += fmt.Sprintf(" proto %d", v.L4Proto)
		}
		if v.EtherType == packet.TypeIPv4 && v.L4Proto == packet.ProtoUDP {
			if dscp := s.Data[15] >> 2; dscp != 0 {
				text += fmt.Sprintf(" dscp %d", dscp)
			}
			if s.Data[20]&0x40 != 0 {
				text += " DF"
			}
			if options := s.Data[34:v.ThOff]; len(options) > 0 {
				text += fmt.Sprintf(" options %x", options)
			}
		}
		if ok, result := v.VerifyTransport(); result == packet.OK && !ok {
			text += " with a wrong checksum"
		}
		if s.Made {
			text += " (" + s.Kind.String() + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}
