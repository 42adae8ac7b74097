package conntrack

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestUDP: replies, streams, and when a flow becomes assured.
func TestUDP(t *testing.T) {
	const out, back = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1000 udp dport 53", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 53 udp dport 1000"
	steps := []struct {
		wait    float64
		text    string
		state   string
		flags   string
		seconds int64
	}{
		{0, out, "new", "", 30},
		{1, out, "new", "", 30},
		{0.5, back, "established", "seen-reply", 30},
		{0.5, back, "established", "seen-reply", 30}, // exactly at the stream's start
		{0.1, out, "established", "seen-reply assured", 120},
		{119, back, "established", "seen-reply assured", 120},
		{120, back, "new", "", 30}, // expired; the answer opens a new one
	}
	w := newWorld(t, Config{})
	for i, s := range steps {
		w.now += int64(s.wait * float64(second))
		w.sendText(s.text)
		if w.state() != s.state || w.flags() != s.flags || w.seconds() != s.seconds {
			t.Fatalf("step %d: got %s [%s] %d s; want %s [%s] %d s", i, w.state(), w.flags(), w.seconds(), s.state, s.flags, s.seconds)
		}
	}
}

// TestGRE: keys of PPTP, and the longer life once answered.
func TestGRE(t *testing.T) {
	w := newWorld(t, Config{})
	steps := []struct{ text, state, flags string }{
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip protocol 47 payload 0x0000080011223344", "new", ""},
		{"ip saddr 10.0.0.2 ip daddr 10.0.0.1 ip protocol 47 payload 0x0000080011223344", "established", "seen-reply"},
		{"ip saddr 10.0.0.2 ip daddr 10.0.0.1 ip protocol 47 payload 0x0000080011223344", "established", "seen-reply assured"},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip protocol 47 payload 0x3001880b00040007", "new", ""},
		{"ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip protocol 47 payload 0x3001880b00040008", "new", ""},
	}
	for i, s := range steps {
		if w.sendText(s.text); w.state() != s.state || w.flags() != s.flags {
			t.Fatalf("step %d: got %s [%s]; want %s [%s]", i, w.state(), w.flags(), s.state, s.flags)
		}
	}
	w.at.Reset()
	if w.table.Len() != 3 {
		t.Errorf("%d connections, want 3: one for the pair, two for calls", w.table.Len())
	}
}

// TestICMPQueries: one flow for each id, the code counting, never assured.
func TestICMPQueries(t *testing.T) {
	const ask, answer = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 icmp type echo-request icmp id 5 icmp sequence ", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type echo-reply icmp id 5 icmp sequence "
	steps := []struct{ text, state, direction string }{
		{ask + "1", "new", "original"},
		{ask + "2", "new", "original"},
		{answer + "1", "established", "reply"},
		{answer + "1", "established", "reply"},
		{ask + "3", "established", "original"},
		{answer + "3 icmp code 1", "invalid", "original"},
		{"ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type echo-reply icmp id 6", "invalid", "original"},
		{"ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type echo-request icmp id 5", "new", "original"},
	}
	w := newWorld(t, Config{})
	for i, s := range steps {
		w.now += 10 * second
		if w.sendText(s.text); w.state() != s.state || w.direction() != s.direction {
			t.Fatalf("step %d: got %s %s; want %s %s", i, w.state(), w.direction(), s.state, s.direction)
		}
		if c := w.at.Conn; c != nil && (w.seconds() != 30 || c.Status&StatusAssured != 0) {
			t.Errorf("step %d: %d s, status %#x", i, w.seconds(), c.Status)
		}
	}
}

// TestICMPErrors: related in the direction that the error travels, invalid for
// what is not known or not the receiver's business.
func TestICMPErrors(t *testing.T) {
	const flow4, flow6 = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1000 udp dport 53", "ip6 saddr fd00::1 ip6 daddr fd00::2 udp sport 1000 udp dport 53"
	const quoted6 = "inner " + flow6
	tests := []struct{ name, text, state, direction string }{
		{"unreachable", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type destination-unreachable icmp code 3 inner " + flow4, "related", "reply"},
		{"from a router", "ip saddr 172.16.0.1 ip daddr 10.0.0.1 icmp type time-exceeded inner " + flow4, "related", "reply"},
		{"redirect", "ip saddr 172.16.0.1 ip daddr 10.0.0.1 icmp type redirect inner " + flow4, "related", "reply"},
		{"source quench", "ip saddr 172.16.0.1 ip daddr 10.0.0.1 icmp type source-quench inner " + flow4, "related", "reply"},
		{"parameter problem", "ip saddr 172.16.0.1 ip daddr 10.0.0.1 icmp type parameter-problem inner " + flow4, "related", "reply"},
		{"about an answer", "ip saddr 172.16.0.1 ip daddr 10.0.0.2 icmp type time-exceeded inner ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 53 udp dport 1000", "related", "original"},
		{"unknown flow", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type destination-unreachable inner ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1001 udp dport 53", "invalid", "original"},
		{"to a third host", "ip saddr 10.0.0.2 ip daddr 10.0.0.9 icmp type destination-unreachable inner " + flow4, "invalid", "original"},
		{"quoted fragment", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type destination-unreachable inner ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip frag-off 1 ip protocol udp payload 0x03e8003500080000", "invalid", "original"},
		{"quoted error", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type destination-unreachable inner ip saddr 10.0.0.1 ip daddr 10.0.0.2 icmp type time-exceeded", "invalid", "original"},
		{"too short", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 icmp type destination-unreachable payload 0x4500", "invalid", "original"},
		{"IPv6", "ip6 saddr fd00::2 ip6 daddr fd00::1 icmpv6 type destination-unreachable icmpv6 code 4 " + quoted6, "related", "reply"},
		{"IPv6 too big", "ip6 saddr fd00::99 ip6 daddr fd00::1 icmpv6 type packet-too-big " + quoted6, "related", "reply"},
		{"IPv6 unknown error type", "ip6 saddr fd00::99 ip6 daddr fd00::1 icmpv6 type 100 " + quoted6, "related", "reply"},
		{"IPv6 unknown flow", "ip6 saddr fd00::99 ip6 daddr fd00::1 icmpv6 type time-exceeded inner ip6 saddr fd00::1 ip6 daddr fd00::2 udp sport 9 udp dport 53", "invalid", "original"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{Accounting: true})
			w.sendText(flow4)
			w.sendText(flow6)
			w.now += 5 * second
			if w.sendText(tt.text); w.state() != tt.state || w.direction() != tt.direction {
				t.Fatalf("got %s %s, want %s %s", w.state(), w.direction(), tt.state, tt.direction)
			}
			if c := w.at.Conn; c != nil && (w.seconds() != 25 || c.Packets != [2]uint64{1, 0} || w.flags() != "") {
				t.Errorf("the error changed the connection: %d s, packets %v, %s", w.seconds(), c.Packets, w.flags())
			}
		})
	}
}

// TestICMPv6Redirect: related by the packet that it quotes. (Invalid in kernels
// until 2022-11.)
func TestICMPv6Redirect(t *testing.T) {
	const flow = "ip6 saddr fd00::1 ip6 daddr fd00::2 udp sport 1000 udp dport 53"
	w := newWorld(t, Config{NoChecksum: true})
	quoted := w.frame(flow)
	redirect := func(option byte, code byte, hops byte, src byte) []byte {
		body := make([]byte, 48)
		body[0], body[1] = 137, code
		body[40], body[41] = option, byte(1+len(quoted)/8)
		frame := ipv6(t, 58, fmt.Sprintf("%x%x", body, quoted))
		frame[7] = hops
		copy(frame[8:24], []byte{src, 0x80, 15: 9})
		copy(frame[24:40], []byte{0xfd, 15: 1})
		return frame
	}
	tests := []struct {
		name  string
		frame []byte
		state string
	}{
		{"good", redirect(4, 0, 255, 0xfe), "related"},
		{"other option", redirect(2, 0, 255, 0xfe), "invalid"},
		{"code", redirect(4, 1, 255, 0xfe), "invalid"},
		{"hop limit", redirect(4, 0, 64, 0xfe), "invalid"},
		{"source", redirect(4, 0, 255, 0xfd), "invalid"},
	}
	w.send(quoted)
	for _, tt := range tests {
		if w.send(tt.frame); w.state() != tt.state {
			t.Errorf("%s: got %s, want %s", tt.name, w.state(), tt.state)
		}
	}
}

// TestZones: one tuple, several connections.
func TestZones(t *testing.T) {
	const out, back = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1000 udp dport 53", "ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 53 udp dport 1000"
	both, original, reply := Zone{ID: 5}, Zone{ID: 5, Directions: 1}, Zone{ID: 5, Directions: 2}
	tests := []struct {
		name        string
		first, then Zone
		text, state string
	}{
		{"same zone", both, both, back, "established"},
		{"answer without zone", both, Zone{}, back, "new"},
		{"other zone", both, Zone{ID: 6}, out, "new"},
		{"original only: answers need none", original, Zone{}, back, "established"},
		{"original only: original needs it", original, Zone{}, out, "new"},
		{"reply only: original needs none", reply, Zone{}, out, "new"},
		{"reply only: answers need it", reply, reply, back, "established"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{})
			w.zone = tt.first
			w.sendText(out)
			first := w.at.Conn
			w.zone = tt.then
			w.sendText(tt.text)
			same := tt.state == "established" || tt.name == "reply only: original needs none"
			if w.state() != tt.state || (w.at.Conn == first) != same {
				t.Errorf("got %s, want %s", w.state(), tt.state)
			}
		})
	}
}

// TestTemplates: what a packet is before and after tracking when a rule set its
// zone, or marked it.
func TestTemplates(t *testing.T) {
	w := newWorld(t, Config{})
	frame := w.frame("udp dport 53")
	w.zone = Zone{ID: 1}
	w.take(frame, len(frame))
	if w.state() != "new" {
		t.Errorf("a packet with a template is %s, want new", w.state())
	}
	w.at.Untrack()
	if w.at.Info == InfoUntracked {
		t.Error("notrack acted on a packet with a template")
	}
	bad := w.frame("udp dport 53 udp length 7")
	if w.send(bad); w.state() != "invalid" {
		t.Errorf("an invalid packet that had a template is %s", w.state())
	}
	w.zone = Zone{}
	w.take(frame, len(frame))
	w.at.Untrack()
	if w.table.Track(&w.packet); w.state() != "untracked" || w.table.Len() != 0 {
		t.Errorf("notrack: %s, %d connections", w.state(), w.table.Len())
	}
}

// TestUnconfirmed: a connection whose packet does not get through is forgotten,
// and the next packet is new again.
func TestUnconfirmed(t *testing.T) {
	w := newWorld(t, Config{})
	frame := w.frame("udp dport 53")
	for range 3 {
		if w.track(frame); w.state() != "new" || w.table.Len() != 1 || w.at.Conn.Remaining(w.now) != 0 {
			t.Fatalf("%s, %d connections", w.state(), w.table.Len())
		}
	}
	if w.at.Reset(); w.table.Len() != 0 || w.table.slabs.used != 1 {
		t.Errorf("%d connections, %d places used", w.table.Len(), w.table.slabs.used)
	}
}

// TestAnswerAttachment: the host's own answer is related, in the other
// direction, holds the connection, and does not confirm it.
func TestAnswerAttachment(t *testing.T) {
	w := newWorld(t, Config{})
	w.track(w.frame("udp dport 53"))
	answer := w.at.Answer()
	p := w.packet
	p.Attachment = &answer
	if stateName(&answer) != "related" || answer.Info.Direction() != Reply {
		t.Errorf("answer is %s", stateName(&answer))
	}
	if w.table.Confirm(&p) != Accept || answer.Conn.Confirmed() {
		t.Error("the answer confirmed the connection")
	}
	w.at.Reset()
	if w.table.Len() != 1 {
		t.Error("the connection ended while the answer holds it")
	}
	if answer.Reset(); w.table.Len() != 0 {
		t.Error("the connection did not end")
	}
}

// TestTableLimit: a full table drops what is not assured, else the packet.
func TestTableLimit(t *testing.T) {
	text := func(n int) string { return fmt.Sprintf("ip saddr 10.0.0.%d udp dport 53", n) }
	w := newWorld(t, Config{Max: 20})
	for n := 1; n <= 20; n++ {
		w.sendText(text(n))
		w.at.Conn.Status |= StatusAssured
	}
	if w.sendText(text(21)) != Drop || w.table.Len() != 20 {
		t.Fatalf("all assured: want a drop; %d connections", w.table.Len())
	}
	for c := range w.table.All(w.now) {
		c.Status &^= StatusAssured
	}
	accepted := 0
	for n := 21; n <= 60; n++ {
		if w.sendText(text(n)) == Accept {
			accepted++
		}
		if w.table.Len() > 20 {
			t.Fatalf("%d connections", w.table.Len())
		}
	}
	if accepted == 0 || w.table.Stats().EarlyDrop == 0 {
		t.Error("none made room")
	}
	w.now += 31 * second
	if w.sendText(text(99)) != Accept || w.table.Len() != 1 {
		t.Errorf("all expired: %d connections", w.table.Len())
	}
}

// TestSweep: expired connections leave as new ones come.
func TestSweep(t *testing.T) {
	w := newWorld(t, Config{})
	for n := range 5000 {
		w.now += second
		if w.send(flowFrame(uint32(n))) != Accept {
			t.Fatal("dropped")
		}
	}
	if w.table.Len() > 100 {
		t.Errorf("%d connections are left of 30 that live", w.table.Len())
	}
	w.table.Sweep(w.now)
	if w.table.Len() != 30 {
		t.Errorf("%d connections live, want 30", w.table.Len())
	}
}

// TestClash: two first packets of one flow, the second tracked before the first
// was confirmed.
func TestClash(t *testing.T) {
	const out = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1000 udp dport 53"
	const back = "ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 53 udp dport 1000"
	tcp := strings.NewReplacer("udp", "tcp").Replace(out) + " tcp flags syn"
	proto4 := "ip saddr 10.0.0.1 ip daddr 10.0.0.2 ip protocol 4 payload 0x45"
	tests := []struct {
		name, first, second string
		result              Result
	}{
		{"udp", out, out, Accept},
		{"udp, both ends first (2024-09)", out, back, Accept},
		{"generic (2025-12)", proto4, proto4, Accept},
		{"tcp", tcp, tcp, Drop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{})
			w.track(w.frame(tt.first))
			queued, early := w.packet, w.at.Clone()
			queued.Attachment = &early
			w.sendText(tt.second)
			winner := w.at.Conn
			if got := w.table.Confirm(&queued); got != tt.result {
				t.Fatalf("result %d, want %d", got, tt.result)
			}
			if tt.result == Accept && early.Conn != winner {
				t.Error("the packet did not get the connection that was first")
			}
			early.Reset()
			w.at.Reset()
			if w.table.Len() != 1 {
				t.Errorf("%d connections, want 1", w.table.Len())
			}
		})
	}
}

// TestTimeoutPolicy: a connection's own timeouts replace the table's.
func TestTimeoutPolicy(t *testing.T) {
	w := newWorld(t, Config{})
	policy, err := w.table.NewTimeoutPolicy(17, map[string]time.Duration{"unreplied": 7e9})
	if err != nil {
		t.Fatal(err)
	}
	w.track(w.frame("udp dport 53"))
	if !w.table.SetTimeoutPolicy(w.at.Conn, policy) {
		t.Fatal("not set")
	}
	if w.table.Confirm(&w.packet); w.seconds() != 7 {
		t.Errorf("%d s, want 7", w.seconds())
	}
	w.now += 3 * second
	if w.sendText("udp dport 53"); w.seconds() != 7 {
		t.Errorf("%d s after refresh, want 7", w.seconds())
	}
	if w.table.SetTimeoutPolicy(w.at.Conn, policy) {
		t.Error("set on a confirmed connection")
	}
	policy.Delete(w.table)
	if w.sendText("udp dport 53"); w.seconds() != 30 {
		t.Errorf("%d s after the policy's end, want 30", w.seconds())
	}
	if _, err := w.table.NewTimeoutPolicy(17, map[string]time.Duration{"syn_sent": 1}); err == nil || err.Error() != `protocol 17 has no timeout "syn_sent"` {
		t.Errorf("error %v", err)
	}
}

// TestAccounting counts from the IP header on, in both directions.
func TestAccounting(t *testing.T) {
	w := newWorld(t, Config{Accounting: true})
	w.sendText("ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp sport 1 udp dport 2 payload length 72")
	w.sendText("ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 2 udp dport 1")
	if c := w.at.Conn; c.Packets != [2]uint64{1, 1} || c.Bytes != [2]uint64{100, 28} {
		t.Errorf("packets %v, bytes %v", c.Packets, c.Bytes)
	}
	w = newWorld(t, Config{})
	if w.sendText("udp dport 53"); w.at.Conn.Packets[0] != 0 {
		t.Error("counted without being asked")
	}
}

// TestHostFragments: fragments that the host itself sends are not tracked.
func TestHostFragments(t *testing.T) {
	w := newWorld(t, Config{})
	frame := w.frame("ip frag-off 0x2000 udp dport 53 payload length 16")
	p := w.take(frame, len(frame))
	p.Prerouting = false
	if w.table.Track(p); w.state() != "invalid" {
		t.Errorf("got %s", w.state())
	}
}
