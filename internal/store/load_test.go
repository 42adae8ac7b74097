package store

import (
	"bytes"
	"testing"
	"time"

	"verdict/diag"
	"verdict/nft/compile"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// mustBatch compiles a text against a ruleset.
func mustBatch(t testing.TB, rs *ruleset.Ruleset, text string) []ruleset.Change {
	t.Helper()
	batch, err := batchOf(rs, text)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func batchOf(rs *ruleset.Ruleset, text string) ([]ruleset.Change, error) {
	file, found := syntax.Parse(diag.NewSource("test", []byte(text)), syntax.Options{})
	if err := found.Err(); err != nil {
		return nil, err
	}
	batch, found := compile.Compile(rs, file, compile.Options{
		Interface: func(name string) (uint32, bool) { return map[string]uint32{"lo": 1, "eth0": 2}[name], true },
		User:      func(string) (uint32, bool) { return 0, true },
		Now:       time.Unix(0, 0),
	})
	return batch, found.Err()
}

// mustApply applies a text to a ruleset.
func mustApply(t testing.TB, rs *ruleset.Ruleset, text string) *ruleset.Ruleset {
	t.Helper()
	next, errs := ruleset.Apply(rs, mustBatch(t, rs, text), ruleset.Options{Now: second})
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	return next
}

// second is the time of the tests' transactions.
const second = int64(time.Second)

// listing lists a ruleset with handles at a time.
func listing(t testing.TB, rs *ruleset.Ruleset, now int64) string {
	t.Helper()
	var b bytes.Buffer
	if err := decompile.List(&b, rs, decompile.Options{Handles: true, Clock: now}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// everything is a ruleset with something of every kind.
const everything = `
table inet t {
	comment "all kinds"
	counter c1 { packets 3 bytes 180; comment "kept"; }
	quota q1 { over 25 mbytes used 5 kbytes; }
	limit l1 { rate 5/second burst 7 packets; }
	ct helper ftp { type "ftp" protocol tcp; l3proto ip; }
	ct timeout slow { protocol tcp; l3proto ip; policy = { established : 100s, close : 4s }; }
	ct expectation e1 { protocol udp; dport 9876; timeout 2m; size 12; l3proto ip; }
	synproxy sp { mss 1460; wscale 7; timestamp sack-perm; }
	secmark sm { "system_u:object_r:ssh_server_packet_t:s0"; }
	set plain { type ipv4_addr; elements = { 1.2.3.4, 5.6.7.8 comment "with words" }; }
	set ranges { type ipv4_addr; flags interval; auto-merge; elements = { 10.0.0.0/8, 172.16.0.0-172.16.5.2, 255.0.0.0/8 }; }
	set pairs { type ipv4_addr . inet_service; flags interval; elements = { 10.0.0.0/8 . 80-90, 1.1.1.1 . 443 }; }
	set timed { type ipv4_addr; flags timeout; timeout 1h; gc-interval 10s; size 100; elements = { 1.1.1.1, 2.2.2.2 timeout 10s, 3.3.3.3 timeout 2h expires 90m }; }
	set old { type ipv4_addr; flags interval,timeout; elements = { 1.0.0.0/24 timeout 10s, 2.0.0.0/24, 3.0.0.0/24 timeout 1h }; }
	set counted { type ipv4_addr; counter; quota 500 bytes; elements = { 9.9.9.9 counter packets 5 bytes 7 quota 500 bytes used 3 bytes }; }
	set dyn { type ipv4_addr; flags dynamic,timeout; timeout 5m; }
	set tp { typeof tcp dport; flags constant; elements = { 22, 80 }; }
	map verdicts { type inet_service : verdict; elements = { 22 : accept, 80 : jump other, 81 : goto other, * : drop }; }
	map marks { type inet_service : mark; elements = { 1 : 0x10, 2 : 0x20 }; }
	map objects { type ipv4_addr : counter; elements = { 1.2.3.4 : "c1" }; }
	map spans { type ipv4_addr : interval ipv4_addr . inet_service; flags interval; elements = { 10.0.0.0/8 : 192.168.0.1-192.168.0.9 . 8000-8010 }; }
	flowtable ft { hook ingress priority filter; devices = { lo, eth0 }; counter; }
	chain other { comment "called"; ct state established,related accept; }
	chain in {
		type filter hook input priority filter - 5; policy drop;
		iifname "eth*" meta mark 0x17 counter packets 10 bytes 20 accept comment "first"
		iif lo accept
		ip saddr @ranges tcp dport @tp limit rate over 5/minute burst 9 packets log prefix "no: " level warn flags all drop
		tcp dport vmap { 22 : accept, 1000-2000 : jump other }
		ip daddr . tcp dport @pairs counter name c1 quota name "q1"
		udp dport 53 jump { ip saddr 1.1.1.1 accept; return; }
		update @dyn { ip saddr timeout 1m limit rate 3/second burst 5 packets }
		ct mark set ct mark & 0xff | 0x100
		meta mark set jhash ip saddr . tcp dport mod 8 seed 0xdead offset 2
		tcp option maxseg size set rt mtu
		ip dscp set cs1
		ip6 hoplimit set 3 exthdr hbh exists accept
		fib saddr . iif oif missing drop
		ct count over 10 reject with tcp reset
		meta skuid root last
		tcp dport vmap @verdicts
		udp dport 4789 vxlan ip saddr 1.2.3.4 counter
		socket transparent 1 meta mark set numgen inc mod 3
		queue flags bypass to 1-3
	}
	chain forward_ { type filter hook forward priority 0; flow add @ft; synproxy name "sp"; }
}
table ip nat {
	chain post { type nat hook postrouting priority srcnat; ip saddr 10.0.0.0/8 oifname "eth0" masquerade random; meta l4proto tcp snat to 1.2.3.4-1.2.3.9:1000-2000; }
	chain pre { type nat hook prerouting priority dstnat; tcp dport 80 dnat to 10.0.0.1:8080; tcp dport 81 redirect to :82; }
	chain mangle { type filter hook prerouting priority mangle; tcp dport 1 tproxy to :5 accept; dup to 10.0.0.9; notrack; }
}
table netdev nd {
	flags dormant
	chain ing { type filter hook ingress device "lo" priority -500; policy accept; fwd to "eth0"; }
}
`
