package tc

import (
	"strings"
	"testing"
)

// TestU32TablesOfQdisc: ingress and egress of a clsact share their hash tables,
// those of another device and of a shared block are others (seen on Linux 6.18).
func TestU32TablesOfQdisc(t *testing.T) {
	s := newWorld(t, Config{})
	do(t, s, "qdisc add dev eth0 clsact", "qdisc add dev eth1 ingress_block 7 clsact",
		"filter add dev eth0 ingress protocol ip pref 1 u32 match u32 0 0 action ok",
		"filter add dev eth0 egress protocol ip pref 1 u32 match u32 0 0 action drop",
		"filter add dev eth0 ingress protocol ip pref 1 handle 2: u32 divisor 4",
		"filter add dev eth0 egress protocol ip pref 1 u32 ht 2:1: match u32 0 0 action ok",
		"filter add block 7 protocol ip pref 1 u32 match u32 0 0 action ok",
		"filter add dev eth1 egress protocol ip pref 1 u32 match u32 0 0 action ok")
	for where, want := range map[string]string{
		"dev eth0 ingress": "2: 801: 800:", "dev eth0 egress": "2: 801: 800:", "block 7": "800:", "dev eth1 egress": "800:",
	} {
		var got []string
		for _, l := range strings.Split(s.Line("filter show "+where, Options{}).Stdout, "\n") {
			if before, _, ok := strings.Cut(l, " ht divisor"); ok {
				got = append(got, before[strings.LastIndexByte(before, ' ')+1:])
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: tables %s, want %s", where, text, want)
		}
	}
	if got := send(t, s, "eth0", frame(t, udpFrame)); got != "pass eth0/in" {
		t.Errorf("at ingress: %s", got)
	}
}

// TestMirredNesting: how deep redirections nest is the kernel's version's.
func TestMirredNesting(t *testing.T) {
	for nesting, want := range map[int]uint64{0: 3, 4: 4} {
		s := newWorld(t, Config{Nesting: nesting})
		do(t, s, "qdisc add dev eth1 clsact", "filter add dev eth1 ingress protocol ip u32 match u32 0 0 action mirred ingress redirect dev eth1")
		send(t, s, "eth1", frame(t, udpFrame))
		if n := s.Filters("eth1", false)[0].Actions[0].Packets; n != want {
			t.Errorf("nesting %d: %d packets, want %d", nesting, n, want)
		}
	}
}

// TestMirredCircle: a packet that doubles at each turn fills the backlog, whose
// overflow counts with the action, and is given up in the end.
func TestMirredCircle(t *testing.T) {
	s := newWorld(t, Config{})
	do(t, s, "qdisc add dev eth0 clsact", "qdisc add dev eth1 clsact",
		"filter add dev eth0 ingress protocol ip u32 match u32 0 0 action mirred egress redirect dev eth1",
		"filter add dev eth1 egress protocol ip u32 match u32 0 0 action mirred ingress mirror dev eth0 pipe action mirred ingress mirror dev eth0")
	var p Packet
	d := s.Device("eth0")
	p.Load(frame(t, udpFrame), true)
	if r := s.Receive(d, &p); r.Unknown != "its filters send the packet in circles without end" {
		t.Errorf("unknown for %q", r.Unknown)
	}
	a := s.Filters("eth1", true)[0].Actions
	first, second := a[0], a[1]
	if first.Packets != second.Packets || first.Packets > maxDelivered+1 || first.Overlimits+second.Overlimits == 0 {
		t.Errorf("%d and %d packets, overlimits %d and %d", first.Packets, second.Packets, first.Overlimits, second.Overlimits)
	}
	if n := len(s.path.pending) + len(s.path.turn); n > 2*(maxBacklog+1) {
		t.Errorf("%d packets wait", n)
	}
}
