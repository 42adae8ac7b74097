package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verdict/capture"
	"verdict/packet"
	"verdict/packet/build"
)

const leavingHost = `{
  "interfaces": [
    {"name": "lan0", "mac": "02:00:00:00:01:01", "addresses": ["10.0.0.1/24"]},
    {"name": "wan0", "mac": "02:00:00:00:02:01", "mtu": 600, "addresses": ["203.0.113.1/24"]}
  ],
  "routes": [{"dst": "default", "gateway": "203.0.113.2", "dev": "wan0"}],
  "neighbours": [
    {"dst": "10.0.0.2", "dev": "lan0", "mac": "02:00:00:00:01:02"},
    {"dst": "10.0.0.3", "dev": "lan0", "mac": "02:00:00:00:01:03"},
    {"dst": "203.0.113.2", "dev": "wan0", "mac": "02:00:00:00:02:02"}
  ]
}`

const leavingRules = `
table ip nat {
	chain prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		iifname "wan0" tcp dport 8080 dnat to 10.0.0.3:80
	}
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		oifname "wan0" masquerade
	}
}
table ip filter {
	chain forward {
		type filter hook forward priority filter; policy accept;
		ip dscp set cs1
		tcp dport 25 reject with tcp reset
		udp dport 25 reject with icmp admin-prohibited
		udp dport 514 dup to 10.0.0.3 device "lan0"
		udp dport 9 drop
	}
}`

const (
	fromLAN = "iifname lan0 ether saddr 02:00:00:00:01:02 ether daddr 02:00:00:00:01:01 ip saddr 10.0.0.2 "
	fromWAN = "iifname wan0 ether saddr 02:00:00:00:02:02 ether daddr 02:00:00:00:02:01 ip saddr 198.51.100.7 "
)

var leavingPackets = []string{
	fromWAN + "ip daddr 203.0.113.1 tcp sport 4000 tcp dport 8080 tcp flags syn",
	fromLAN + "ip daddr 8.8.8.8 udp sport 5000 udp dport 53",
	fromLAN + "ip daddr 8.8.8.8 tcp sport 5001 tcp dport 25 tcp flags syn",
	fromLAN + "ip daddr 8.8.8.8 udp sport 5002 udp dport 25",
	fromLAN + "ip daddr 8.8.8.8 udp sport 5003 udp dport 514",
	fromLAN + "ip daddr 10.0.0.1 icmp type echo-request icmp id 7",
	fromLAN + "ip daddr 8.8.8.8 udp sport 5004 udp dport 9",
	fromLAN + "ip daddr 8.8.8.8 udp sport 5005 udp dport 53 ip frag-off 0x0000 payload length 1000",
	fromWAN + "ip daddr 10.0.0.9 udp sport 1 udp dport 2",
}

// leavingFiles writes host, rules and capture to a folder of their own.
func leavingFiles(t *testing.T) (host, rules, packets string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var file bytes.Buffer
	sink := capture.NewPcapngSink(&file)
	for i, text := range leavingPackets {
		p, err := build.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f := capture.Frame{Data: p.Data, OrigLen: len(p.Data), LinkType: 1, HasTime: true, Time: 1e18 + int64(i)*1e6, InterfaceName: p.Meta.IIF.Name.String(), Direction: capture.Inbound}
		if err := sink.Write(&f); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return write("host.json", leavingHost), write("rules.nft", leavingRules), write("in.pcapng", file.String())
}

// written lists a capture's frames, one line each.
func written(t *testing.T, name string) (list []string) {
	t.Helper()
	r, err := capture.Open(name, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var f capture.Frame
	for {
		if err := r.Next(&f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		var v packet.View
		v.Decode(packet.LinkEthernet, f.Data, f.OrigLen)
		if v.OrigLen != f.OrigLen {
			t.Errorf("%d bytes on the wire, want %d", f.OrigLen, v.OrigLen)
		}
		ttl, _ := v.Load8(v.NetOff + 8)
		text := fmt.Sprintf("%s %s %x ttl %d %s", f.InterfaceName, f.Direction, f.Data[:6], ttl, build.Summary(&v))
		if ok, result := v.VerifyTransport(); result == packet.OK && !ok {
			text += " with a wrong checksum"
		}
		list = append(list, text+" # "+f.Comment)
	}
	if len(r.Interfaces()) > 2 {
		t.Errorf("%d interfaces, want one for each name", len(r.Interfaces()))
	}
	return list
}

// TestWriteAsItLeaves compares what -w writes with and without the host's own
// packets.
func TestWriteAsItLeaves(t *testing.T) {
	host, rules, packets := leavingFiles(t)
	before, err := os.ReadFile(packets)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		flags []string
		want  []string
	}{
		{"alone", nil, []string{
			"lan0 outbound 020000000201 ttl 63 IP 198.51.100.7.4000 > 10.0.0.3.80: tcp S len 0 # verdict: accept, policy of ip nat postrouting",
			"wan0 outbound 020000000101 ttl 63 IP 203.0.113.1.5000 > 8.8.8.8.53: udp len 0 # verdict: accept, ip nat postrouting handle 4",
			"wan0 outbound 020000000101 ttl 63 IP 203.0.113.1.5003 > 8.8.8.8.514: udp len 0 # verdict: accept, ip nat postrouting handle 4",
			"lan0 inbound 020000000101 ttl 64 IP 10.0.0.2 > 10.0.0.1: icmp echo-request id 7 seq 0 len 8 # verdict: accept, policy of ip nat prerouting",
			"wan0 outbound 020000000101 ttl 63 IP 203.0.113.1.5005 > 8.8.8.8.53: udp len 1000 # verdict: accept, ip nat postrouting handle 4",
			"lan0 outbound 020000000201 ttl 63 IP 198.51.100.7.1 > 10.0.0.9.2: udp len 0 # verdict: accept, policy of ip nat postrouting",
		}},
		{"with replies", []string{"--replies"}, []string{
			"lan0 outbound 020000000103 ttl 63 IP 198.51.100.7.4000 > 10.0.0.3.80: tcp S len 0 # verdict: accept, policy of ip nat postrouting",
			"wan0 outbound 020000000202 ttl 63 IP 203.0.113.1.5000 > 8.8.8.8.53: udp len 0 # verdict: accept, ip nat postrouting handle 4",
			"lan0 outbound 020000000102 ttl 64 IP 8.8.8.8.25 > 10.0.0.2.5001: tcp R. len 0 # reject, because of packet 3 (drop, ip filter forward handle 3)",
			"lan0 outbound 020000000102 ttl 64 IP 10.0.0.1 > 10.0.0.2: icmp destination-unreachable code 13 len 36 # reject, because of packet 4 (drop, ip filter forward handle 4)",
			"lan0 outbound 020000000103 ttl 63 IP 10.0.0.2.5003 > 8.8.8.8.514: udp len 0 # clone, because of packet 5 (accept, ip nat postrouting handle 4)",
			"wan0 outbound 020000000202 ttl 63 IP 203.0.113.1.5003 > 8.8.8.8.514: udp len 0 # verdict: accept, ip nat postrouting handle 4",
			"lan0 inbound 020000000101 ttl 64 IP 10.0.0.2 > 10.0.0.1: icmp echo-request id 7 seq 0 len 8 # verdict: accept, policy of ip nat prerouting",
			"lan0 outbound 020000000102 ttl 64 IP 10.0.0.1 > 10.0.0.2: icmp echo-reply id 7 seq 0 len 8 # reply, because of packet 6 (accept, policy of ip nat prerouting)",
			"wan0 outbound 020000000202 ttl 63 IP 203.0.113.1.5005 > 8.8.8.8.53: udp len 568 frag 0+ # fragment, because of packet 8 (accept, ip nat postrouting handle 4)",
			"wan0 outbound 020000000202 ttl 63 IP 203.0.113.1 > 8.8.8.8: udp len 432 frag 576 # fragment, because of packet 8 (accept, ip nat postrouting handle 4)",
			"lan0 outbound 020000000201 ttl 63 IP 198.51.100.7.1 > 10.0.0.9.2: udp len 0 # verdict: accept, the hardware address of the next hop is not known",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.pcapng")
			var report, errs strings.Builder
			args := append([]string{"verdict", "run", "--host", host, "-w", out}, tt.flags...)
			if status := Run(append(args, rules, packets), &Streams{Out: &report, Err: &errs}); status != 0 {
				t.Fatalf("status %d: %s", status, errs.String())
			}
			if got := written(t, out); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
	if after, err := os.ReadFile(packets); err != nil || !bytes.Equal(before, after) {
		t.Error("the capture that was read is another now")
	}
}

// TestBorrowedFramesStay runs frames whose bytes belong to the source.
func TestBorrowedFramesStay(t *testing.T) {
	host, rules, packets := leavingFiles(t)
	data, err := os.ReadFile(packets)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(data)
	c := &runCommand{s: &Streams{Out: io.Discard, Err: io.Discard}, rules: rulesFlags{hostFile: host}, packets: runFlags{replies: true, engine: "auto"}, accepted: "x"}
	loaded, err := c.rules.load(c.s, rules)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.prepare(loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := capture.NewBytesReader(data, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var f capture.Frame
	var kept bytes.Buffer
	r.accepted = capture.NewPcapngSink(&kept)
	for n := 0; ; n++ {
		if err := src.Next(&f); errors.Is(err, io.EOF) {
			if n != len(leavingPackets) {
				t.Errorf("%d frames, want %d", n, len(leavingPackets))
			}
			break
		} else if err != nil {
			t.Fatal(err)
		}
		in := r.input(&f)
		out := r.engine.EvaluateInput(&in)
		if err := r.account(&f, &out.Outcome); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, before) {
			t.Fatalf("frame %d changed the capture", n)
		}
	}
	if r.made[0] == 0 {
		t.Error("no packet was rejected")
	}
}
