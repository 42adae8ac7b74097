package conntrack

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"verdict/packet"
	"verdict/packet/build"
)

// natRules are what nat chains would say: one range for each translation.
type natRules struct{ dnat, snat *NATRange }

// forward takes a frame through a router: tracking, destination NAT, source
// NAT, confirmation. It returns what leaves.
func (w *world) forward(rules natRules, frame []byte) ([]byte, Result) {
	w.t.Helper()
	p := w.take(frame, len(frame))
	p.Out = 2
	if w.table.Track(p) == Drop {
		return nil, Drop
	}
	for _, step := range []struct {
		m     Manip
		r     *NATRange
		first bool
	}{{DestinationManip, rules.dnat, true}, {SourceManip, rules.snat, false}} {
		if w.table.NATUndecided(p, step.m) {
			if step.r != nil && w.table.SetupNAT(p, step.m, step.r) == Drop {
				return nil, Drop
			}
			if w.table.NATUndecided(p, step.m) && w.table.SetupNAT(p, step.m, nil) == Drop {
				return nil, Drop
			}
		}
		if w.table.Translate(p, step.m, step.first, &w.buffer) == Drop {
			return nil, Drop
		}
	}
	if w.table.Confirm(p) == Drop {
		return nil, Drop
	}
	verify(w.t, w.view.Data)
	return w.view.Data, Accept
}

// verify checks all checksums of a raw IP packet.
func verify(t testing.TB, frame []byte) {
	t.Helper()
	var v packet.View
	v.Decode(packet.LinkRaw, frame, len(frame))
	if ok, result := v.VerifyIPv4Header(); result == packet.OK && !ok {
		t.Errorf("bad IPv4 header checksum: %x", frame)
	}
	if ok, result := v.VerifyTransport(); result == packet.OK && !ok {
		t.Errorf("bad transport checksum: %x", frame)
	}
}

// ends names the ends of a raw IP packet: "10.0.0.1.40000 > 10.0.0.2.80".
func ends(frame []byte) string {
	var v packet.View
	v.Decode(packet.LinkRaw, frame, len(frame))
	if src, dst, ok := v.Ports(); ok {
		return fmt.Sprintf("%s.%d > %s.%d", v.SrcAddr(), src, v.DstAddr(), dst)
	}
	text := fmt.Sprintf("%s > %s", v.SrcAddr(), v.DstAddr())
	if v.L4Proto == packet.ProtoICMP || v.L4Proto == packet.ProtoICMPv6 {
		text += fmt.Sprintf(" id %d", binary.BigEndian.Uint16(v.Data[v.ThOff+4:]))
	}
	return text
}

// to makes a range: "203.0.113.1", "203.0.113.1-203.0.113.9", ports 0 for none.
func to(low, high string, minPort, maxPort uint16, flags uint32) *NATRange {
	r := &NATRange{Flags: flags, MinPort: minPort, MaxPort: maxPort, HasPort: minPort != 0}
	if low != "" {
		if high == "" {
			high = low
		}
		r.HasAddr = true
		copy(r.MinAddr[:], netip.MustParseAddr(low).AsSlice())
		copy(r.MaxAddr[:], netip.MustParseAddr(high).AsSlice())
	}
	return r
}

const (
	syn    = "ip saddr 10.0.0.1 ip daddr 198.51.100.7 tcp sport 40000 tcp dport 80 tcp flags syn"
	synAck = "ip saddr 198.51.100.7 ip daddr 203.0.113.1 tcp sport 80 tcp dport 40000 tcp flags syn,ack tcp ackseq 2"
)

// TestTranslations follows one packet and its answer through a router.
func TestTranslations(t *testing.T) {
	snat := natRules{snat: to("203.0.113.1", "", 0, 0, 0)}
	dnat := natRules{dnat: to("10.0.0.9", "", 8080, 8080, 0)}
	tests := []struct {
		name         string
		rules        natRules
		packet, want string
		answer, back string
		status       uint32
	}{
		{"none", natRules{}, syn, "10.0.0.1.40000 > 198.51.100.7.80",
			"ip saddr 198.51.100.7 ip daddr 10.0.0.1 tcp sport 80 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask},
		{"snat", snat, syn, "203.0.113.1.40000 > 198.51.100.7.80", synAck, "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask | StatusSrcNAT},
		{"snat to the same", natRules{snat: to("10.0.0.1", "", 0, 0, 0)}, syn, "10.0.0.1.40000 > 198.51.100.7.80",
			"ip saddr 198.51.100.7 ip daddr 10.0.0.1 tcp sport 80 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask},
		{"snat with port", natRules{snat: to("203.0.113.1", "", 5000, 5000, 0)}, syn, "203.0.113.1.5000 > 198.51.100.7.80",
			"ip saddr 198.51.100.7 ip daddr 203.0.113.1 tcp sport 80 tcp dport 5000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask | StatusSrcNAT},
		{"dnat", dnat, syn, "10.0.0.1.40000 > 10.0.0.9.8080",
			"ip saddr 10.0.0.9 ip daddr 10.0.0.1 tcp sport 8080 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask | StatusDstNAT},
		{"both", natRules{dnat.dnat, snat.snat}, syn, "203.0.113.1.40000 > 10.0.0.9.8080",
			"ip saddr 10.0.0.9 ip daddr 203.0.113.1 tcp sport 8080 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask | StatusSrcNAT | StatusDstNAT},
		{"dnat of a port only", natRules{dnat: to("", "", 8080, 8080, 0)}, syn, "10.0.0.1.40000 > 198.51.100.7.8080",
			"ip saddr 198.51.100.7 ip daddr 10.0.0.1 tcp sport 8080 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask | StatusDstNAT},
		{"udp", snat, "ip saddr 10.0.0.1 ip daddr 198.51.100.7 udp sport 999 udp dport 53 payload 0x01", "203.0.113.1.999 > 198.51.100.7.53",
			"ip saddr 198.51.100.7 ip daddr 203.0.113.1 udp sport 53 udp dport 999", "198.51.100.7.53 > 10.0.0.1.999", statusNATDoneMask | StatusSrcNAT},
		{"udp without checksum", snat, "ip saddr 10.0.0.1 ip daddr 198.51.100.7 udp sport 999 udp dport 53 udp checksum 0", "203.0.113.1.999 > 198.51.100.7.53",
			"ip saddr 198.51.100.7 ip daddr 203.0.113.1 udp sport 53 udp dport 999 udp checksum 0", "198.51.100.7.53 > 10.0.0.1.999", statusNATDoneMask | StatusSrcNAT},
		{"ping", natRules{snat: to("203.0.113.1", "", 7, 7, 0)}, "ip saddr 10.0.0.1 ip daddr 198.51.100.7 icmp type echo-request icmp id 99", "203.0.113.1 > 198.51.100.7 id 7",
			"ip saddr 198.51.100.7 ip daddr 203.0.113.1 icmp type echo-reply icmp id 7", "198.51.100.7 > 10.0.0.1 id 99", statusNATDoneMask | StatusSrcNAT},
		{"ping of IPv6", natRules{snat: to("2001:db8::1", "", 7, 7, 0)}, "ip6 saddr fd00::1 ip6 daddr 2001:db8::9 icmpv6 type echo-request icmpv6 id 99", "2001:db8::1 > 2001:db8::9 id 7",
			"ip6 saddr 2001:db8::9 ip6 daddr 2001:db8::1 icmpv6 type echo-reply icmpv6 id 7", "2001:db8::9 > fd00::1 id 99", statusNATDoneMask | StatusSrcNAT},
		{"tcp over IPv6", natRules{to("fd00::9", "", 0, 0, 0), to("2001:db8::1", "", 0, 0, 0)}, "ip6 saddr fd00::1 ip6 daddr 2001:db8::9 tcp sport 40000 tcp dport 80 tcp flags syn", "2001:db8::1.40000 > fd00::9.80",
			"ip6 saddr fd00::9 ip6 daddr 2001:db8::1 tcp sport 80 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "2001:db8::9.80 > fd00::1.40000", statusNATDoneMask | StatusSrcNAT | StatusDstNAT},
		{"other protocol", snat, "ip saddr 10.0.0.1 ip daddr 198.51.100.7 ip protocol 50 payload 0x0011223344556677", "203.0.113.1 > 198.51.100.7",
			"ip saddr 198.51.100.7 ip daddr 203.0.113.1 ip protocol 50 payload 0x0011223344556677", "198.51.100.7 > 10.0.0.1", statusNATDoneMask | StatusSrcNAT},
		{"netmap", natRules{snat: to("192.168.2.0", "192.168.2.255", 0, 0, NATNetmap)}, "ip saddr 10.141.11.7 ip daddr 198.51.100.7 tcp flags syn tcp sport 4 tcp dport 5", "192.168.2.7.4 > 198.51.100.7.5",
			"ip saddr 198.51.100.7 ip daddr 192.168.2.7 tcp sport 5 tcp dport 4 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.5 > 10.141.11.7.4", statusNATDoneMask | StatusSrcNAT},
		{"range of ports of a destination", natRules{dnat: to("10.0.0.9", "", 1000, 1002, 0)}, syn, "10.0.0.1.40000 > 10.0.0.9.1000",
			"ip saddr 10.0.0.9 ip daddr 10.0.0.1 tcp sport 1000 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask | StatusDstNAT},
		{"destination port in the range stays", natRules{dnat: to("10.0.0.9", "", 1, 100, 0)}, syn, "10.0.0.1.40000 > 10.0.0.9.80",
			"ip saddr 10.0.0.9 ip daddr 10.0.0.1 tcp sport 80 tcp dport 40000 tcp flags syn,ack tcp ackseq 2", "198.51.100.7.80 > 10.0.0.1.40000", statusNATDoneMask | StatusDstNAT},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{})
			frame := w.frame(tt.packet)
			before := string(frame)
			out, r := w.forward(tt.rules, frame)
			if r != Accept || ends(out) != tt.want {
				t.Fatalf("got %s (%d), want %s", ends(out), r, tt.want)
			}
			if string(frame) != before {
				t.Error("the borrowed frame has changed")
			}
			if got := w.at.Conn.Status & (statusNATMask | statusNATDoneMask); got != tt.status {
				t.Errorf("status %#x, want %#x", got, tt.status)
			}
			out, r = w.forward(natRules{}, w.frame(tt.answer))
			if r != Accept || ends(out) != tt.back || w.at.Info != InfoEstablishedReply {
				t.Fatalf("answer: got %s (%d, %s), want %s", ends(out), r, w.state(), tt.back)
			}
			if out, _ = w.forward(natRules{dnat: to("9.9.9.9", "", 0, 0, 0)}, frame); ends(out) != tt.want {
				t.Errorf("later packet: got %s, want %s", ends(out), tt.want)
			}
		})
	}
}

// TestAddressChoice checks the hash that chooses from a range of addresses.
func TestAddressChoice(t *testing.T) {
	tests := []struct {
		src, dst   string
		zone       uint16
		persistent bool
		want       string
	}{
		{"192.168.1.10", "8.8.8.8", 0, false, "203.0.113.10"},
		{"192.168.1.11", "8.8.8.8", 0, false, "203.0.113.15"},
		{"192.168.1.10", "1.1.1.1", 0, false, "203.0.113.10"},
		{"10.0.0.1", "198.51.100.7", 0, false, "203.0.113.11"},
		{"192.168.1.10", "8.8.8.8", 5, false, "203.0.113.16"},
		{"192.168.1.10", "8.8.8.8", 0, true, "203.0.113.19"},
		{"192.168.1.11", "8.8.8.8", 0, true, "203.0.113.19"},
		{"10.0.0.1", "198.51.100.7", 0, true, "203.0.113.12"},
	}
	for _, tt := range tests {
		w := newWorld(t, Config{})
		if tt.zone != 0 {
			w.zone = Zone{ID: tt.zone}
		}
		flags := uint32(0)
		if tt.persistent {
			flags = NATPersistent
		}
		text := fmt.Sprintf("ip saddr %s ip daddr %s tcp flags syn tcp sport 1 tcp dport 2", tt.src, tt.dst)
		out, _ := w.forward(natRules{snat: to("203.0.113.10", "203.0.113.19", 0, 0, flags)}, w.frame(text))
		if want := fmt.Sprintf("%s.1 > %s.2", tt.want, tt.dst); ends(out) != want {
			t.Errorf("%s > %s zone %d persistent %v: got %s, want %s", tt.src, tt.dst, tt.zone, tt.persistent, ends(out), want)
		}
	}
	for _, v := range []struct {
		src     string
		initial uint32
		want    uint32
	}{{"192.168.1.10", 0x08080808, 0x0a6149b3}, {"192.168.1.10", 0x08080808 ^ 5, 0xb29fde08}, {"10.0.0.1", 0, 0x44dd116c}} {
		var a [16]byte
		copy(a[:], netip.MustParseAddr(v.src).AsSlice())
		if got := hashWords(&a, v.initial); got != v.want {
			t.Errorf("hash of %s from %#x: %#x, want %#x", v.src, v.initial, got, v.want)
		}
	}
}

// TestErrorsAboutTranslated follows ICMP errors back to where their cause is.
func TestErrorsAboutTranslated(t *testing.T) {
	tests := []struct {
		name, packet, err, want, quotes string
		rules                           natRules
	}{
		{"router's error about snat", syn,
			"ip saddr 192.0.2.99 ip daddr 203.0.113.1 icmp type time-exceeded inner ip saddr 203.0.113.1 ip daddr 198.51.100.7 tcp sport 40000 tcp dport 80 tcp flags syn",
			"192.0.2.99 > 10.0.0.1", "10.0.0.1.40000 > 198.51.100.7.80", natRules{snat: to("203.0.113.1", "", 0, 0, 0)}},
		{"router's error about dnat", syn,
			"ip saddr 192.0.2.99 ip daddr 10.0.0.1 icmp type destination-unreachable icmp code host-unreachable inner ip saddr 10.0.0.1 ip daddr 10.0.0.9 tcp sport 40000 tcp dport 8080 tcp flags syn",
			"198.51.100.7 > 10.0.0.1", "10.0.0.1.40000 > 198.51.100.7.80", natRules{dnat: to("10.0.0.9", "", 8080, 8080, 0)}},
		{"server's error about both, udp", "ip saddr 10.0.0.1 ip daddr 198.51.100.7 udp sport 40000 udp dport 53 payload 0x0102",
			"ip saddr 10.0.0.9 ip daddr 203.0.113.1 icmp type destination-unreachable icmp code port-unreachable inner ip saddr 203.0.113.1 ip daddr 10.0.0.9 udp sport 40000 udp dport 53 payload 0x0102",
			"198.51.100.7 > 10.0.0.1", "10.0.0.1.40000 > 198.51.100.7.53", natRules{to("10.0.0.9", "", 0, 0, 0), to("203.0.113.1", "", 0, 0, 0)}},
		{"IPv6", "ip6 saddr fd00::1 ip6 daddr 2001:db8::9 udp sport 40000 udp dport 53 payload 0x0102",
			"ip6 saddr 2001:db8::77 ip6 daddr 2001:db8::1 icmpv6 type packet-too-big inner ip6 saddr 2001:db8::1 ip6 daddr 2001:db8::9 udp sport 40000 udp dport 53 payload 0x0102",
			"2001:db8::77 > fd00::1", "fd00::1.40000 > 2001:db8::9.53", natRules{snat: to("2001:db8::1", "", 0, 0, 0)}},
		{"ping", "ip saddr 10.0.0.1 ip daddr 198.51.100.7 icmp type echo-request icmp id 99",
			"ip saddr 192.0.2.99 ip daddr 203.0.113.1 icmp type time-exceeded inner ip saddr 203.0.113.1 ip daddr 198.51.100.7 icmp type echo-request icmp id 7",
			"192.0.2.99 > 10.0.0.1", "10.0.0.1 > 198.51.100.7 id 99", natRules{snat: to("203.0.113.1", "", 7, 7, 0)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{})
			if _, r := w.forward(tt.rules, w.frame(tt.packet)); r != Accept {
				t.Fatal("dropped")
			}
			out, r := w.forward(natRules{}, w.frame(tt.err))
			if r != Accept || w.at.Info != InfoRelatedReply {
				t.Fatalf("result %d, info %d", r, w.at.Info)
			}
			var v packet.View
			v.Decode(packet.LinkRaw, out, len(out))
			if got := fmt.Sprintf("%s > %s", v.SrcAddr(), v.DstAddr()); got != tt.want {
				t.Errorf("error goes %s, want %s", got, tt.want)
			}
			inner := out[v.ThOff+8:]
			if ends(inner) != tt.quotes {
				t.Errorf("error quotes %s, want %s", ends(inner), tt.quotes)
			}
			verify(t, inner)
		})
	}
	t.Run("bad checksum", func(t *testing.T) {
		w := newWorld(t, Config{NoChecksum: true})
		w.forward(tests[0].rules, w.frame(syn))
		frame := w.frame(tests[0].err)
		frame[22] ^= 1
		if _, r := w.forward(natRules{}, frame); r != Drop {
			t.Error("want drop")
		}
	})
	t.Run("redirect", func(t *testing.T) {
		w := newWorld(t, Config{})
		w.forward(tests[0].rules, w.frame(syn))
		frame := w.frame("ip saddr 192.0.2.99 ip daddr 203.0.113.1 icmp type redirect inner ip saddr 203.0.113.1 ip daddr 198.51.100.7 tcp sport 40000 tcp dport 80 tcp flags syn")
		if _, r := w.forward(natRules{}, frame); r != Drop {
			t.Error("want drop")
		}
	})
}

// TestMasqueradeEndsWithItsDevice: a connection whose packets leave by another
// device than the one that gave its address ends, with the packet.
func TestMasqueradeEndsWithItsDevice(t *testing.T) {
	w := newWorld(t, Config{})
	r := to("203.0.113.1", "", 0, 0, 0)
	r.Device = 2
	w.forward(natRules{snat: r}, w.frame(syn))
	p := w.take(w.frame(syn), len(w.frame(syn)))
	p.Out = 3
	w.table.Track(p)
	if got := w.table.Translate(p, SourceManip, false, &w.buffer); got != Drop {
		t.Errorf("result %d, want drop", got)
	}
	if w.at.Reset(); w.table.Len() != 0 {
		t.Error("the connection is still there")
	}
}

// TestCutTranslation: of a cut packet what was captured is rewritten.
func TestCutTranslation(t *testing.T) {
	w := newWorld(t, Config{})
	p, err := build.Parse("link raw " + syn + " payload length 100")
	if err != nil {
		t.Fatal(err)
	}
	w.take(p.Data, 40)
	w.table.Track(&w.packet)
	w.table.SetupNAT(&w.packet, SourceManip, to("203.0.113.1", "", 99, 99, 0))
	if w.table.Translate(&w.packet, SourceManip, false, &w.buffer) != Accept {
		t.Fatal("dropped")
	}
	full := newWorld(t, Config{})
	out, _ := full.forward(natRules{snat: to("203.0.113.1", "", 99, 99, 0)}, p.Data)
	if string(out[:40]) != string(w.view.Data) {
		t.Errorf("cut  %x\nwhole %x", w.view.Data, out[:40])
	}
}

// TestHairpin: a client and a server in one network, both translated, so that
// the answer comes back through the router.
func TestHairpin(t *testing.T) {
	w := newWorld(t, Config{})
	rules := natRules{dnat: to("10.0.0.9", "", 80, 80, 0), snat: to("10.0.0.254", "", 0, 0, 0)}
	out, _ := w.forward(rules, w.frame("ip saddr 10.0.0.1 ip daddr 203.0.113.1 tcp sport 40000 tcp dport 8080 tcp flags syn"))
	if ends(out) != "10.0.0.254.40000 > 10.0.0.9.80" {
		t.Fatalf("got %s", ends(out))
	}
	out, _ = w.forward(rules, w.frame("ip saddr 10.0.0.9 ip daddr 10.0.0.254 tcp sport 80 tcp dport 40000 tcp flags syn,ack tcp ackseq 2"))
	if ends(out) != "203.0.113.1.8080 > 10.0.0.1.40000" || w.state() != "established" {
		t.Fatalf("answer: got %s, %s", ends(out), w.state())
	}
	// Without source translation the server answers the client directly, and
	// the entry stays without reply.
	w = newWorld(t, Config{})
	w.forward(natRules{dnat: rules.dnat}, w.frame("ip saddr 10.0.0.1 ip daddr 203.0.113.1 tcp sport 40000 tcp dport 8080 tcp flags syn"))
	if w.at.Conn.Status&StatusSeenReply != 0 {
		t.Error("a reply was seen")
	}
}

// TestLoopback: what the host sends itself keeps its connection at prerouting,
// where it is neither tracked nor translated again.
func TestLoopback(t *testing.T) {
	w := newWorld(t, Config{Accounting: true})
	frame := w.frame("ip saddr 127.0.0.1 ip daddr 192.0.2.1 udp sport 5 udp dport 53")
	p := w.take(frame, len(frame))
	p.Prerouting = false
	w.table.Track(p)
	w.table.SetupNAT(p, DestinationManip, to("127.0.0.1", "", 5353, 5353, 0))
	w.table.Translate(p, DestinationManip, true, &w.buffer)
	w.table.SetupNAT(p, SourceManip, nil)
	w.table.Translate(p, SourceManip, false, &w.buffer)
	w.table.Confirm(p)
	p.Prerouting = true
	w.table.Track(p)
	if w.table.NATUndecided(p, DestinationManip) || w.table.NATUndecided(p, SourceManip) {
		t.Error("a translation is undecided on the way in")
	}
	w.table.Translate(p, DestinationManip, true, &w.buffer)
	w.table.Translate(p, SourceManip, false, &w.buffer)
	if ends(w.view.Data) != "127.0.0.1.5 > 127.0.0.1.5353" || w.at.Conn.Packets[0] != 1 {
		t.Errorf("got %s, %d packets", ends(w.view.Data), w.at.Conn.Packets[0])
	}
}
