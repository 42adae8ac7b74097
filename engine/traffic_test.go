package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verdict"
	"verdict/diag"
	"verdict/engine"
	"verdict/host"
	"verdict/offload"
	"verdict/packet/build"
	"verdict/tc"
)

// trafficWorld makes an engine of rules and tc commands; eth0 has hardware.
func trafficWorld(t testing.TB, rules, commands string) *verdict.Engine {
	t.Helper()
	loaded, findings := verdict.LoadSources(verdict.LoadOptions{}, diag.NewSource("r", []byte(rules)))
	if findings.Errors() > 0 {
		t.Fatal(findings)
	}
	m, err := offload.ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	s := tc.New(tc.Config{AssumeDevices: true})
	s.AddDevice(tc.Device{Name: "eth0", Hardware: offload.NewDevice(m)})
	if o := s.Batch("-", strings.NewReader(commands), tc.Options{}); o.Status != 0 {
		t.Fatal(o.Stderr)
	}
	e, err := loaded.NewEngine(verdict.EngineOptions{TC: s})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// way tells a packet's hooks, fate and what left on one line.
func way(o *verdict.Outcome) string {
	var b strings.Builder
	for _, h := range o.Hooks {
		if h.Traffic != engine.NoTraffic && h.Ran {
			fmt.Fprintf(&b, "%s ", h.Traffic)
		} else if h.Ran {
			fmt.Fprintf(&b, "nft%d ", h.Hook)
		}
	}
	b.WriteString(o.String())
	for _, f := range o.Sent {
		fmt.Fprintf(&b, "; %s to %s %x", f.Kind, f.Device, f.Data[12:14])
	}
	for _, m := range o.Made {
		fmt.Fprintf(&b, "; %s: %s %s", m.Kind, m.Fate, m.Reason)
	}
	return b.String()
}

const (
	forwarded = "iifname eth0 oifname eth1 ip saddr 10.0.0.1 ip daddr 10.0.0.2 "
	clsact    = "qdisc add dev eth0 clsact\nqdisc add dev eth1 clsact\n"
	forward   = "table ip f { chain c { type filter hook forward priority 0; meta mark 9 drop; accept; }; }"
)

// TestTrafficWays tells where packets go that meet tc and nft.
func TestTrafficWays(t *testing.T) {
	for _, c := range []struct{ name, commands, rules, packet, want string }{
		{"no filters", clsact, forward, forwarded + "udp dport 53", "nft2 accept by c#2"},
		{"dropped at ingress", clsact + "filter add dev eth0 ingress matchall skip_hw action drop", forward, forwarded + "udp dport 53",
			"ingress drop: tc ingress of eth0: matchall chain 0 pref 49152 handle 0x1 drops it"},
		{"mark for nft", clsact + "filter add dev eth0 ingress matchall skip_hw action skbedit mark 9 pipe", forward, forwarded + "udp dport 53", "ingress nft2 drop by c#1"},
		{"priority for nft", clsact + "filter add dev eth0 ingress matchall skip_hw action skbedit priority 1:2 pipe",
			"table ip f { chain c { type filter hook prerouting priority 0; meta priority 1:2 drop; }; }", forwarded + "udp dport 53", "ingress nft0 drop by c#1"},
		{"mark from nft", clsact + "filter add dev eth1 egress handle 5 fw action drop",
			"table ip f { chain c { type filter hook postrouting priority 0; meta mark set 5; }; }", forwarded + "udp dport 53",
			"nft4 egress drop: tc egress of eth1: fw chain 0 pref 49152 handle 0x5 drops it"},
		{"class from ingress", clsact + "filter add dev eth0 ingress matchall skip_hw classid 1:7\nfilter add dev eth1 egress basic match 'meta(tc_index eq 7)' action drop", forward, forwarded + "udp dport 53",
			"ingress nft2 egress drop: tc egress of eth1: basic chain 0 pref 49152 handle 0x1 drops it"},
		{"fall-through and goto", clsact + "filter add dev eth0 ingress pref 1 matchall skip_hw action goto chain 4\nfilter add dev eth0 ingress chain 4 matchall skip_hw action skbedit mark 9 continue", forward, forwarded + "udp dport 53",
			"ingress nft2 drop by c#1"},
		{"goto without filters", clsact + "filter add dev eth0 ingress pref 1 matchall skip_hw action goto chain 4", forward, forwarded + "udp dport 53", "ingress nft2 accept by c#2"},
		{"nft never asked for what tc traps", clsact + "filter add dev eth0 ingress matchall skip_hw action trap", forward, forwarded + "udp dport 53",
			"ingress stolen: tc ingress of eth0: matchall chain 0 pref 49152 handle 0x1 traps it"},
		{"dropped by hardware", clsact + "filter add dev eth0 ingress protocol ip flower skip_sw ip_proto udp action drop", forward, forwarded + "udp dport 53",
			"hardware drop: hardware of eth0: flower chain 0 pref 49152 handle 0x1 drops it"},
		{"sent on by hardware, with a tag", clsact + "filter add dev eth0 ingress protocol ip flower skip_sw ip_proto udp action vlan push id 5 action mirred egress redirect dev eth1", forward, forwarded + "udp dport 53",
			"hardware stolen: hardware of eth0: flower chain 0 pref 49152 handle 0x1 sends it elsewhere; forward to eth1 8100"},
		{"trapped by hardware", clsact + "filter add dev eth0 ingress protocol ip flower skip_sw ip_proto udp action trap", forward, forwarded + "udp dport 53", "hardware nft2 accept by c#2"},
		{"trapped, software drops", clsact + "filter add dev eth0 ingress protocol ip pref 1 flower skip_sw ip_proto udp action trap\nfilter add dev eth0 ingress pref 2 matchall skip_hw action drop", forward, forwarded + "udp dport 53",
			"hardware ingress drop: tc ingress of eth0: matchall chain 0 pref 2 handle 0x1 drops it"},
		{"resumed at a chain", clsact + "filter add dev eth0 ingress protocol ip flower ip_proto udp action skbedit mark 7 action goto chain 2\nfilter add dev eth0 ingress chain 2 protocol ip flower skip_hw ip_proto udp action skbedit mark 9 pipe", forward, forwarded + "udp dport 53",
			"hardware ingress nft2 drop by c#1"},
		{"mark of hardware alone", clsact + "filter add dev eth0 ingress protocol ip flower skip_sw ip_proto udp action skbedit mark 9 action goto chain 2", forward, forwarded + "udp dport 53", "hardware nft2 drop by c#1"},
		{"the rest resumes", clsact + "filter add dev eth0 ingress protocol ip flower skip_sw ip_proto udp action goto chain 2\nfilter add dev eth0 ingress chain 2 matchall skip_hw action drop", forward, forwarded + "udp dport 53",
			"hardware ingress drop: tc ingress of eth0: matchall chain 2 pref 49152 handle 0x1 drops it"},
		{"redirected to another device's ingress", clsact + "filter add dev eth0 ingress matchall skip_hw action mirred ingress redirect dev eth2",
			"table netdev n { chain c { type filter hook ingress device eth2 priority 0; udp dport 53 drop; }; }", forwarded + "udp dport 53",
			"ingress stolen: tc ingress of eth0: matchall chain 0 pref 49152 handle 0x1 sends it elsewhere; forward: drop "},
		{"copied out, past netfilter's egress", clsact + "filter add dev eth0 ingress matchall skip_hw action mirred egress mirror dev eth1",
			"table netdev n { chain c { type filter hook egress device eth1 priority 0; drop; }; }", forwarded + "udp dport 53",
			"ingress nft1 drop by c#1; clone to eth1 0800"},
		{"tag taken off before nft", "qdisc add dev eth1 clsact\nfilter add dev eth1 ingress protocol 802.1q matchall action vlan pop",
			"table netdev n { chain c { type filter hook ingress device eth1 priority 0; vlan id 5 drop; }; }", "iifname eth1 vlan id 5 ip daddr 10.0.0.2 udp dport 53", "ingress nft0 accept by policy of c"},
		{"tag stays", "qdisc add dev eth1 clsact\nfilter add dev eth1 ingress protocol ip matchall action vlan pop",
			"table netdev n { chain c { type filter hook ingress device eth1 priority 0; vlan id 5 drop; }; }", "iifname eth1 vlan id 5 ip daddr 10.0.0.2 udp dport 53", "ingress nft0 drop by c#1"},
		{"the host's own", clsact + "filter add dev eth1 egress matchall action drop",
			"table ip f { chain c { type filter hook output priority 0; accept; }; }", "oifname eth1 ip daddr 10.0.0.2 udp dport 53",
			"nft3 egress drop: tc egress of eth1: matchall chain 0 pref 49152 handle 0x1 drops it"},
		{"connection of both", clsact + "filter add dev eth0 ingress protocol ip flower skip_hw ip_proto udp action ct commit mark 4 pipe",
			"table ip f { chain c { type filter hook forward priority 0; ct mark 4 drop; }; }", forwarded + "udp dport 53", "ingress nft2 drop by c#1"},
		{"address changed before routing", clsact + "filter add dev eth0 ingress protocol ip matchall skip_hw action nat ingress 10.0.0.2 10.9.9.9 pipe",
			"table ip f { chain c { type filter hook forward priority 0; ip daddr 10.9.9.9 drop; }; }", forwarded + "udp dport 53", "ingress nft2 drop by c#1"},
		{"unknown stays unknown", clsact + "filter add dev eth0 ingress protocol ip bpf bytecode '1,6 0 0 1'", forward, forwarded + "udp dport 53",
			"ingress unknown: the bytecode of a bpf filter is not run"},
	} {
		e := trafficWorld(t, c.rules, c.commands)
		o, err := e.Evaluate(c.packet)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := way(&o); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestTrafficCut tells packets apart whose capture lacks what filters ask for.
func TestTrafficCut(t *testing.T) {
	for _, c := range []struct {
		filter string
		kept   int
		want   engine.Fate
	}{
		{"protocol ip u32 match ip dport 53 0xffff action drop", 42, engine.Dropped},
		{"protocol ip u32 match ip dport 53 0xffff action drop", 34, engine.Unknown},
		{"protocol ip u32 match ip src 10.0.0.1 action drop", 34, engine.Dropped},
		{"protocol ip matchall action csum udp", 60, engine.Unknown},
	} {
		e := trafficWorld(t, forward, "qdisc add dev eth1 clsact\nfilter add dev eth1 ingress "+c.filter)
		p, err := build.Parse("iifname eth1 ip saddr 10.0.0.1 ip daddr 10.0.0.2 udp dport 53")
		if err != nil {
			t.Fatal(err)
		}
		in := verdict.PacketInput(p)
		in.OrigLen = 100
		in.Data = append(in.Data, make([]byte, 100)...)[:c.kept]
		if o := e.EvaluateInput(&in); o.Fate != c.want {
			t.Errorf("%s, %d bytes: %s, want %s", c.filter, c.kept, &o, c.want)
		}
	}
}

// TestTrafficConnection runs packets of a connection: hardware knows it once both
// sides were seen.
func TestTrafficConnection(t *testing.T) {
	e := trafficWorld(t, forward, clsact+`filter add dev eth0 ingress protocol ip pref 1 flower ip_proto udp ct_state -trk action ct pipe action goto chain 1
filter add dev eth0 ingress chain 1 protocol ip pref 1 flower ip_proto udp ct_state +trk+est action mirred egress redirect dev eth1
filter add dev eth0 ingress chain 1 protocol ip pref 2 flower ip_proto udp ct_state +trk+new action ct commit pipe action mirred egress redirect dev eth1`)
	out := forwarded + "udp sport 1000 udp dport 53"
	back := "iifname eth0 oifname eth1 ip saddr 10.0.0.2 ip daddr 10.0.0.1 udp sport 53 udp dport 1000"
	var got []string
	for _, p := range []string{out, back, out, back, out, back} {
		o, err := e.Evaluate(p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Fields(way(&o))[1])
		e.Advance(3e9)
	}
	if g := strings.Join(got, " "); g != "ingress ingress ingress stolen: stolen: stolen:" {
		t.Errorf("%s", g)
	}
}

func TestTrafficRefusesUppers(t *testing.T) {
	s := tc.New(tc.Config{AssumeDevices: true})
	if o := s.Line("qdisc add dev br0 clsact", tc.Options{}); o.Status != 0 {
		t.Fatal(o.Stderr)
	}
	h, err := host.New(host.Config{Interfaces: []host.Interface{{Name: "br0", Kind: "bridge"}}})
	if err != nil {
		t.Fatal(err)
	}
	loaded, _ := verdict.LoadSources(verdict.LoadOptions{Host: h}, diag.NewSource("r", []byte(forward)))
	_, err = loaded.NewEngine(verdict.EngineOptions{TC: s})
	if err == nil || err.Error() != "tc filters at br0: those of interfaces of kind bridge are not part of a packet's way here" {
		t.Errorf("%v", err)
	}
}

// TestTrafficAllocates nothing for packets that pass filters.
func TestTrafficAllocates(t *testing.T) {
	e := trafficWorld(t, forward, clsact+"filter add dev eth0 ingress protocol ip flower skip_hw ip_proto udp dst_port 7 action drop\nfilter add dev eth1 egress protocol ip flower ip_proto udp action pass")
	p, err := build.Parse(forwarded + "udp dport 53")
	if err != nil {
		t.Fatal(err)
	}
	in := verdict.PacketInput(p)
	var o engine.Outcome
	if n := testing.AllocsPerRun(100, func() { e.Worker().Evaluate(&in, &o) }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
