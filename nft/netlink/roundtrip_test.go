package netlink

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// everything has something of each kind.
const everything = `
table inet t {
	comment "all kinds"
	flags dormant
	counter c1 { packets 3 bytes 180; comment "kept"; }
	quota q1 { over 25 mbytes used 5 kbytes; }
	limit l1 { rate 5/second burst 7 packets; }
	ct helper ftp { type "ftp" protocol tcp; l3proto ip; }
	ct timeout slow { protocol tcp; l3proto ip; policy = { established : 100s, close : 4s }; }
	ct expectation e1 { protocol udp; dport 9876; timeout 2m; size 12; l3proto ip; }
	synproxy sp { mss 1460; wscale 7; timestamp sack-perm; }
	secmark sm { "system_u:object_r:ssh_server_packet_t:s0"; }
	set plain { type ipv4_addr; comment "of the set"; elements = { 1.2.3.4, 5.6.7.8 comment "with words" }; }
	set ranges { type ipv4_addr; flags interval; auto-merge; elements = { 10.0.0.0/8, 172.16.0.0-172.16.5.2, 255.0.0.0/8 }; }
	set pairs { type ipv4_addr . inet_service; flags interval; elements = { 10.0.0.0/8 . 80-90, 1.1.1.1 . 443 }; }
	set timed { type ipv4_addr; flags timeout; timeout 1h; gc-interval 10s; size 100; elements = { 1.1.1.1, 2.2.2.2 timeout 10s, 3.3.3.3 timeout 2h expires 90m }; }
	set counted { type ipv4_addr; counter; quota 500 bytes; elements = { 9.9.9.9 counter packets 5 bytes 7 quota 500 bytes used 3 bytes }; }
	set dyn { type ipv4_addr; flags dynamic,timeout; timeout 5m; policy memory; }
	set tp { typeof tcp dport; flags constant; elements = { 22, 80 }; }
	set mixed { typeof meta mark . ip saddr . tcp option maxseg size; elements = { 0x10 . 1.2.3.4 . 1460 }; }
	map verdicts { type inet_service : verdict; elements = { 22 : accept, 80 : jump other, 81 : goto other, * : drop }; }
	map marks { typeof tcp dport : meta mark; elements = { 1 : 0x10, 2 : 0x20 }; }
	map objects { type ipv4_addr : counter; elements = { 1.2.3.4 : "c1" }; }
	map spans { type ipv4_addr : interval ipv4_addr . inet_service; flags interval; elements = { 10.0.0.0/8 : 192.168.0.1-192.168.0.9 . 8000-8010 }; }
	flowtable ft { hook ingress priority filter; devices = { lo, eth0 }; counter; }
	chain other { comment "a chain"; }
	chain input {
		type filter hook input priority mangle; policy drop;
		iifname "lo" accept comment "loop"
		ct state established,related accept
		tcp dport { 22, 80 } counter accept
		jump { ip saddr 1.2.3.4 drop; }
		ip saddr . tcp dport vmap { 1.2.3.4 . 80 : jump other, 5.6.7.8 . 1-9 : drop }
		meta mark set jhash ip saddr mod 16 seed 0xab offset 3
		meta mark set symhash mod 2
		tcp flags syn / syn,ack log prefix "x: " level debug flags tcp sequence
		log group 3 snaplen 40 queue-threshold 5
		add @dyn { ip saddr timeout 10s limit rate 3/minute burst 2 packets counter }
		limit rate over 3 mbytes/second drop
		quota over 3 mbytes drop
		ct count over 20 drop
		counter name "c1"
		quota name "q1"
		last
		reject with icmpx admin-prohibited
		ip ttl set 4
		tcp option maxseg size set rt mtu
		reset tcp option timestamp
		fib saddr . iif oif missing drop
		socket mark 5 accept
		udp dport 4789 vxlan ip saddr 10.0.0.1 counter
		numgen random mod 5 offset 2 vmap { 2 : accept, 3 : drop }
		ip dscp set cs1
		meta l4proto tcp synproxy mss 1460 wscale 7
		ipsec in reqid 5
		queue flags bypass,fanout to 3-5
	}
	chain nat {
		type nat hook prerouting priority dstnat;
		meta l4proto tcp dnat ip to 10.0.0.1-10.0.0.9:80-90 persistent
		tcp dport 80 redirect to :8080
	}
	chain out { type nat hook postrouting priority srcnat; masquerade fully-random; snat ip6 to 2001:db8::1; }
}
table netdev d {
	chain in { type filter hook ingress devices = { eth0, eth1 } priority 10; fwd to "eth1"; dup to "eth0"; }
}
table bridge b { chain c { type filter hook forward priority filter; vlan id 5 ether type ip drop
	}
}
table arp a { chain c { type filter hook input priority filter; arp operation request drop
	}
}
`

func TestEverything(t *testing.T) {
	mustLoad(t, strings.Replace(everything, `		socket cgroupv2 level 2 "user.slice" accept`+"\n", "", 1)).check(t)
}

// TestTypeof keeps each typeof expression that nft can store.
func TestTypeof(t *testing.T) {
	for _, text := range strings.Split(strings.TrimSpace(typeofs), "\n") {
		l, err := load("test", "", []byte("table inet t {\n set s {\n typeof "+text+"\n}\n}\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want := l.rules.Tables[0].Sets[0].UserData
		got := roundTrip(t, l.rules).Rules.Tables[0].Sets[0].UserData
		if want.KeyTypeof != got.KeyTypeof || want.KeyHost != got.KeyHost || len(want.FieldHost) != len(got.FieldHost) {
			t.Errorf("%s: %+v instead of %+v", text, got, want)
			continue
		}
		for i := range want.FieldHost {
			if want.FieldHost[i] != got.FieldHost[i] {
				t.Errorf("%s: orders %v instead of %v", text, got.FieldHost, want.FieldHost)
			}
		}
	}
}

const typeofs = `
ip saddr
ip saddr . tcp dport
meta mark . iifname . ether saddr
ip dscp . ip version
@nh,32,16
@ih,16,16
vlan id
igmp mrt
igmp checksum
arp saddr ip
icmpv6 taddr
meta l4proto
meta iifkind
ct mark
ct original ip saddr
ct original bytes
ct zone
rt ip nexthop
rt mtu
socket mark
fib saddr oif
fib saddr . iif type
osf name
ipsec in reqid
ipsec out spnum 1 ip saddr
numgen random mod 5 offset 3
symhash mod 2
tcp option maxseg size
tcp option sack left
tcp option sack2 right
tcp option mptcp subtype
tcp option window count
ip option ra value
ip option rr addr
sctp chunk data tsn
sctp chunk init-ack a-rwnd
hbh nexthdr
rt type
rt0 addr[1]
rt0 addr[3]
srh tag
srh sid[2]
frag id
mh type
`

// TestUnknownIsKept hands in expressions and attributes that do not exist.
func TestUnknownIsKept(t *testing.T) {
	l := mustLoad(t, "table ip t {\n chain c {\n ip saddr 1.2.3.4 drop\n }\n}\n")
	rule := l.rules.Tables[0].Chains[0].Rules[0]
	odd := &expr.Unknown{Name: "math", Data: []byte{8, 0, 1, 0, 0, 0, 0, 5}}
	rule.Exprs = append(rule.Exprs, odd)
	messages, err := AppendDump(nil, l.rules, now)
	if err != nil {
		t.Fatal(err)
	}
	var extra builder
	extra.u32(29, 77)
	for i := range messages {
		messages[i].Attrs = append(messages[i].Attrs, extra.b...)
	}
	d, err := Decode(messages, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Unknown) != len(messages) {
		t.Errorf("%d unknown attributes kept, not %d", len(d.Unknown), len(messages))
	}
	if want := "ip t c handle 2: attribute 29 of message 6: 0x0000004d"; d.Unknown[len(d.Unknown)-1].String() != want {
		t.Errorf("it shows as %q instead of %q", d.Unknown[len(d.Unknown)-1], want)
	}
	if diff := Difference(l.rules, d.Rules, now); diff != "" {
		t.Error(diff)
	}
	if text := string(odd.AppendText(nil)); text != "math unknown 0x0800010000000005" {
		t.Errorf("the expression prints as %q", text)
	}
}

// TestKnownWithOddOperands: what package expr cannot hold stays as bytes.
func TestKnownWithOddOperands(t *testing.T) {
	var w builder
	w.str(exprName, "cmp")
	mark := w.begin(exprData)
	w.u32(1, 8)
	w.u32(2, 99) // no operator
	w.value(3, expr.Value{Bytes: []byte{1}})
	w.end(mark)
	e, err := readExpression(w.b, 0)
	if err != nil {
		t.Fatal(err)
	}
	u, ok := e.(*expr.Unknown)
	if !ok || u.Name != "cmp" {
		t.Fatalf("read as %T", e)
	}
	var again encoder
	if err := again.expression(u); err != nil || !bytes.Equal(again.b, w.b) {
		t.Errorf("%v: written as %x, was %x", err, again.b, w.b)
	}
}

// TestElementChunks cuts many elements into messages that have room for them.
func TestElementChunks(t *testing.T) {
	const count = 20000
	c := ruleset.Change{Kind: ruleset.KindElements, Family: catalog.FamilyIP, Table: "t", Name: "s"}
	for i := range count {
		c.Elements = append(c.Elements, ruleset.Element{Key: []byte{1, byte(i >> 16), byte(i >> 8), byte(i)}, Comment: "number"})
	}
	messages, err := Batch([]ruleset.Change{c}, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(messages) < 2 {
		t.Fatalf("%d message for %d elements", len(messages), count)
	}
	got := 0
	for i := range messages {
		f := parseFields(messages[i].Attrs)
		if err := eachAttr(f.take(listElems), func(attr) error { got++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got != count {
		t.Errorf("%d elements in %d messages", got, len(messages))
	}
}

// TestPlacement turns indices into handles and numbers of the batch.
func TestPlacement(t *testing.T) {
	base := mustLoad(t, "table ip t {\n chain c {\n accept\n drop\n }\n}\n").rules
	rule := func(op ruleset.Op, index uint64) ruleset.Change {
		return ruleset.Change{Op: op, Kind: ruleset.KindRule, Family: catalog.FamilyIP, Table: "t", Name: "c",
			RuleDef: &ruleset.RuleDef{HasIndex: true, Index: index}}
	}
	messages, err := Batch([]ruleset.Change{rule(ruleset.OpInsert, 1), rule(ruleset.OpAdd, 1), rule(ruleset.OpAdd, 3)}, BatchOptions{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		handle uint64
		id     uint32
	}{{3, 0}, {0, 1}, {3, 0}} {
		f := parseFields(messages[i].Attrs)
		if h, id := f.u64(rulePosition), f.u32(rulePositionID); h != want.handle || id != want.id {
			t.Errorf("rule %d stands by handle %d or number %d, not %+v", i, h, id, want)
		}
	}
	if _, err := Batch([]ruleset.Change{rule(ruleset.OpAdd, 9)}, BatchOptions{Base: base}); err == nil {
		t.Error("an index beyond the chain was taken")
	}
}

// TestRandomExpressions writes random operands and reads them back.
func TestRandomExpressions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExpr(t)
		var w encoder
		if err := w.expression(e); err != nil {
			t.Fatal(err)
		}
		got, err := readExpression(w.b, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := operandsOf(e), operandsOf(got); a != b {
			t.Fatalf("wrote %s, read %s", a, b)
		}
	})
}
