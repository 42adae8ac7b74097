package goals

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verdict/internal/kernel"
	"verdict/internal/testdata"
	"verdict/packet"
	"verdict/packet/build"
)

// passage is a packet and what leaves of it; a packet without text answers what
// left last.
type passage struct{ what, in, text, leaves string }

// TestGoal4Services takes service connections through rulesets that programs
// wrote, in kernel and engine at once: byte for byte the same, and what they
// should be. The lab's interfaces stand for those of the programs' hosts.
func TestGoal4Services(t *testing.T) {
	if err := kernel.Available(); err != nil {
		testdata.Missing(t, "oracle", err.Error())
	}
	for _, tt := range []struct {
		name, file string
		replace    []string
		passages   []passage
	}{
		{"kube-proxy", "corpus/nft/tool-output/kube-proxy-01.nft",
			// The port that masquerade draws is another in the kernel: kept, it can be compared.
			[]string{"masquerade fully-random", "masquerade"}, []passage{
				{"service", "lan0", "ip saddr 10.0.0.5 ip daddr 172.30.0.41 tcp sport 4000 tcp dport 80 tcp flags syn", "wan0 10.0.0.5.4000 > 10.180.0.1.80"},
				{"its reply", "", "", "lan0 172.30.0.41.80 > 10.0.0.5.4000"},
				{"from outside, masqueraded", "wan0", "ip saddr 198.51.100.7 ip daddr 172.30.0.42 tcp sport 4001 tcp dport 80 tcp flags syn", "wan0 203.0.113.1.4001 > 10.180.0.2.80"},
				{"its reply", "", "", "wan0 172.30.0.42.80 > 198.51.100.7.4001"},
				{"hairpin", "lan0", "ip saddr 10.180.0.3 ip daddr 172.30.0.43 tcp sport 4002 tcp dport 80 tcp flags syn", "wan0 203.0.113.1.4002 > 10.180.0.3.80"},
				{"its reply", "", "", "wan0 172.30.0.43.80 > 10.180.0.3.4002"},
				{"no such port of a service", "lan0", "ip saddr 10.0.0.5 ip daddr 172.30.0.41 udp sport 4003 udp dport 81", "lan0 10.0.0.1 > 10.0.0.5"},
			}},
		{"docker", "corpus/iptables/docker-save-01.translate", []string{`"docker0"`, `"lan0"`}, []passage{
			{"published port", "wan0", "ip saddr 198.51.100.7 ip daddr 203.0.113.1 tcp sport 4000 tcp dport 8080 tcp flags syn", "lan0 198.51.100.7.4000 > 172.17.0.2.80"},
			{"its reply", "", "", "wan0 203.0.113.1.8080 > 198.51.100.7.4000"},
			{"container to the world, masqueraded", "lan0", "ip saddr 172.17.0.5 ip daddr 192.0.2.9 udp sport 4001 udp dport 53", "wan0 203.0.113.1.4001 > 192.0.2.9.53"},
			{"its reply", "", "", "lan0 192.0.2.9.53 > 172.17.0.5.4001"},
		}},
	} {
		text, err := os.ReadFile(testdata.Path(t, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		c := &kernel.Case{Ruleset: strings.NewReplacer(tt.replace...).Replace(string(text))}
		for _, p := range tt.passages {
			c.Packets = append(c.Packets, injection(t, p))
		}
		var r *kernel.Result
		err = kernel.InNamespace(func() error {
			lab, err := kernel.OpenLab()
			if err != nil {
				return err
			}
			defer lab.Close()
			r, err = lab.Compare(c)
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(tt.file), err)
		}
		for _, d := range r.Differences {
			t.Errorf("%s: %s", tt.name, d)
		}
		right := 0
		for n, p := range tt.passages {
			if n < len(r.Left) && leaving(r.Left[n]) == p.leaves {
				right++
				continue
			}
			t.Errorf("%s: %s: packet %d of %d leaves as %q, want %q", tt.name, p.what, n+1, r.Compared, leaving(r.Left[min(n, len(r.Left)-1)]), p.leaves)
		}
		goal(t, len(r.Differences) == 0 && right == len(tt.passages), tt.name+": packets of connections that come out as in the kernel, byte for byte", fmt.Sprintf("%d of %d", right, len(tt.passages)), "all")
	}
}

// injection is a passage's packet, sent by a station to the lab's router.
func injection(t *testing.T, p passage) kernel.Injection {
	t.Helper()
	if p.text == "" {
		return kernel.Injection{Interface: "lan0", Answers: true}
	}
	last := map[string]int{"lan0": 1, "wan0": 2}[p.in]
	built, err := build.Parse(fmt.Sprintf("ether saddr 02:00:00:00:%02x:02 ether daddr 02:00:00:00:%02x:01 %s", last, last, p.text))
	if err != nil {
		t.Fatal(err)
	}
	return kernel.Injection{Interface: p.in, Data: built.Data}
}

// leaving says in short where frames go.
func leaving(frames []kernel.Frame) string {
	var list []string
	for _, f := range frames {
		var v packet.View
		v.Decode(packet.LinkEthernet, f.Data, len(f.Data))
		_, text, _ := strings.Cut(build.Summary(&v), " ")
		text, _, _ = strings.Cut(text, ":")
		list = append(list, f.Interface+" "+text)
	}
	return strings.Join(list, ", ")
}
