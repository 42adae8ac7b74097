package engine_test

import (
	"net/netip"
	"os"
	"testing"

	"verdict"
	"verdict/engine"
	"verdict/packet"
	"verdict/packet/build"
	"verdict/trace"
)

// ignore takes events and forgets them.
type ignore struct{}

func (ignore) Event(*trace.Event) {}

// FuzzEvaluate sends any bytes through rules that read every part of a packet:
// nothing panics, and tracing changes nothing.
func FuzzEvaluate(f *testing.F) {
	text, err := os.ReadFile("testdata/everything.nft")
	if err != nil {
		f.Fatal(err)
	}
	rules, err := verdict.Parse(string(text))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		"tcp dport 22 tcp option maxseg size 1460", "vlan id 5 udp dport 53", "ip6 saddr 2001:db8::1 hbh frag udp",
		"udp dport 4789 vxlan ip saddr 10.9.9.9 udp", "gre ip saddr 10.9.9.9 tcp", "arp operation request",
		"ip option rr ptr 4 udp", "sctp chunk init", "icmp type destination-unreachable inner ip saddr 10.0.0.2 udp",
	} {
		p, err := build.Parse(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Data, uint16(0), uint16(packet.LinkEthernet))
		f.Add(p.Data, uint16(40), uint16(packet.LinkEthernet))
		f.Add(p.Data[14:], uint16(0), uint16(packet.LinkRaw))
	}
	f.Fuzz(func(t *testing.T, data []byte, missing, link uint16) {
		plain, traced := fuzzWorker(t, rules), fuzzWorker(t, rules)
		traced.Trace(ignore{})
		in := engine.Input{Data: data, OrigLen: len(data) + int(missing), LinkType: packet.LinkType(link), In: "eth0"}
		for range 2 {
			var a, b engine.Outcome
			plain.Evaluate(&in, &a)
			traced.Evaluate(&in, &b)
			if a.Fate != b.Fate || a.Verdict != b.Verdict || a.CutAt != b.CutAt || string(a.Data) != string(b.Data) {
				t.Fatalf("plain %+v, traced %+v", a, b)
			}
		}
	})
}

func fuzzWorker(t *testing.T, rules *verdict.Ruleset) *engine.Worker {
	e, err := engine.New(rules.Rules(), rules.Host(), engine.Options{Local: []netip.Addr{netip.MustParseAddr("10.0.0.2")}})
	if err != nil {
		t.Fatal(err)
	}
	return e.Worker()
}
