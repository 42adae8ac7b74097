package goals

import (
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"verdict"
	"verdict/engine"
	"verdict/packet/build"
	"verdict/trace"
)

// server is what a server is behind: states first, then the services.
const server = `
table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		ct state vmap { established : accept, related : accept, invalid : drop }
		iifname "lo" accept
		tcp dport { 22, 80, 443 } accept
		udp dport 53 accept
	}
	chain output {
		type filter hook output priority filter; policy accept;
	}
}`

// lane is a worker with packets that it runs over and over.
type lane struct {
	worker *engine.Worker
	inputs []engine.Input
	out    engine.Outcome
	next   int
	times  []float64
}

// newLane makes a worker of its own; the packets are for the host itself.
func newLane(t *testing.T, rules string, texts []string) *lane {
	t.Helper()
	loaded, err := verdict.Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	l := &lane{}
	for _, text := range texts {
		p, err := build.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		in := verdict.PacketInput(p)
		in.Time, in.Facts = 1e18, nil // as of a capture
		l.inputs = append(l.inputs, in)
	}
	e, err := loaded.NewEngine(verdict.EngineOptions{Local: []netip.Addr{netip.MustParseAddr("10.0.0.2")}})
	if err != nil {
		t.Fatal(err)
	}
	l.worker = e.Worker()
	return l
}

// run takes n packets.
func (l *lane) run(n int) {
	for range n {
		l.worker.Evaluate(&l.inputs[l.next], &l.out)
		if l.next++; l.next == len(l.inputs) {
			l.next = 0
		}
	}
}

// race runs lanes by turns and gives each one's time for a packet in
// nanoseconds: the tenth percentile, which a busy machine disturbs least.
func race(lanes ...*lane) (ns []float64) {
	const rounds, packets = 200, 5000
	for range rounds {
		for _, l := range lanes {
			began := time.Now()
			l.run(packets)
			l.times = append(l.times, float64(time.Since(began).Nanoseconds())/packets)
		}
	}
	for _, l := range lanes {
		slices.Sort(l.times)
		ns = append(ns, l.times[len(l.times)/10])
	}
	return ns
}

// ignored is a sink that forgets all.
type ignored struct{}

// Event forgets an event.
func (ignored) Event(*trace.Event) {}

// TestGoal4TracerOff compares workers that never traced with ones that did and
// stopped.
func TestGoal4TracerOff(t *testing.T) {
	timed(t)
	rules, err := os.ReadFile(filepath.Join(root(), "engine", "testdata", "stateless40.nft"))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"iifname eth0 ip saddr 100.64.0.1 ip daddr 10.0.0.2 tcp dport 443 tcp flags ack", "iifname eth0 ip saddr 100.64.0.4 ip daddr 10.0.0.2 udp dport 53",
		"iifname eth0 ip saddr 10.1.2.3 ip daddr 10.0.0.2 tcp dport 5432 tcp flags ack", "iifname eth0 ip saddr 100.64.0.3 ip daddr 10.0.0.2 tcp dport 80 tcp flags syn",
	}
	best := math.Inf(1)
	var never, after float64
	for range 3 { // the layout of one worker in memory may be the luckier one
		a, b := newLane(t, string(rules), texts), newLane(t, string(rules), texts)
		b.worker.Trace(ignored{})
		b.run(100)
		b.worker.Trace(nil)
		a.run(100)
		times := race(a, b)
		if ratio := times[1] / times[0]; ratio < best {
			best, never, after = ratio, times[0], times[1]
		}
	}
	goal(t, best <= 1.03, "a stateless ruleset of 40 rules with the tracer off again, against never on", fmt.Sprintf("%.1f ns to %.1f ns a packet, %+.1f %%", after, never, 100*(best-1)), "at most +3 %")
}

// TestGoal4Established runs both directions of established connections through
// a stateful ruleset.
func TestGoal4Established(t *testing.T) {
	timed(t)
	var texts []string
	for n := range 16 {
		there := fmt.Sprintf("ip saddr 100.64.0.%d ip daddr 10.0.0.2 tcp sport %d tcp dport 443", n+1, 40000+n)
		back := fmt.Sprintf("ip saddr 10.0.0.2 ip daddr 100.64.0.%d tcp sport 443 tcp dport %d", n+1, 40000+n)
		texts = append(texts,
			"iifname eth0 "+there+" tcp flags syn tcp sequence 1000",
			"oifname eth0 "+back+" tcp flags syn,ack tcp sequence 5000 tcp ackseq 1001",
			"iifname eth0 "+there+" tcp flags ack tcp sequence 1001 tcp ackseq 5001",
			"oifname eth0 "+back+" tcp flags ack tcp sequence 5001 tcp ackseq 1001")
	}
	l := newLane(t, server, texts)
	for i := range l.inputs {
		l.next = i
		l.run(1)
		if l.out.Fate != engine.Accepted {
			t.Fatalf("%s: %s", texts[i], l.out.Fate)
		}
	}
	var established []engine.Input
	for i := range l.inputs {
		if i%4 >= 2 {
			established = append(established, l.inputs[i])
		}
	}
	l.inputs, l.next = established, 0
	l.run(len(established))
	allocations := testing.AllocsPerRun(2000, func() { l.run(1) })
	ns := race(l)[0]
	if l.worker.Attachment().State() != 2 {
		t.Fatalf("the packets are no longer of an established connection: state %d", l.worker.Attachment().State())
	}
	goal(t, ns <= 200 && allocations == 0, "established packets through a stateful ruleset on one core", fmt.Sprintf("%.2f M packets/s, %g allocations", 1e3/ns, allocations), "at least 5 M, none")
}
