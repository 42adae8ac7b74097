package goals

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"verdict/capture"
	"verdict/internal/kernel"
	"verdict/internal/testdata"
)

// stateful has what real firewalls have: connection states, a set that packets
// fill, counters, and translation of what leaves and comes in.
const stateful = `
table inet filter {
	counter invalid {
	}
	set talkers {
		type ipv4_addr
		size 65535
		flags dynamic
		counter
	}
	chain forward {
		type filter hook forward priority 0; policy accept;
		ct state vmap { established : goto known, related : goto known, invalid : goto broken }
		ct state new add @talkers { ip saddr }
		meta l4proto vmap { tcp : jump tcp_new, udp : jump udp_new }
		icmp type echo-request counter accept
		counter
	}
	chain known {
		ct direction original counter accept
		ct status assured counter accept
		counter accept
	}
	chain broken {
		counter name "invalid" meta l4proto tcp tcp flags & (syn | ack) == ack accept
		drop
	}
	chain tcp_new {
		tcp flags & (fin | syn | rst | ack) != syn counter drop
		tcp dport { 22, 80, 443, 8080 } counter accept
		tcp dport 1-1023 counter reject with tcp reset
	}
	chain udp_new {
		udp dport 53 counter accept
		udp dport 137-138 counter reject
		udp length > 1000 counter
	}
	chain input {
		type filter hook input priority 0; policy accept;
		ct state invalid counter drop
		ct state established,related counter accept
		counter
	}
	chain output {
		type filter hook output priority 0; policy accept;
		ct state related counter
	}
}
table ip nat {
	chain prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		iifname "lan0" udp dport 53 counter dnat to 198.51.100.53
		iifname "wan0" tcp dport { 80, 443 } counter dnat to 192.168.1.8:8080
	}
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		iifname "lan0" oifname "wan0" counter masquerade
	}
}
`

// TestGoal4Captures replays the captures of the corpus through one stateful
// ruleset in the kernel and in the engine, and compares each packet's rules and
// frames, and in the end counters, sets and connections.
func TestGoal4Captures(t *testing.T) {
	if err := kernel.Available(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "corpus/pcap"), "*.pcap*"))
	if err != nil {
		t.Fatal(err)
	}
	most := 150
	if os.Getenv("VERDICT_GOALS") != "" {
		most = 5000
	}
	replayed, agree, early, packets := 0, 0, 0, 0
	err = kernel.InNamespace(func() error {
		lab, err := kernel.OpenLab()
		if err != nil {
			return err
		}
		defer lab.Close()
		for _, file := range files {
			c := &kernel.Case{Ruleset: stateful, Packets: injections(t, file, most)}
			if len(c.Packets) == 0 {
				continue
			}
			r, err := lab.Compare(c)
			if err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(file), err)
			}
			replayed++
			packets += r.Compared
			switch {
			case len(r.Differences) > 0:
				t.Errorf("%s: %d differences, the first: %s", filepath.Base(file), len(r.Differences), r.Differences[0])
			case r.Free:
				early++
				agree++
				t.Logf("%s: the same up to packet %d of %d, whose port NAT draws at random", filepath.Base(file), r.Compared, len(c.Packets))
			default:
				agree++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d packets; of %d captures only the packets before a random port were compared", packets, early)
	goal(t, agree == replayed && agree-early >= 50, "captures whose replay leaves the same in kernel and engine", fmt.Sprintf("%d of %d", agree, replayed), "all, at least 50 of them to their end")
}

// injections reads the frames of a capture that the lab can replay.
func injections(t *testing.T, file string, most int) (list []kernel.Injection) {
	t.Helper()
	r, err := capture.Open(file, capture.Options{})
	if err != nil {
		return nil
	}
	defer r.Close()
	var f capture.Frame
	for len(list) < most {
		err := r.Next(&f)
		var broken *capture.FormatError
		if errors.Is(err, io.EOF) || errors.As(err, &broken) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := kernel.Replayable(&f); ok {
			list = append(list, p)
		}
	}
	return list
}
