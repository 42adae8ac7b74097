package engine_test

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"verdict"
	"verdict/engine"
	"verdict/packet/build"
)

// BenchmarkEvaluate runs packets to a host through rulesets of several sizes,
// the whole way from decoding to the verdict, one after the other on one core.
func BenchmarkEvaluate(b *testing.B) {
	forty, err := os.ReadFile("testdata/stateless40.nft")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("rules=10", func(b *testing.B) { benchmark(b, linear(10), serverTraffic) })
	b.Run("rules=40", func(b *testing.B) { benchmark(b, string(forty), serverTraffic) })
	b.Run("rules=1000", func(b *testing.B) { benchmark(b, linear(1000), serverTraffic) })
	b.Run("stateful", func(b *testing.B) { benchmark(b, stateful, serverTraffic) })
}

// stateful is a common server ruleset.
const stateful = `
table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		ct state vmap { established : accept, related : accept, invalid : drop }
		iifname "lo" accept
		tcp dport { 22, 80, 443 } accept
		udp dport 53 accept
	}
}`

// linear is a list of rules that name an address and a port; the last accepts
// the rest.
func linear(rules int) string {
	var s strings.Builder
	s.WriteString("table ip filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n")
	for i := range rules - 1 {
		fmt.Fprintf(&s, "\t\tip saddr 198.18.%d.%d tcp dport %d drop\n", i>>8, i&0xff, 1+i)
	}
	s.WriteString("\t\taccept\n\t}\n}\n")
	return s.String()
}

// serverTraffic is what a server sees: mostly web traffic, some of it not
// allowed.
var serverTraffic = []string{
	"ip saddr 100.64.0.1 tcp dport 443 tcp flags ack",
	"ip saddr 100.64.0.2 tcp dport 443 tcp flags ack,psh payload length 100",
	"ip saddr 100.64.0.3 tcp dport 80 tcp flags syn",
	"ip saddr 100.64.0.4 udp dport 53 payload length 40",
	"ip saddr 10.1.2.3 tcp dport 5432 tcp flags ack",
	"ip saddr 100.64.0.5 tcp dport 22 tcp flags syn",
	"ip saddr 100.64.0.6 tcp dport 41000 tcp flags ack",
	"ip saddr 100.64.0.7 icmp type echo-request",
}

func inputs(t testing.TB, texts []string) []engine.Input {
	var list []engine.Input
	for _, text := range texts {
		p, err := build.Parse("iifname eth0 " + text)
		if err != nil {
			t.Fatal(err)
		}
		in := verdict.PacketInput(p)
		in.Facts = nil // as of a capture
		list = append(list, in)
	}
	return list
}

func worker(t testing.TB, rules string) *engine.Worker {
	loaded, err := verdict.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(loaded.Rules(), loaded.Host(), engine.Options{Local: []netip.Addr{netip.MustParseAddr("10.0.0.2")}})
	if err != nil {
		t.Fatal(err)
	}
	return e.Worker()
}

func benchmark(b *testing.B, rules string, texts []string) {
	w, list := worker(b, rules), inputs(b, texts)
	var out engine.Outcome
	for i := range list {
		w.Evaluate(&list[i], &out)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i++; i == len(list) {
			i = 0
		}
		list[i].Time++
		w.Evaluate(&list[i], &out)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

// TestEvaluateDoesNotAllocate holds for every kind of ruleset, once warm.
func TestEvaluateDoesNotAllocate(t *testing.T) {
	forty, err := os.ReadFile("testdata/stateless40.nft")
	if err != nil {
		t.Fatal(err)
	}
	for name, rules := range map[string]string{"linear": linear(20), "forty": string(forty), "stateful": stateful} {
		w, list := worker(t, rules), inputs(t, serverTraffic)
		var out engine.Outcome
		i := 0
		evaluate := func() {
			w.Evaluate(&list[i%len(list)], &out)
			i++
		}
		for range list {
			evaluate()
		}
		if n := testing.AllocsPerRun(100, evaluate); n != 0 {
			t.Errorf("%s: %v allocations per packet", name, n)
		}
	}
}
