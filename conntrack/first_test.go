package conntrack

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"verdict/packet"
)

// TestFirstPackets: what the first packet of a flow is, by protocol.
func TestFirstPackets(t *testing.T) {
	const ip4, ip6 = "ip saddr 10.0.0.1 ip daddr 10.0.0.2 ", "ip6 saddr fd00::1 ip6 daddr fd00::2 "
	tests := []struct {
		text, state string
		seconds     int64
	}{
		{ip4 + "udp dport 53", "new", 30},
		{ip4 + "udp dport 53 udp checksum 0", "new", 30},
		{ip4 + "udp dport 53 udp length 7", "invalid", 0},
		{ip4 + "udp dport 53 udp length 9", "invalid", 0},
		{ip4 + "udp dport 53 payload 0x0000 udp length 8 udp checksum 0", "new", 30},
		{ip4 + "udp dport 53 udp checksum 0x1234", "invalid", 0},
		{ip6 + "udp dport 53 udp checksum 0", "new", 30},
		{ip4 + "ip protocol udp payload 0x001100", "invalid", 0},
		{ip4 + "ip protocol udp payload 0x00110022", "invalid", 0},
		{ip4 + "ip protocol tcp payload 0x001100", "invalid", 0},
		{ip4 + "tcp flags syn tcp doff 4", "invalid", 0},
		{ip4 + "tcp flags syn tcp doff 6", "invalid", 0},
		{ip4 + "icmp type echo-request icmp id 1", "new", 30},
		{ip4 + "icmp type timestamp-request", "new", 30},
		{ip4 + "icmp type info-request", "new", 30},
		{ip4 + "icmp type address-mask-request", "new", 30},
		{ip4 + "icmp type echo-reply icmp id 1", "invalid", 0},
		{ip4 + "icmp type timestamp-reply", "invalid", 0},
		{ip4 + "icmp type router-advertisement", "invalid", 0},
		{ip4 + "icmp type router-solicitation", "invalid", 0},
		{ip4 + "icmp type 19", "invalid", 0},
		{ip4 + "icmp type 1", "invalid", 0},
		{ip4 + "icmp type destination-unreachable inner ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp dport 53", "invalid", 0},
		{ip4 + "icmp type echo-request icmp id 1 icmp checksum 1", "invalid", 0},
		{ip4 + "ip protocol icmp payload 0x08000000", "invalid", 0},
		{ip6 + "icmpv6 type echo-request icmpv6 id 1", "new", 30},
		{ip6 + "icmpv6 type 139", "new", 30},
		{ip6 + "icmpv6 type echo-reply icmpv6 id 1", "invalid", 0},
		{ip6 + "icmpv6 type 138", "invalid", 0},
		{ip6 + "icmpv6 type 144", "invalid", 0},
		{ip6 + "icmpv6 type nd-neighbor-solicit", "untracked", 0},
		{ip6 + "icmpv6 type nd-neighbor-advert", "untracked", 0},
		{ip6 + "icmpv6 type nd-router-solicit", "untracked", 0},
		{ip6 + "icmpv6 type nd-router-advert", "untracked", 0},
		{ip6 + "icmpv6 type mld-listener-query", "untracked", 0},
		{ip6 + "icmpv6 type mld-listener-report", "untracked", 0},
		{ip6 + "icmpv6 type mld-listener-done", "untracked", 0},
		{ip6 + "icmpv6 type mld2-listener-report", "untracked", 0},
		{ip6 + "icmpv6 type 151", "untracked", 0},
		{ip6 + "icmpv6 type 152", "untracked", 0},
		{ip6 + "icmpv6 type packet-too-big inner ip6 saddr fd00::2 ip6 daddr fd00::1 udp dport 53", "invalid", 0},
		{ip4 + "ip protocol 58 payload 0x8000000000010001", "invalid", 0},
		{ip6 + "ip6 nexthdr 1 payload 0x0800f7fd00010001", "invalid", 0},
		{ip4 + "ip protocol 47 payload 0x0000080011223344", "new", 30},
		{ip4 + "ip protocol 47 payload 0x3001880b00040007", "new", 30},
		{ip4 + "ip protocol 47 payload 0x3001080000040007", "invalid", 0},
		{ip4 + "ip protocol 47 payload 0x3001880b", "new", 30},
		{ip4 + "ip protocol 47 payload 0x3001", "new", 30},
		{ip4 + "ip protocol esp payload 0x0000000100000001", "new", 600},
		{ip4 + "ip protocol 4 payload 0x45", "new", 600},
		{ip4 + "ip protocol 2 payload 0x1100eeff00000000", "new", 600},
		{ip4 + "ip protocol 89", "new", 600},
		{ip4 + "udplite sport 1 udplite dport 2", "new", 600},
		{ip4 + "ip frag-off 1 ip protocol udp payload 0x0102030405060708", "invalid", 0},
		{ip6 + "ip6 nexthdr 59", "invalid", 0},
		{ip6 + "ip6 nexthdr 60 payload 0x2f00000000000000", "new", 30},
	}
	for _, tt := range tests {
		t.Run(strings.TrimPrefix(strings.TrimPrefix(tt.text, ip4), ip6), func(t *testing.T) {
			w := newWorld(t, Config{})
			if w.sendText(tt.text) != Accept {
				t.Fatal("dropped")
			}
			if w.state() != tt.state || w.seconds() != tt.seconds {
				t.Errorf("%s: got %s, %d s; want %s, %d s", tt.text, w.state(), w.seconds(), tt.state, tt.seconds)
			}
			if w.at.Reset(); tt.state != "new" && w.table.Len() != 0 {
				t.Errorf("%d connections are left", w.table.Len())
			}
		})
	}
}

// ipv6 puts an IPv6 header before next headers in hex, and makes the transport
// checksum right where that is possible.
func ipv6(t testing.TB, next uint8, rest string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	h := make([]byte, 40, 40+len(b))
	h[0], h[6], h[7] = 0x60, next, 64
	binary.BigEndian.PutUint16(h[4:], uint16(len(b)))
	copy(h[8:], []byte{0xfd, 15: 1})
	copy(h[24:], []byte{0xfd, 15: 2})
	return append(h, b...)
}

// TestExtensionHeaders: the walk goes through authentication headers, and up to
// twelve headers far. An error in the chain is an invalid packet. (Until 2023-01
// the kernel took an error's number for an offset.)
func TestExtensionHeaders(t *testing.T) {
	const udp = "00010035 00080000"
	tests := []struct {
		name  string
		frame []byte
		state string
		proto uint8
	}{
		{"authentication header", ipv6(t, packet.ProtoAH, "11040000 00000001 00000001 000000000000000000000000"+udp), "new", packet.ProtoUDP},
		{"authentication behind options", ipv6(t, packet.ProtoDestOpts, "33000000 00000000 11040000 00000001 00000001 000000000000000000000000"+udp), "new", packet.ProtoUDP},
		{"twelve", ipv6(t, packet.ProtoDestOpts, strings.Repeat("3c00000000000000", 11)+"1100000000000000"+udp), "new", packet.ProtoUDP},
		{"thirteen", ipv6(t, packet.ProtoDestOpts, strings.Repeat("3c00000000000000", 12)+"1100000000000000"+udp), "invalid", 0},
		{"longer than the packet", ipv6(t, packet.ProtoDestOpts, "11ff000000000000"+udp), "invalid", 0},
		{"header cut off", ipv6(t, packet.ProtoDestOpts, "11"), "invalid", 0},
		{"ends after the headers", ipv6(t, packet.ProtoDestOpts, "5900000000000000"), "new", 89},
		{"first fragment", ipv6(t, packet.ProtoFragment, "11000001 00000001"+udp), "new", packet.ProtoUDP},
		{"later fragment", ipv6(t, packet.ProtoFragment, "11000009 00000001"+udp), "invalid", 0},
		{"later fragment behind authentication", ipv6(t, packet.ProtoAH, "2c040000 00000001 00000001 00000000000000000000000011000009 00000001"+udp), "invalid", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, Config{NoChecksum: true})
			if w.send(tt.frame); w.state() != tt.state || w.at.Conn != nil && w.at.Conn.Protocol() != tt.proto {
				t.Errorf("got %s, want %s", w.state(), tt.state)
			}
		})
	}
}

// TestCutPackets: a packet of which too little was captured is unknown, and
// what can be told from lengths is told.
func TestCutPackets(t *testing.T) {
	tests := []struct {
		text     string
		captured int
		state    string
	}{
		{"tcp flags syn", 40, "new"},
		{"tcp flags syn", 39, "unknown"},
		{"tcp flags syn", 23, "unknown"},
		{"tcp flags syn payload length 100", 40, "new"},
		{"udp dport 53 payload length 100", 28, "new"},
		{"udp dport 53 payload length 100", 24, "new"},
		{"udp dport 53 payload length 100", 23, "unknown"},
		{"icmp type echo-request", 27, "unknown"},
		{"icmp type echo-request payload length 56", 28, "new"},
		{"icmp type destination-unreachable inner ip saddr 10.0.0.2 udp dport 53", 40, "unknown"},
		{"sctp sport 1 sctp dport 2 sctp vtag 0 sctp chunk init length 20 sctp chunk init init-tag 5", 40, "new"},
		{"sctp sport 1 sctp dport 2 sctp vtag 0 sctp chunk init length 20 sctp chunk init init-tag 5", 36, "unknown"},
		{"sctp sport 1 sctp dport 2 sctp vtag 0 sctp chunk init length 20 sctp chunk init init-tag 5", 31, "unknown"},
		{"ip protocol 50 payload length 100", 20, "new"},
		{"ip protocol 47 payload 0x3001880b00040007", 22, "unknown"},
	}
	for _, tt := range tests {
		w := newWorld(t, Config{})
		frame := w.frame(tt.text)
		if w.table.Track(w.take(frame, tt.captured)); w.state() != tt.state {
			t.Errorf("%s, %d of %d captured: got %s, want %s", tt.text, tt.captured, len(frame), w.state(), tt.state)
		}
		if unknown := w.table.Stats().Unknown != 0; unknown != (tt.state == "unknown") {
			t.Errorf("%s: counted as unknown: %v", tt.text, unknown)
		}
	}
}

// TestCutOptions: a SYN without captured options makes windows liberal, since
// their scale is unknown.
func TestCutOptions(t *testing.T) {
	w := newWorld(t, Config{})
	for i, words := range []string{"> S seq 1000 win 29200 ws 7", "< SA seq 5000 ack 1001 win 28960 ws 7", "> A seq 1001 ack 5001 win 229", "< PA seq 400000 ack 1001 len 1000"} {
		frame, _, _ := tcpFrame(t, strings.Fields(words))
		w.table.Track(w.take(frame, 40))
		w.table.Confirm(&w.packet)
		if w.at.Conn == nil {
			t.Fatalf("packet %d is %s", i, w.state())
		}
	}
	if w.table.Stats().Assumed == 0 {
		t.Error("no assumption counted")
	}
}
