package conntrack

import (
	"fmt"
	"testing"
)

// TestConnList: what counts, once, and until when. Closed TCP connections, ended
// ones, and those whose first packet was dropped count no more.
func TestConnList(t *testing.T) {
	w := newWorld(t, Config{})
	var l ConnList
	visit := func(text string, confirm bool) int {
		w.now += second
		w.track(w.frame(text))
		n, r := l.Visit(w.table, &w.packet)
		if r != Accept {
			t.Fatalf("%s: dropped", text)
		}
		if confirm {
			w.table.Confirm(&w.packet)
		}
		return n
	}
	client := func(n int) string {
		return fmt.Sprintf("ip saddr 10.0.0.%d ip daddr 10.0.0.99 tcp sport 1000 tcp dport 80 tcp flags syn", n)
	}
	steps := []struct {
		text    string
		confirm bool
		want    int
	}{
		{client(1), true, 1},
		{client(1), true, 1}, // the same again
		{client(2), true, 2},
		{client(3), false, 3}, // rejected by the rule
		{client(4), true, 3},  // 3 is gone
		{"ip saddr 10.0.0.99 ip daddr 10.0.0.1 tcp sport 80 tcp dport 1000 tcp flags rst,ack tcp ackseq 2", true, 3},
		{client(5), true, 3}, // 1 was refused, its entry is gone
	}
	for i, s := range steps {
		if got := visit(s.text, s.confirm); got != s.want {
			t.Fatalf("step %d, %s: %d connections, want %d", i, s.text, got, s.want)
		}
	}
	w.now += 200 * second
	if got := visit(client(6), true); got != 1 {
		t.Errorf("all expired: %d connections, want 1", got)
	}
}

// TestConnListTimeWait: a SYN that uses a connection in TIME_WAIT again counts
// as one. (Until 2026-06 the kernel took it for counted and then forgot it.)
func TestConnListTimeWait(t *testing.T) {
	w := newWorld(t, Config{})
	var l ConnList
	send := func(words ...string) int {
		w.now += second
		frame, _, _ := tcpFrame(t, words)
		w.track(frame)
		n, _ := l.Visit(w.table, &w.packet)
		w.table.Confirm(&w.packet)
		return n
	}
	send(">", "S", "seq", "1000")
	send("<", "SA", "seq", "5000", "ack", "1001")
	send(">", "A", "seq", "1001", "ack", "5001")
	send(">", "FA", "seq", "1001", "ack", "5001")
	send("<", "FA", "seq", "5001", "ack", "1002")
	if send(">", "A", "seq", "1002", "ack", "5002"); w.at.Conn.StateName() != "TIME_WAIT" {
		t.Fatalf("state %s", w.at.Conn.StateName())
	}
	if n := send(">", "S", "seq", "90000"); n != 1 || w.state() != "new" {
		t.Errorf("%d connections, state %s", n, w.state())
	}
	if n := send(">", "S", "seq", "90000"); n != 1 {
		t.Errorf("%d connections after a repeated SYN", n)
	}
}

// TestConnListZones: one tuple in two zones is two connections. (Until 2026-07
// the kernel compared the zone's directions instead.)
func TestConnListZones(t *testing.T) {
	w := newWorld(t, Config{})
	var l ConnList
	for i, zone := range []Zone{{ID: 1}, {ID: 2}, {ID: 1}} {
		w.now += second
		w.zone = zone
		w.track(w.frame("udp dport 53"))
		n, _ := l.Visit(w.table, &w.packet)
		w.table.Confirm(&w.packet)
		if want := min(i+1, 2); n != want {
			t.Errorf("packet %d: %d connections, want %d", i, n, want)
		}
	}
}

// TestConnListUntracked: packets without connection count by their tuple, and
// without tuple they are dropped.
func TestConnListUntracked(t *testing.T) {
	w := newWorld(t, Config{})
	var l ConnList
	frame := w.frame("tcp flags ack,syn")
	if w.track(frame); w.state() != "invalid" {
		t.Fatal(w.state())
	}
	if n, r := l.Visit(w.table, &w.packet); n != 1 || r != Accept {
		t.Errorf("%d connections, result %d", n, r)
	}
	w.track(w.frame("ip frag-off 1 ip protocol udp payload 0x0102030405060708"))
	if _, r := l.Visit(w.table, &w.packet); r != Drop {
		t.Error("want a drop of what has no tuple")
	}
}
