package goals

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"verdict"
	"verdict/capture"
	"verdict/engine"
	"verdict/internal/workload"
)

var servicePorts = []int{20, 21, 25, 53, 80, 88, 110, 111, 123, 135, 139, 143, 389, 443, 445, 465, 514, 587, 636, 853, 873, 993, 995, 1194, 2049, 3128, 3306, 5432, 6379, 8080}

// realistic is the input side of a server's firewall: connections first, then
// checks of abuse, then services one by one.
func realistic() string {
	var s strings.Builder
	s.WriteString("table inet filter {\n\tset blocked { type ipv4_addr; flags interval; elements = {\n")
	for i := range 1000 {
		fmt.Fprintf(&s, "198.18.%d.%d-198.18.%d.%d,\n", i>>4, i&15*16, i>>4, i&15*16+7)
	}
	s.WriteString("} }\n\tset admin { type ipv4_addr; elements = { ")
	for i := range 100 {
		fmt.Fprintf(&s, "203.0.113.%d, ", i+1)
	}
	s.WriteString(`} }
	chain icmp_in {
		icmp type { echo-request, destination-unreachable, time-exceeded } limit rate 1000/second burst 100 packets accept
		icmpv6 type { echo-request, nd-neighbor-solicit, nd-neighbor-advert, nd-router-advert } accept
	}
	chain abuse {
		ip saddr @blocked drop
		tcp flags & (syn | fin) == (syn | fin) drop
	}
	chain services {
`)
	for _, p := range servicePorts {
		fmt.Fprintf(&s, "\t\ttcp dport %d accept\n", p)
	}
	s.WriteString(`	}
	chain input {
		type filter hook input priority 0; policy drop;
		ct state established,related accept
		ct state invalid drop
		iif "lo" accept
		meta l4proto { icmp, ipv6-icmp } jump icmp_in
		jump abuse
		ip saddr @admin tcp dport 22 accept
		jump services
		limit rate 10/second counter
	}
}
`)
	return s.String()
}

// TestGoal5Realistic measures the realistic ruleset with connection tracking:
// packets of 16,384 established connections, and first packets to the last
// service.
func TestGoal5Realistic(t *testing.T) {
	timed(t)
	w := newEngine(t, realistic(), engine.Options{Local: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}).Worker()
	const flows = 16384
	there, back, established := connections(flows)
	outs := make([]engine.Outcome, flows)
	w.EvaluateBatch(there, outs)
	w.EvaluateBatch(back, outs)
	w.EvaluateBatch(established, outs)
	accepted := 0
	for i := range outs {
		if outs[i].Fate == engine.Accepted {
			accepted++
		}
	}
	if accepted != flows {
		t.Fatalf("only %d of %d packets of established connections are accepted", accepted, flows)
	}
	at := 0
	c := costs(batch, func() {
		w.EvaluateBatch(established[at:at+batch], outs)
		at = (at + batch) % flows
	})
	goal(t, 1e3/c[0] >= 15, "realistic ruleset, established connections, decoding and tracking included, one core", fmt.Sprintf("%.1f ns = %s", c[0], perSecond(c[0])), "at least 15 M packets/s")

	// First packets of ever new connections: when their turn comes again the
	// old ones are long over.
	const sources = 1 << 18
	first := make([]engine.Input, sources)
	for i := range first {
		h := workload.Header{Src: 101<<24 | uint32(i>>8), Dst: 192<<24 | 2<<8 | 1, SrcPort: uint16(1024 + i&255), DstPort: 8080, Proto: 6}
		first[i] = tcpInput(&h, 0x02)
	}
	at = 0
	now := int64(1e15)
	next := func() {
		for i := range batch {
			now += 2e6
			first[at+i].Time = now
		}
		w.EvaluateBatch(first[at:at+batch], outs)
		at = (at + batch) % sources
	}
	for range sources / batch { // until the table has its size
		next()
	}
	c = costs(batch, next)
	if outs[0].Fate != engine.Accepted {
		t.Fatalf("a first packet is not accepted: %+v", outs[0])
	}
	goal(t, 1e3/c[0] >= 8, "realistic ruleset, first packets to the last service, new connection included, one core", fmt.Sprintf("%.1f ns = %s", c[0], perSecond(c[0])), "at least 8 M packets/s")
}

// connections are packets of connections from as many hosts to one of a server:
// the first ones, their answers, and those that follow.
func connections(flows int) (there, back, established []engine.Input) {
	for i := range flows {
		h := workload.Header{Src: 100<<24 | 64<<16 | uint32(i), Dst: 192<<24 | 2<<8 | 1, SrcPort: uint16(1024 + i), DstPort: 443, Proto: 6}
		there = append(there, tcpInput(&h, 0x02))
		r := workload.Header{Src: h.Dst, Dst: h.Src, SrcPort: h.DstPort, DstPort: h.SrcPort, Proto: 6}
		answer := tcpInput(&r, 0x12)
		answer.In, answer.Out, answer.Direction = "", "eth0", capture.Outbound
		back = append(back, answer)
		established = append(established, tcpInput(&h, 0x10))
	}
	return there, back, established
}

// newEngine makes an engine of a text.
func newEngine(t *testing.T, text string, o engine.Options) *engine.Engine {
	t.Helper()
	loaded, err := verdict.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(loaded.Rules(), loaded.Host(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// tcpInput is a TCP segment with flags.
func tcpInput(h *workload.Header, flags byte) engine.Input {
	data := workload.FrameFlags(h, flags)
	return engine.Input{Data: data, OrigLen: len(data), LinkType: 1, In: "eth0"}
}
