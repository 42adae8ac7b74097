package conntrack

import (
	"fmt"
	"strings"
	"testing"

	"verdict/packet"

	"pgregory.net/rapid"
)

// TestPortCollisions fills public ports and looks at what the next client gets.
func TestPortCollisions(t *testing.T) {
	snat := natRules{snat: to("203.0.113.1", "", 0, 0, 0)}
	client := func(n, port int) string {
		return fmt.Sprintf("ip saddr 10.0.0.%d ip daddr 198.51.100.7 tcp sport %d tcp dport 80 tcp flags syn", n, port)
	}
	tests := []struct {
		name      string
		port      int
		low, high uint16
	}{{"ordinary", 40000, 1024, 65535}, {"low", 80, 1, 511}, {"reserved", 700, 600, 1023}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{Seed: 1})
			seen := map[string]bool{}
			for n := 1; n <= 50; n++ {
				out, r := w.forward(snat, w.frame(client(n, tt.port)))
				if r != Accept {
					t.Fatalf("client %d: dropped", n)
				}
				var v packet.View
				v.Decode(packet.LinkRaw, out, len(out))
				src, _, _ := v.Ports()
				if n == 1 && int(src) != tt.port {
					t.Errorf("the first client's port became %d", src)
				}
				if src < tt.low || src > tt.high {
					t.Errorf("client %d: port %d is not in %d-%d", n, src, tt.low, tt.high)
				}
				if seen[ends(out)] {
					t.Errorf("client %d: %s used twice", n, ends(out))
				}
				seen[ends(out)] = true
			}
		})
	}
	t.Run("one fixed port", func(t *testing.T) {
		w := newWorld(t, Config{})
		fixed := natRules{snat: to("203.0.113.1", "", 5000, 5000, 0)}
		if _, r := w.forward(fixed, w.frame(client(1, 40000))); r != Accept {
			t.Fatal("first client dropped")
		}
		if _, r := w.forward(fixed, w.frame(client(2, 40000))); r != Drop {
			t.Error("second client: want the clash to drop it")
		}
	})
	t.Run("one client keeps its public port", func(t *testing.T) {
		w := newWorld(t, Config{Seed: 3})
		w.forward(snat, w.frame(client(1, 40000)))
		out, _ := w.forward(snat, w.frame(client(2, 40000)))
		first := ends(out)
		out, _ = w.forward(snat, w.frame("ip saddr 10.0.0.2 ip daddr 192.0.2.50 tcp sport 40000 tcp dport 80 tcp flags syn"))
		var a, b string
		fmt.Sscan(first, &a)
		fmt.Sscan(ends(out), &b)
		if a != b {
			t.Errorf("public sources %s and %s differ", a, b)
		}
	})
	t.Run("null binding changes a port that is taken", func(t *testing.T) {
		w := newWorld(t, Config{Seed: 5})
		w.forward(snat, w.frame(client(1, 40000)))
		out, r := w.forward(natRules{}, w.frame("ip saddr 203.0.113.1 ip daddr 198.51.100.7 tcp sport 40000 tcp dport 80 tcp flags syn"))
		if r != Accept || ends(out) == "203.0.113.1.40000 > 198.51.100.7.80" || w.at.Conn.Status&StatusSrcNAT == 0 {
			t.Errorf("got %s, status %#x", ends(out), w.at.Conn.Status)
		}
	})
	t.Run("random", func(t *testing.T) {
		w := newWorld(t, Config{Seed: 5})
		out, _ := w.forward(natRules{snat: to("203.0.113.1", "", 2000, 2999, NATFullyRandom)}, w.frame(client(1, 40000)))
		var v packet.View
		v.Decode(packet.LinkRaw, out, len(out))
		if src, _, _ := v.Ports(); src < 2000 || src > 2999 {
			t.Errorf("port %d is not in the range", src)
		}
	})
}

// TestCollisionWithTranslatedDestination: an existing connection a:p to b:P that
// goes to s:P makes a new one from a:p to s:P take another source port.
// (A mistake of the kernel until 2025-06.)
func TestCollisionWithTranslatedDestination(t *testing.T) {
	w := newWorld(t, Config{Seed: 2})
	w.forward(natRules{dnat: to("10.0.0.9", "", 0, 0, 0)}, w.frame(syn))
	out, r := w.forward(natRules{}, w.frame("ip saddr 10.0.0.1 ip daddr 10.0.0.9 tcp sport 40000 tcp dport 80 tcp flags syn"))
	if r != Accept || ends(out) == "10.0.0.1.40000 > 10.0.0.9.80" {
		t.Errorf("got %s (%d), want another source port", ends(out), r)
	}
}

// TestDestinationPortsFromTheBottom: without random, destination ports are
// tried from the bottom of the range. (A mistake of the kernel until 2024-02.)
func TestDestinationPortsFromTheBottom(t *testing.T) {
	w := newWorld(t, Config{})
	rules := natRules{dnat: to("10.0.0.9", "", 1000, 1009, 0)}
	for i := range 3 {
		out, r := w.forward(rules, w.frame(fmt.Sprintf("ip saddr 10.0.0.1 ip daddr 198.51.100.%d tcp sport 40000 tcp dport 80 tcp flags syn", i+1)))
		if want := fmt.Sprintf("10.0.0.1.40000 > 10.0.0.9.%d", 1000+i); r != Accept || ends(out) != want {
			t.Errorf("got %s, want %s", ends(out), want)
		}
	}
}

// TestTimeWaitMakesRoom: a connection that is over gives its public port to a
// new one with higher sequence numbers.
func TestTimeWaitMakesRoom(t *testing.T) {
	w := newWorld(t, Config{})
	rules := natRules{snat: to("203.0.113.1", "", 5000, 5001, 0)}
	client := func(n, seq int) string {
		return fmt.Sprintf("ip saddr 10.0.0.%d ip daddr 198.51.100.7 tcp sport 40000 tcp dport 80 tcp flags syn tcp sequence %d", n, seq)
	}
	w.forward(rules, w.frame(client(1, 100)))
	w.at.Conn.proto.tcp.state = tcpTimeWait
	w.forward(rules, w.frame(client(2, 100)))
	w.at.Conn.proto.tcp.state = tcpTimeWait
	if _, r := w.forward(rules, w.frame(client(3, 50))); r != Drop {
		t.Error("lower sequence numbers: want no port to be free")
	}
	if _, r := w.forward(rules, w.frame(client(3, 500))); r != Accept {
		t.Error("higher sequence numbers: want a port to be taken over")
	}
	if w.table.Len() != 2 {
		t.Errorf("%d connections, want 2", w.table.Len())
	}
}

// TestDirectionalZoneCollision: flows of several zones for the original
// direction share the answers' zone, so that the second needs another port.
// (Skipped by the kernel's check until 2021-02.)
func TestDirectionalZoneCollision(t *testing.T) {
	w := newWorld(t, Config{Seed: 9})
	sources := map[string]bool{}
	for zone := uint16(1); zone <= 5; zone++ {
		w.zone = Zone{ID: zone, Directions: 1}
		out, r := w.forward(natRules{snat: to("203.0.113.1", "", 0, 0, 0)}, w.frame(syn))
		if r != Accept || sources[ends(out)] {
			t.Errorf("zone %d: %s, result %d", zone, ends(out), r)
		}
		sources[ends(out)] = true
	}
}

// TestTwins: a flow that both ends begin at once needs no other port. (The
// kernel changed it needlessly until 2025-12.)
func TestTwins(t *testing.T) {
	w := newWorld(t, Config{})
	out, back := "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 500 udp dport 500", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 500 udp dport 500"
	w.track(w.frame(back))
	queued, early := w.packet, w.at.Clone()
	queued.Attachment = &early
	w.forward(natRules{}, w.frame(out))
	for _, m := range []Manip{DestinationManip, SourceManip} {
		w.table.SetupNAT(&queued, m, nil)
	}
	if early.Conn.Status&statusNATMask != 0 {
		t.Errorf("status %#x: a port was changed", early.Conn.Status)
	}
	if w.table.Confirm(&queued) != Accept || early.Conn != w.at.Conn {
		t.Error("the two did not become one")
	}
	early.Reset()
}

// TestTranslationsAreUnique: many random clients share few public ports. Flows
// that are accepted have distinct public ends, and answers find their client.
func TestTranslationsAreUnique(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, Config{Seed: rapid.Uint64().Draw(rt, "seed")})
		low := rapid.Uint16Range(1, 60000).Draw(rt, "port")
		flags := rapid.SampledFrom([]uint32{0, NATRandom, NATPersistent}).Draw(rt, "flags")
		rules := natRules{snat: to("203.0.113.1", "203.0.113.2", low, low+rapid.Uint16Range(0, 40).Draw(rt, "size"), flags)}
		protocol := rapid.SampledFrom([]string{"udp", "tcp"}).Draw(rt, "protocol")
		clients := map[string]string{}
		for range rapid.IntRange(1, 60).Draw(rt, "flows") {
			client := fmt.Sprintf("10.0.0.%d.%d", rapid.IntRange(1, 9).Draw(rt, "host"), rapid.IntRange(1000, 1009).Draw(rt, "source"))
			server := fmt.Sprintf("198.51.100.%d.80", rapid.IntRange(1, 3).Draw(rt, "server"))
			out, r := w.forward(rules, w.frame(flowText(protocol, client, server, " tcp flags syn")))
			if r != Accept {
				continue
			}
			if old, ok := clients[ends(out)]; ok && old != client {
				rt.Fatalf("%s is %s and %s", ends(out), old, client)
			}
			clients[ends(out)] = client
		}
		for public, client := range clients {
			from, server, _ := strings.Cut(public, " > ")
			back, r := w.forward(natRules{}, w.frame(flowText(protocol, server, from, " tcp flags syn,ack tcp ackseq 2")))
			if want := server + " > " + client; r != Accept || ends(back) != want {
				rt.Fatalf("answer to %s goes %s, want %s", public, ends(back), want)
			}
		}
	})
}

// flowText makes a packet between ends written as address.port.
func flowText(protocol, from, to, tcp string) string {
	split := func(end string) (string, string) {
		i := strings.LastIndexByte(end, '.')
		return end[:i], end[i+1:]
	}
	src, sport := split(from)
	dst, dport := split(to)
	text := fmt.Sprintf("ip saddr %s ip daddr %s %s sport %s %s dport %s", src, dst, protocol, sport, protocol, dport)
	if protocol == "tcp" {
		text += tcp
	}
	return text
}
