package engine_test

import (
	"testing"

	"verdict"
	"verdict/catalog"
	"verdict/diag"
	"verdict/engine"
	"verdict/host"
	"verdict/packet/build"
)

// TestTablesOfMadePackets: what the host sends because of a packet counts with
// the rules that it meets, and what matches remember is common to both.
func TestTablesOfMadePackets(t *testing.T) {
	const saved = `*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A INPUT -p tcp -m statistic --mode nth --every 3 --packet 0 -j ACCEPT
-A OUTPUT -p tcp -j ACCEPT
COMMIT
`
	h, err := host.Parse("host.json", []byte(routerHost))
	if err != nil {
		t.Fatal(err)
	}
	rules, found := verdict.LoadSources(verdict.LoadOptions{Host: h, TablesFamily: catalog.FamilyIP}, diag.NewSource("saved", []byte(saved)))
	if found.HasErrors() {
		t.Fatal(found.Err())
	}
	e, err := engine.New(rules.Rules(), h, engine.Options{Replies: true, Tables: rules.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	p, err := build.Parse("iifname lan0 ether saddr 02:00:00:00:01:02 ether daddr 02:00:00:00:01:01 ip saddr 10.0.0.2 ip daddr 10.0.0.1 tcp dport 80 tcp flags syn")
	if err != nil {
		t.Fatal(err)
	}
	w, in := e.Worker(), verdict.PacketInput(p)
	var out engine.Outcome
	for range 4 {
		w.Evaluate(&in, &out)
		if len(out.Sent) != 1 {
			t.Fatalf("%d frames sent, want a reset", len(out.Sent))
		}
	}
	for rule, want := range []uint64{2, 4} {
		if got := w.Tables().Counter(uint32(rule)).Packets; got != want {
			t.Errorf("rule %d counts %d packets, want %d", rule, got, want)
		}
	}
}
