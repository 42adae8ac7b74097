package conntrack

import (
	"strings"
	"testing"
)

// TestBefore71: what Linux did otherwise before 7.1.
func TestBefore71(t *testing.T) {
	const lite = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 udplite sport 1 udplite dport 2 payload \"abc\""
	tests := []struct {
		name     string
		frame    func(w *world) []byte
		out      bool // through the output hook
		old, now string
	}{
		{"UDP-Lite, where checksums are verified", func(w *world) []byte { return w.frame(lite) }, false, "invalid", "new"},
		{"UDP-Lite of the host", func(w *world) []byte { return w.frame(lite) }, true, "new", "new"},
		{"UDP-Lite of which too little is covered", func(w *world) []byte { return w.frame(lite + " udplite csumcov 7") }, true, "invalid", "new"},
		{"UDP-Lite without checksum", func(w *world) []byte { return w.frame(lite + " udplite checksum 0") }, true, "invalid", "new"},
		{"thirteen extension headers", func(w *world) []byte {
			return ipv6(w.t, 60, strings.Repeat("3c00000000000000", 12)+"1100000000000000"+"0001003500080000")
		}, true, "new", "invalid"},
	}
	for _, tt := range tests {
		for _, before := range []bool{true, false} {
			want := tt.now
			if before {
				want = tt.old
			}
			w := newWorld(t, Config{Before71: before})
			frame := tt.frame(w)
			p := w.take(frame, len(frame))
			p.Prerouting = !tt.out
			if w.table.Track(p); w.state() != want {
				t.Errorf("%s, before 7.1 %v: got %s, want %s", tt.name, before, w.state(), want)
			}
			if c := w.at.Conn; c != nil && c.Protocol() == 136 && (c.Tuples[Original].DstPort == 2) != before {
				t.Errorf("%s, before 7.1 %v: port %d", tt.name, before, c.Tuples[Original].DstPort)
			}
		}
	}
}

// TestBefore71Reset: a RST with wrong numbers from the host that sent the SYN
// closed the connection.
func TestBefore71Reset(t *testing.T) {
	for _, before := range []bool{true, false} {
		w := newWorld(t, Config{Before71: before})
		w.converse("> S seq 1000", "< SA seq 5000 ack 1001", "> A seq 1001 ack 5001", "< A seq 5001 ack 1001", "> S seq 70000")
		w.converse("> RA seq 3000000000 ack 70001")
		if closed := w.at.Conn != nil && w.at.Conn.StateName() == "CLOSE"; closed != before {
			t.Errorf("before 7.1 %v: closed %v", before, closed)
		}
	}
}

// TestBefore71Translation: UDP-Lite was translated by ports, checksum included.
func TestBefore71Translation(t *testing.T) {
	w := newWorld(t, Config{Before71: true, NoChecksum: true})
	out, r := w.forward(natRules{snat: to("203.0.113.1", "", 5000, 5000, 0)}, w.frame("ip saddr 10.0.0.1 ip daddr 198.51.100.7 udplite sport 1 udplite dport 2 payload \"abc\""))
	if r != Accept || ends(out) != "203.0.113.1.5000 > 198.51.100.7.2" {
		t.Errorf("got %s", ends(out))
	}
	w.forward(natRules{}, w.frame("ip saddr 198.51.100.7 ip daddr 203.0.113.1 udplite sport 2 udplite dport 5000"))
	if w.state() != "established" || w.seconds() != 30 {
		t.Errorf("answer is %s, %d s", w.state(), w.seconds())
	}
	w.forward(natRules{}, w.frame("ip saddr 10.0.0.1 ip daddr 198.51.100.7 udplite sport 1 udplite dport 2"))
	if w.seconds() != 120 || w.at.Conn.Status&StatusAssured == 0 {
		t.Errorf("%d s, status %#x", w.seconds(), w.at.Conn.Status)
	}
	if text := string(w.at.Conn.AppendText(nil)); text != "ipv4 2 udplite 136 src=10.0.0.1 dst=198.51.100.7 sport=1 dport=2 src=198.51.100.7 dst=203.0.113.1 sport=2 dport=5000 [ASSURED] mark=0 zone=0" {
		t.Errorf("listed as %s", text)
	}
}
