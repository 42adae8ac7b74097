package conntrack

import (
	"strings"
	"testing"
)

// converse sends TCP packets, written as in the conversations of testdata.
func (w *world) converse(packets ...string) {
	w.t.Helper()
	for _, p := range packets {
		frame, _, _ := tcpFrame(w.t, strings.Fields(p))
		w.send(frame)
	}
}

// TestOffload: when a flowtable takes a connection, and how it gives it back.
func TestOffload(t *testing.T) {
	w := newWorld(t, Config{})
	handshake := []string{"> S seq 1000", "< SA seq 5000 ack 1001", "> A seq 1001 ack 5001"}
	for i, p := range handshake {
		w.converse(p)
		if got := w.at.Conn.MayOffload(); got != (i == 2) {
			t.Errorf("after packet %d: may be offloaded %v", i, got)
		}
	}
	c := w.at.Conn
	w.table.Offload(c, w.now)
	if c.MayOffload() || w.seconds() != 86400 {
		t.Errorf("offloaded: %d s", w.seconds())
	}
	w.now += 3600 * second
	w.table.Onload(c, false, 30*second, w.now)
	if w.seconds() != 82800 || c.Status&StatusOffload != 0 {
		t.Errorf("given back: %d s", w.seconds())
	}
	w.converse("< PA seq 900000 ack 1001 len 10", "> A seq 1001 ack 900010")
	if w.state() != "established" || w.seconds() != 432000 {
		t.Errorf("windows were not learnt anew: %s, %d s", w.state(), w.seconds())
	}
	w.table.Offload(c, w.now)
	w.table.Onload(c, true, 0, w.now)
	if c.StateName() != "CLOSE" || w.seconds() != 10 {
		t.Errorf("closed in the flowtable: %s, %d s", c.StateName(), w.seconds())
	}
	if w.converse("> S seq 4000"); w.state() != "new" {
		t.Errorf("a SYN after it is %s", w.state())
	}
}

// TestOffloadUDP: a flow whose time in the flowtable ran out keeps what is left
// of its own. (It once became 0, 2024-03.)
func TestOffloadUDP(t *testing.T) {
	w := newWorld(t, Config{})
	w.track(w.frame("udp dport 53"))
	if w.at.Conn.MayOffload() {
		t.Error("an unconfirmed connection may be offloaded")
	}
	w.sendText("udp dport 53")
	w.sendText("udp dport 53")
	c := w.at.Conn
	if !c.MayOffload() {
		t.Fatal("may not be offloaded")
	}
	w.table.Offload(c, w.now)
	if w.table.Onload(c, false, 25*second, w.now); w.seconds() != 5 {
		t.Errorf("%d s, want 5", w.seconds())
	}
	w.table.Offload(c, w.now)
	if w.table.Onload(c, false, 60*second, w.now); w.seconds() != 0 {
		t.Errorf("%d s, want 0", w.seconds())
	}
}

// TestRelearn: after a time without tracking, windows are learnt anew.
func TestRelearn(t *testing.T) {
	w := newWorld(t, Config{})
	w.converse("> S seq 1000", "< SA seq 5000 ack 1001", "> A seq 1001 ack 5001")
	if w.converse("< PA seq 900000 ack 1001 len 10"); w.state() != "invalid" {
		t.Fatalf("before: %s", w.state())
	}
	w.table.Relearn()
	if w.converse("< PA seq 900000 ack 1001 len 10"); w.state() != "established" {
		t.Errorf("after: %s", w.state())
	}
}

// TestSetClosing: a reject with reset closes a confirmed connection.
func TestSetClosing(t *testing.T) {
	w := newWorld(t, Config{})
	w.converse("> S seq 1000", "< SA seq 5000 ack 1001", "> A seq 1001 ack 5001")
	if w.table.SetClosing(w.at.Conn, w.now); w.at.Conn.StateName() != "CLOSE" || w.seconds() != 10 {
		t.Errorf("%s, %d s", w.at.Conn.StateName(), w.seconds())
	}
	w.sendText("udp dport 53")
	if w.table.SetClosing(w.at.Conn, w.now); w.seconds() != 30 {
		t.Errorf("a UDP connection got %d s", w.seconds())
	}
}
