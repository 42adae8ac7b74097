package conntrack

import (
	"testing"

	"verdict/packet"
)

// FuzzPackets takes a series of arbitrary packets through everything: no input
// may panic, a connection's counts must balance, and what leaves must be as
// long as its view says.
func FuzzPackets(f *testing.F) {
	w := newWorld(f, Config{})
	for _, text := range []string{
		syn, synAck, "udp dport 53", "icmp type echo-request", "ip6 saddr fd00::1 icmpv6 type echo-request",
		"sctp sport 1 sctp dport 2 sctp vtag 0 sctp chunk init length 20 sctp chunk init init-tag 5",
		"ip saddr 192.0.2.99 ip daddr 203.0.113.1 icmp type time-exceeded inner ip saddr 203.0.113.1 ip daddr 198.51.100.7 tcp sport 40000 tcp dport 80 tcp flags syn",
		"ip frag-off 0x2000 udp dport 53 payload length 16", "ip protocol 47 payload 0x3001880b00040007",
	} {
		f.Add(w.frame(text), uint8(0), uint8(200))
	}
	f.Add(append(ipv6(f, packet.ProtoFragment, "11000001 00000001 00010035 00080000"), 1, 2, 3), uint8(3), uint8(60))
	f.Fuzz(func(t *testing.T, data []byte, how, cut uint8) {
		w := newWorld(t, Config{Max: 4, Accounting: true, Before71: how&1 != 0, NoChecksum: true})
		var d Defrag
		rules := []*NATRange{to("203.0.113.1", "", 0, 0, 0), to("10.0.0.9", "10.0.0.12", 8080, 8081, NATRandom)}
		for len(data) > 0 {
			n := min(len(data), 1+int(data[0])*2)
			if how&2 != 0 {
				n = len(data)
			}
			frame := data[:n]
			data = data[n:]
			for _, f := range [][]byte{frame, swapped(frame)} {
				fuzzOne(t, w, &d, f, min(len(f), int(cut)), how&4 == 0, rules)
			}
		}
		w.at.Reset()
		w.table.Flush()
		if w.table.Len() != 0 || w.table.index.used != 0 || w.table.sources.used != 0 || w.table.expected.count != 0 {
			t.Fatalf("%d connections, %d tuples, %d sources, %d expectations are left", w.table.Len(), w.table.index.used, w.table.sources.used, w.table.expected.count)
		}
	})
}

func fuzzOne(t *testing.T, w *world, d *Defrag, frame []byte, captured int, prerouting bool, rules []*NATRange) {
	before := string(frame)
	w.now += second
	p := w.take(frame, captured)
	p.Prerouting = prerouting
	var mark uint32
	if r, _ := d.Collect(p, FragmentPlace{}, &mark, &w.buffer); r == Collected || r == FragmentDropped {
		return
	}
	if w.table.Track(p) == Drop {
		return
	}
	for _, h := range []Helper{FTP{}, TFTP{}} {
		w.table.AssignHelper(w.at.Conn, h)
	}
	for m := DestinationManip; m <= DestinationManip; m-- {
		if w.table.NATUndecided(p, m) {
			w.table.SetupNAT(p, m, rules[m])
		}
		if w.table.Translate(p, m, m == DestinationManip, &w.buffer) == Drop {
			return
		}
	}
	w.table.Confirm(p)
	if string(frame) != before {
		t.Fatal("the borrowed frame has changed")
	}
	if w.view.OrigLen < len(w.view.Data) {
		t.Fatalf("%d bytes on the wire, %d captured", w.view.OrigLen, len(w.view.Data))
	}
}

// swapped exchanges source and destination of an IPv4 packet with ports.
func swapped(frame []byte) []byte {
	if len(frame) < 24 || frame[0] != 0x45 {
		return nil
	}
	f := append([]byte(nil), frame...)
	copy(f[12:], frame[16:20])
	copy(f[16:], frame[12:16])
	copy(f[20:], frame[22:24])
	copy(f[22:], frame[20:22])
	return f
}
