package iptables

import (
	"fmt"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/diag"
	"verdict/host"
	"verdict/packet"
	"verdict/packet/build"
	"verdict/packet/rewrite"
)

// lab runs packets written as text through the first built-in chain of a file.
type lab struct {
	machine *Machine
	base    *Base
	packet  Packet
	view    packet.View
	meta    packet.Meta
	ct      conntrack.Attachment
	buffer  rewrite.Buffer
}

func newLab(t testing.TB, text string) *lab {
	t.Helper()
	file, found := Parse(diag.NewSource("test", []byte(text)), Options{})
	if found.HasErrors() {
		t.Fatal(found.Err())
	}
	if found := Check(file); found.HasErrors() {
		t.Fatal(found.Err())
	}
	p, err := Compile(file.Tables)
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{machine: NewMachine(p, 1), base: p.Bases[0]}
	l.machine.Host, l.machine.Conns = h, conntrack.NewTable(conntrack.Config{})
	l.packet = Packet{View: &l.view, Meta: &l.meta, CT: &l.ct, Family: file.Family, Hook: l.base.Hook, Rewriter: &l.buffer}
	return l
}

func (l *lab) load(t testing.TB, text string) {
	t.Helper()
	p, err := build.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l.view.Decode(p.Link, p.Data, len(p.Data))
	l.meta = p.Meta
	l.ct.Reset()
	l.buffer.Start()
	l.packet.Length = l.view.NetLen
}

func (l *lab) run() Verdict {
	var v Verdict
	l.machine.Run(l.base, &l.packet, &v)
	return v
}

// TestVerdicts has one rule, a packet, and whether the rule matches.
func TestVerdicts(t *testing.T) {
	tests := []struct {
		rule, packet string
		match        bool
	}{
		{"-s 10.0.0.0/8", "ip saddr 10.1.2.3", true},
		{"! -s 10.0.0.0/8", "ip saddr 10.1.2.3", false},
		{"-s 10.0.12.0/255.0.255.0", "ip saddr 10.77.12.9", true},
		{"-s 10.0.12.0/255.0.255.0", "ip saddr 10.77.13.0", false},
		{"-i eth+", "iifname eth7", true},
		{"! -i eth+", "iifname eth7", false},
		{"! -i +", "iifname eth7", false},
		{"-p tcp --dport 22", "tcp dport 22", true},
		{"-p tcp ! --dport 22", "tcp dport 22", false},
		{"-p tcp --dport 22", "udp dport 22", false},
		{"-p tcp --syn", "tcp dport 22 tcp flags syn", true},
		{"-p tcp --syn", "tcp dport 22 tcp flags syn,ack", false},
		{"-p tcp -m multiport --ports 22,80:90", "tcp sport 85 tcp dport 1", true},
		{"-p tcp -m multiport ! --ports 22,80:90", "tcp sport 85 tcp dport 1", false},
		{"-p icmp --icmp-type echo-request", "icmp type echo-request", true},
		{"-p icmp ! --icmp-type any", "icmp type echo-request", false},
		{"-m mark --mark 0x10/0xf0", "meta mark 0x1f tcp dport 1", true},
		{"-m iprange --src-range 10.0.0.1-10.0.0.9", "ip saddr 10.0.0.9", true},
		{"-m iprange ! --src-range 10.0.0.9-10.0.0.1", "ip saddr 10.0.0.9", true},
		{"-m length --length 28", "udp dport 1", true},
		{"-m ttl --ttl-lt 65", "ip ttl 64 udp dport 1", true},
		{"-m u32 --u32 \"6&0xFF=17\"", "udp dport 1", true},
		{"-m u32 ! --u32 500=1", "udp dport 1", true},
		{"-m state --state INVALID", "udp dport 1", true},
		{"-m conntrack ! --ctstate NEW --ctproto udp", "udp dport 1", true},
		{"-m conntrack --ctproto udp", "udp dport 1", false},
		{"-m connmark ! --mark 1", "udp dport 1", false},
		{"-m nfacct --nfacct-name x", "udp dport 1", true},
	}
	for _, test := range tests {
		l := newLab(t, fmt.Sprintf("*filter\n:INPUT ACCEPT\n-A INPUT %s -j DROP\nCOMMIT\n", test.rule))
		l.load(t, test.packet)
		if got := l.run(); (got.Kind == catalog.VerdictDrop) != test.match {
			t.Errorf("%s on %s: matches %t, want %t", test.rule, test.packet, !test.match, test.match)
		}
	}
}

// TestJumps follows jumps, goto and returns: the marks say which rules ran.
func TestJumps(t *testing.T) {
	l := newLab(t, `*filter
:INPUT DROP
:a -
:b -
-A INPUT -j a
-A INPUT -m mark --mark 0x5 -j ACCEPT
-A a -j MARK --or-mark 1
-A a -g b
-A a -j MARK --or-mark 2
-A b -j MARK --or-mark 4
-A b -j RETURN
COMMIT
`)
	l.load(t, "udp dport 1")
	if v := l.run(); v.Kind != catalog.VerdictAccept || v.Policy || l.meta.Mark != 5 {
		t.Errorf("verdict %+v, mark %#x", v, l.meta.Mark)
	}
}

// TestMeasured repeats the measured examples of rates: six packets within a few
// milliseconds.
func TestMeasured(t *testing.T) {
	for rule, want := range map[string]uint64{
		"-m statistic --mode nth --every 3 --packet 0":                                 2,
		"-m statistic --mode nth ! --every 3 --packet 0":                               4,
		"-m limit --limit 1/min --limit-burst 3":                                       3,
		"-m limit --limit 1/sec --limit-burst 1":                                       1,
		"-m hashlimit --hashlimit-upto 1/min --hashlimit-burst 2 --hashlimit-name a":   2,
		"-m hashlimit --hashlimit-above 1/min --hashlimit-burst 2 --hashlimit-name a":  4,
		"-m hashlimit --hashlimit-upto 64b/s --hashlimit-name a":                       2,
		"-m hashlimit --hashlimit-upto 1kb/s --hashlimit-burst 1kb --hashlimit-name a": 6,
		"-m quota --quota 65":                               2,
		"-m quota ! --quota 65":                             4,
		"-m recent --update --seconds 60 --hitcount 2":      0,
		"-m recent --set --rdest":                           6,
		"-m string --string hi --algo bm --from 28 --to 30": 6,
		"-m string --string hi --algo bm --to 29":           0,
		"-m string --string HI --icase --algo kmp":          6,
		"-m string ! --string zz --algo kmp":                6,
	} {
		l := newLab(t, fmt.Sprintf("*filter\n:OUTPUT ACCEPT\n-A OUTPUT -p udp %s\nCOMMIT\n", rule))
		for n := range 6 {
			l.machine.Now = int64(n) * 500_000
			l.load(t, `ip saddr 127.0.0.1 ip daddr 127.0.0.1 udp dport 9 payload "hi"`)
			l.run()
		}
		if got := l.machine.Counter(0).Packets; got != want {
			t.Errorf("%s: %d packets, want %d", rule, got, want)
		}
	}
}

// TestHeaderAgrees compares the fused header test with the plain one.
func TestHeaderAgrees(t *testing.T) {
	names := []string{"eth0", "eth1", "lo", ""}
	rapid.Check(t, func(r *rapid.T) {
		network := func(label string) Network {
			var a, m [4]byte
			for i := range a {
				m[i] = rapid.SampledFrom([]byte{0, 0xff, 0xf0, 0x0f}).Draw(r, label)
				a[i] = rapid.SampledFrom([]byte{1, 2, 0x21}).Draw(r, label) & m[i]
			}
			return Network{netip.AddrFrom4(a), netip.AddrFrom4(m), rapid.Bool().Draw(r, label)}
		}
		iface := func(label string) Interface {
			return Interface{rapid.SampledFrom([]string{"", "eth", "eth0", "lo"}).Draw(r, label), rapid.Bool().Draw(r, label), rapid.Bool().Draw(r, label)}
		}
		h := Header{Source: network("source"), Destination: network("destination"), In: iface("in"), Out: iface("out"),
			Protocol: rapid.SampledFrom([]uint8{0, 6, 17}).Draw(r, "protocol")}
		h.NotProtocol = h.Protocol != 0 && rapid.Bool().Draw(r, "not protocol")
		table := &Table{Family: catalog.FamilyIP, Name: "filter", Chains: []*Chain{{Name: "FORWARD", Policy: PolicyAccept, Hook: catalog.HookForward,
			Rules: []*Rule{{Header: h, Target: verdicts[1]}}}}}
		program, err := Compile([]*Table{table})
		if err != nil {
			r.Fatal(err)
		}
		l := &lab{machine: NewMachine(program, 1), base: program.Bases[0]}
		l.packet = Packet{View: &l.view, Meta: &l.meta, CT: &l.ct, Family: catalog.FamilyIP, Hook: catalog.HookForward}
		octets := rapid.SampledFrom([]int{1, 2, 33})
		l.load(t, fmt.Sprintf("ip saddr %d.%d.%d.%d ip daddr %d.%d.%d.%d %s dport 5", octets.Draw(r, "o"), octets.Draw(r, "o"), octets.Draw(r, "o"), octets.Draw(r, "o"),
			octets.Draw(r, "o"), octets.Draw(r, "o"), octets.Draw(r, "o"), octets.Draw(r, "o"), rapid.SampledFrom([]string{"tcp", "udp"}).Draw(r, "transport")))
		l.meta.IIF.Name, l.meta.OIF.Name = packet.MakeName(rapid.SampledFrom(names).Draw(r, "iif")), packet.MakeName(rapid.SampledFrom(names).Draw(r, "oif"))
		got := l.run().Kind == catalog.VerdictDrop
		if want := l.machine.holds(&h); got != want {
			r.Fatalf("%s: fused %t, plain %t", h.appendSave(nil), got, want)
		}
	})
}

func TestRunDoesNotAllocate(t *testing.T) {
	l := newLab(t, `*filter
:INPUT DROP
:a -
-A INPUT -s 10.0.0.0/8 -p tcp -m tcp --dport 22 -j a
-A INPUT -p udp -m multiport --dports 1,2 -m conntrack --ctstate NEW -j DROP
-A INPUT -m limit --limit 5/s -j LOG
-A a -m mark --mark 1 -j RETURN
COMMIT
`)
	l.load(t, "ip saddr 10.0.0.1 tcp dport 22")
	l.run()
	if n := testing.AllocsPerRun(100, func() { l.run() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRules is patch set D's case: rules of which none matches.
func BenchmarkRules(b *testing.B) {
	text := "*filter\n:INPUT ACCEPT\n"
	for range 10000 {
		text += "-A INPUT ! -s 10.0.0.0/10 -j DROP\n"
	}
	l := newLab(b, text+"COMMIT\n")
	l.load(b, "ip saddr 10.0.0.1 udp dport 1")
	for b.Loop() {
		l.run()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10000, "ns/rule")
}
