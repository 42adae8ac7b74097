package verdict_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"verdict"
	"verdict/diag"
	"verdict/host"
	"verdict/nft/ruleset"
	"verdict/offload"
	"verdict/tc"
)

// rowCount counts the rows of a table that are as they should be.
type rowCount struct{ good, all int }

func (n *rowCount) row(t *testing.T, name, got, want string) {
	t.Helper()
	n.all++
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		return
	}
	n.good++
}

// offloading makes a host whose eth0 and eth1 have hardware, and eth2 none.
func offloading(t testing.TB) (verdict.LoadOptions, *tc.System) {
	t.Helper()
	h, err := host.New(host.Config{Interfaces: []host.Interface{{Name: "eth0"}, {Name: "eth1"}, {Name: "eth2"}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := offload.ModelNamed("eswitch-nic")
	if err != nil {
		t.Fatal(err)
	}
	s := tc.New(tc.Config{})
	for _, i := range h.Interfaces() {
		d := tc.Device{Name: i.Name, Index: uint32(i.Index)}
		if i.Name == "eth0" || i.Name == "eth1" {
			d.Hardware = offload.NewDevice(m)
		}
		s.AddDevice(d)
	}
	return verdict.LoadOptions{Host: h, TC: s}, s
}

// inHardware writes the rules that a device holds.
func inHardware(s *tc.System, name string) string {
	var b strings.Builder
	for _, r := range s.Device(name).Hardware.Rules() {
		fmt.Fprintf(&b, "%d: %s → %v\n", r.Priority, &r.Match, r.Actions)
	}
	return strings.TrimSpace(b.String())
}

const offloadHead = "type filter hook ingress device eth0 priority 10; flags offload;"

// TestOffloadRows goes through what the kernel offloads, as rules of an
// offloaded chain, and what it refuses, with the errno of the refusal.
func TestOffloadRows(t *testing.T) {
	var n rowCount
	for _, c := range []struct{ name, rule, want string }{
		{"eth src", "ether saddr 02:00:00:00:00:01 drop", "eth_src 0x020000000001 → [drop]"},
		{"eth dst", "ether daddr 02:00:00:00:00:01 drop", "eth_dst 0x020000000001 → [drop]"},
		{"EtherType", "ether type arp drop", "n_proto 0x0806 → [drop]"},
		{"meta protocol", "meta protocol arp drop", "n_proto 0x0806 → [drop]"},
		{"IPv4 saddr", "ip saddr 10.0.0.1 drop", "n_proto 0x0800, src 0x0a000001 → [drop]"},
		{"IPv4 daddr, prefix by mask", "ip daddr 10.0.0.128/25 drop", "n_proto 0x0800, dst 0x0a000080/0xffffff80 → [drop]"},
		{"IPv4 daddr, prefix by length", "ip daddr 10.0.0.0/24 drop", "n_proto 0x0800, dst 0x0a000000/0xffffff00 → [drop]"},
		{"IPv4 protocol", "ip protocol udp drop", "n_proto 0x0800, ip_proto 0x11 → [drop]"},
		{"IPv6 saddr", "ip6 saddr 2001:db8::1 drop", "n_proto 0x86dd, src 0x20010db8000000000000000000000001 → [drop]"},
		{"IPv6 daddr", "ip6 daddr 2001:db8::/32 drop", "n_proto 0x86dd, dst 0x20010db8000000000000000000000000/0xffffffff000000000000000000000000 → [drop]"},
		{"IPv6 next header", "ip6 nexthdr tcp drop", "n_proto 0x86dd, ip_proto 0x06 → [drop]"},
		{"TCP destination port", "tcp dport 80 accept", "ip_proto 0x06, dst_port 0x0050 → [accept]"},
		{"TCP source port", "tcp sport 80 drop", "ip_proto 0x06, src_port 0x0050 → [drop]"},
		{"UDP destination port", "udp dport 53 drop", "ip_proto 0x11, dst_port 0x0035 → [drop]"},
		{"UDP source port", "udp sport 53 drop", "ip_proto 0x11, src_port 0x0035 → [drop]"},
		{"meta l4proto", "meta l4proto tcp drop", "ip_proto 0x06 → [drop]"},
		{"meta iif", "iif eth1 drop", "ingress_ifindex 0x03000000 → [drop]"},
		{"meta iiftype", "meta iiftype ether drop", "every packet → [drop]"},
		{"VLAN TCI, type rotated", "vlan id 5 drop", "vlan_id 0x0005/0x0fff, vlan_tpid 0x8100 → [drop]"},
		{"VLAN inner type", "vlan id 5 vlan type ip drop", "n_proto 0x0800, vlan_id 0x0005/0x0fff, vlan_tpid 0x8100 → [drop]"},
		{"VLAN and address", "vlan id 5 ip saddr 10.0.0.1 drop", "n_proto 0x0800, src 0x0a000001, vlan_id 0x0005/0x0fff, vlan_tpid 0x8100 → [drop]"},
		{"two tags", "ether type 8021ad vlan id 10 vlan type 8021q vlan id 100 vlan type ip ip saddr 10.0.0.1 drop", "n_proto 0x0800, src 0x0a000001, vlan_id 0x000a/0x0fff, vlan_tpid 0x88a8, cvlan_id 0x0064/0x0fff, cvlan_tpid 0x8100 → [drop]"},
		{"two tags, the inner type open", "ether type 8021ad vlan id 10 vlan type 8021q vlan id 100 drop", "vlan_id 0x000a/0x0fff, vlan_tpid 0x88a8, cvlan_id 0x0064/0x0fff, cvlan_tpid 0x8100 → [drop]"},
		{"counter", "ip saddr 10.0.0.1 counter drop", "n_proto 0x0800, src 0x0a000001 → [drop]"},
		{"accept", "accept", "every packet → [accept]"},
		{"fwd", "fwd to eth1", "every packet → [redirect eth1]"},
		{"dup", "dup to eth1", "every packet → [mirror eth1]"},

		{"no action", "ip saddr 10.0.0.1", "EOPNOTSUPP: the rule has no action"},
		{"jump", "jump other", "EOPNOTSUPP: immediate: only accept and drop can be offloaded"},
		{"unequal", "ip saddr != 10.0.0.1 drop", "EOPNOTSUPP: cmp: only equality with a field can be offloaded"},
		{"range", "tcp dport 80-90 drop", "EOPNOTSUPP: range cannot be offloaded"},
		{"set", "tcp dport { 80, 90 } drop", "EOPNOTSUPP: lookup cannot be offloaded"},
		{"bitwise with an exclusive-or", "meta mark set meta mark xor 1 drop", "EOPNOTSUPP: meta mark cannot be offloaded"},
		{"time to live", "ip ttl 1 drop", "EOPNOTSUPP: payload: network + 8 cannot be offloaded"},
		{"TCP flags", "tcp flags syn drop", "EOPNOTSUPP: payload: transport + 13 cannot be offloaded"},
		{"port of another protocol", "sctp dport 80 drop", "EOPNOTSUPP: payload: ports need the protocol tcp or udp before them"},
		{"meta mark", "meta mark 1 drop", "EOPNOTSUPP: meta mark cannot be offloaded"},
		{"iifname", "iifname eth0 drop", "EOPNOTSUPP: meta iifname cannot be offloaded"},
		{"iiftype of no Ethernet", "meta iiftype loopback drop", "EOPNOTSUPP: meta iiftype: only ether can be offloaded"},
		{"setting a field", "ip ttl set 3 accept", "EOPNOTSUPP: payload: network + 8 cannot be offloaded"},
		{"limit", "limit rate 1/second drop", "EOPNOTSUPP: limit cannot be offloaded"},
		{"log", "log drop", "EOPNOTSUPP: log cannot be offloaded"},
		{"fwd by a map", "fwd to meta mark map { 1 : eth1 }", "EOPNOTSUPP: meta mark cannot be offloaded"},
	} {
		options, s := offloading(t)
		text := "table netdev t { chain other { }; chain c { " + offloadHead + " }; }\nadd rule netdev t c " + c.rule
		_, findings := verdict.LoadSources(options, diag.NewSource("r", []byte(text)))
		got := inHardware(s, "eth0")
		got = strings.TrimPrefix(got, "10: ")
		if findings.Errors() > 0 {
			got = refusalText(findings)
			if left := inHardware(s, "eth0"); left != "" {
				t.Errorf("%s: hardware holds %s", c.name, left)
			}
		}
		n.row(t, c.name, got, c.want)
	}
	t.Logf("%d of %d rows", n.good, n.all)
}

func refusalText(l *diag.List) string {
	d := l.All()[0]
	_, reason, _ := strings.Cut(d.Message, ": Operation not supported: ")
	if reason == "" {
		reason = d.Message
	}
	return strings.TrimPrefix(string(d.Code), "kernel/") + ": " + reason
}

// TestOffloadRefusals tells what is refused of chains, batches and flowtables.
func TestOffloadRefusals(t *testing.T) {
	var n rowCount
	const rule = "\nadd rule netdev t c ip saddr 10.0.0.1 drop"
	chain := func(head string) string { return "table netdev t { chain c { " + head + " }; }" }
	for _, c := range []struct{ name, text, want string }{
		{"good", chain(offloadHead) + rule, ""},
		{"highest priority number", chain(strings.Replace(offloadHead, "10", "65535", 1)) + rule, ""},
		{"two devices", chain(strings.Replace(offloadHead, "device eth0", "devices = { eth0, eth1 }", 1)) + rule, ""},
		{"policy accept", chain(offloadHead+" policy accept;") + rule, ""},

		{"priority 0", chain(strings.Replace(offloadHead, "10", "0", 1)), "EOPNOTSUPP: the priority of an offloaded chain is 1 to 65535, not 0"},
		{"priority 65536", chain(strings.Replace(offloadHead, "10", "65536", 1)), "EOPNOTSUPP: the priority of an offloaded chain is 1 to 65535, not 65536"},
		{"negative priority", chain(strings.Replace(offloadHead, "10", "-10", 1)), "EOPNOTSUPP: the priority of an offloaded chain is 1 to 65535, not -10"},
		{"egress", chain(strings.Replace(offloadHead, "ingress", "egress", 1)), "EOPNOTSUPP: only base chains of netdev ingress can be offloaded"},
		{"another family", "table ip t { chain c { type filter hook input priority 10; flags offload; }; }", "EOPNOTSUPP: only base chains of netdev ingress can be offloaded"},
		{"inet ingress", strings.Replace(chain(offloadHead), "netdev", "inet", 1), "EOPNOTSUPP: only base chains of netdev ingress can be offloaded"},
		{"a device without offload", chain(strings.Replace(offloadHead, "eth0", "eth2", 1)), `EOPNOTSUPP: device "eth2" offloads nothing`},
		{"one of two without offload", chain(strings.Replace(offloadHead, "device eth0", "devices = { eth0, eth2 }", 1)), `EOPNOTSUPP: device "eth2" offloads nothing`},
		{"policy drop", chain(offloadHead+" policy drop;") + rule, "EOPNOTSUPP: the policy of an offloaded chain is accept"},
		{"inserted", chain(offloadHead) + rule + "\ninsert rule netdev t c ip saddr 10.0.0.2 drop", "EOPNOTSUPP: rules of an offloaded chain can only be added at its end"},
		{"at a position", chain(offloadHead) + rule + "\nadd rule netdev t c index 0 ip saddr 10.0.0.2 drop", "EOPNOTSUPP: rules of an offloaded chain can only be added at its end"},
		{"replaced", chain(offloadHead) + rule + "\nreplace rule netdev t c handle 2 ip saddr 10.0.0.2 drop", "EOPNOTSUPP: rules of an offloaded chain can only be added at its end"},
		{"flowtable", "table ip t { flowtable f { hook ingress priority 0; devices = { eth0, eth1 }; flags offload; }; }", ""},
		{"flowtable on a device without offload", "table ip t { flowtable f { hook ingress priority 0; devices = { eth0, eth2 }; flags offload; }; }", `EOPNOTSUPP: device "eth2" offloads nothing`},
		{"flowtable in software", "table ip t { flowtable f { hook ingress priority 0; devices = { eth0, eth2 }; }; }", ""},
	} {
		options, s := offloading(t)
		_, findings := verdict.LoadSources(options, diag.NewSource("r", []byte(c.text)))
		got := ""
		if findings.Errors() > 0 {
			got = refusalText(findings)
			if left := inHardware(s, "eth0"); left != "" {
				t.Errorf("%s: hardware holds %s", c.name, left)
			}
		}
		n.row(t, c.name, got, c.want)
	}
	t.Logf("%d of %d rows", n.good, n.all)
}

// TestOffloadFollows changes an offloaded chain; hardware follows, and a
// refused batch leaves it alone.
func TestOffloadFollows(t *testing.T) {
	options, s := offloading(t)
	load := func(text string, fails bool) {
		t.Helper()
		next, findings := verdict.LoadSources(options, diag.NewSource("r", []byte(text)))
		if (findings.Errors() > 0) != fails {
			t.Fatalf("%s: %v", text, findings.Err())
		}
		if next != nil {
			options.Base = next
		}
	}
	counts := func(want string) {
		t.Helper()
		if got := fmt.Sprint(s.Device("eth0").Hardware.Len(), s.Device("eth1").Hardware.Len()); got != want {
			t.Errorf("%s rules in hardware, want %s", got, want)
		}
	}
	load("table netdev t { chain c { type filter hook ingress devices = { eth0, eth1 } priority 10; flags offload; ip saddr 10.0.0.1 drop; ip saddr 10.0.0.2 drop; }; }", false)
	counts("2 2")
	load("add rule netdev t c ip saddr 10.0.0.3 drop; delete rule netdev t c handle 2", false)
	counts("2 2")
	s.Device("eth1").Hardware.FailAt(2, syscall.ENOSPC, "table full")
	before := inHardware(s, "eth0")
	load("delete rule netdev t c handle 3; add rule netdev t c ip saddr 10.0.0.4 drop; add rule netdev t c ip saddr 10.0.0.5 drop", true)
	counts("2 2")
	if got := inHardware(s, "eth0"); got != before {
		t.Errorf("after a refused batch:\n%s\nbefore\n%s", got, before)
	}
	load("add rule netdev t c ip saddr 10.0.0.6 drop; delete rule netdev t c handle 3", false)
	counts("2 2")
	load("delete chain netdev t c { type filter hook ingress device eth1 priority 10; }", false)
	counts("2 0")
	load("flush chain netdev t c", false)
	counts("0 0")
	load("add rule netdev t c ip saddr 10.0.0.7 drop; delete table netdev t", false)
	counts("0 0")
	load("table netdev t { chain c { "+offloadHead+" accept; }; }", false)
	counts("1 0")
	load("flush ruleset", false)
	counts("0 0")
}

// TestOffloadRollsBack fails at every point of a batch (of 1,000 rules in the
// goals): ruleset and devices stay as they were.
func TestOffloadRollsBack(t *testing.T) {
	size := 100
	if os.Getenv("VERDICT_GOALS") != "" {
		size = 1000
	}
	options, s := offloading(t)
	both := strings.Replace(offloadHead, "device eth0", "devices = { eth0, eth1 }", 1)
	base, findings := verdict.LoadSources(options, diag.NewSource("r", []byte("table netdev t { chain c { "+both+" ip saddr 192.0.2.1 drop; ip saddr 192.0.2.2 drop; }; }")))
	if findings.Errors() > 0 {
		t.Fatal(findings.Err())
	}
	var b strings.Builder
	b.WriteString("delete rule netdev t c handle 2\n")
	for i := range size {
		fmt.Fprintf(&b, "add rule netdev t c ip saddr 10.0.%d.%d drop\n", i>>8, i&255)
	}
	options.Base = base
	var batch []ruleset.Change
	options.Batch = func(_ *ruleset.Ruleset, changes []ruleset.Change) { batch = changes }
	refusing := s.Device("eth0").Hardware
	refusing.FailAt(1, syscall.EIO, "broken")
	if _, findings := verdict.LoadSources(options, diag.NewSource("r", []byte(b.String()))); findings.Errors() != 1 || findings.All()[0].Code != "kernel/EIO" {
		t.Fatalf("%v", findings.Err())
	}
	before := inHardware(s, "eth0") + inHardware(s, "eth1") + fmt.Sprint(base.Rules().Generation)
	for n := 1; n <= 2*size; n++ {
		s.Device([]string{"eth0", "eth1"}[n%2]).Hardware.FailAt((n+1)/2, syscall.ENOSPC, "table full")
		next, err := base.Apply(batch)
		if err == nil || next != nil || !strings.Contains(err.Error(), "No space left on device") {
			t.Fatalf("failure at %d: %v", n, err)
		}
		if got := inHardware(s, "eth0") + inHardware(s, "eth1") + fmt.Sprint(base.Rules().Generation); got != before {
			t.Fatalf("failure at %d:\n%s\nbefore\n%s", n, got, before)
		}
	}
	if _, err := base.Apply(batch); err != nil || refusing.Len() != size+1 {
		t.Errorf("without failure: %v, %d rules", err, refusing.Len())
	}
}

// TestOffloadedPackets runs packets past rules of nft in hardware.
func TestOffloadedPackets(t *testing.T) {
	options, s := offloading(t)
	r, findings := verdict.LoadSources(options, diag.NewSource("r", []byte("table netdev t { chain c { "+offloadHead+" ip saddr 10.0.0.1 drop; ip saddr 10.0.0.2 fwd to eth1; vlan id 5 ip saddr 10.0.0.4 drop; }; }")))
	if findings.Errors() > 0 {
		t.Fatal(findings.Err())
	}
	e, err := r.NewEngine(verdict.EngineOptions{TC: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ packet, want string }{
		{"iifname eth0 ip saddr 10.0.0.1", "drop: hardware of eth0: nft chain 0 pref 10 handle 0x2 drops it"},
		{"iifname eth0 ip saddr 10.0.0.2", "stolen: hardware of eth0: nft chain 0 pref 10 handle 0x3 sends it elsewhere eth1"},
		{"iifname eth0 vlan id 5 ip saddr 10.0.0.4", "drop: hardware of eth0: nft chain 0 pref 10 handle 0x4 drops it"},
		{"iifname eth0 oifname eth1 vlan id 6 ip saddr 10.0.0.4", "accept by policy of c"},
		{"iifname eth0 oifname eth1 ip saddr 10.0.0.3", "accept by policy of c"},
	} {
		o, err := e.Evaluate(c.packet)
		if err != nil {
			t.Fatal(err)
		}
		got := o.String()
		for _, f := range o.Sent {
			got += " " + f.Device
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.packet, got, c.want)
		}
	}
}
