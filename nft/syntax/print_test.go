package syntax_test

import (
	"bytes"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/syntax"
)

// TestRules parses several ways of writing a rule, with || between them, and
// prints each in the one way of listings.
func TestRules(t *testing.T) {
	tests := []struct{ want, inputs string }{
		{"tcp dport 22 accept", "tcp dport 22 accept || tcp dport\\\n22   accept"},
		{"ip saddr != 10.0.0.0/8 drop", "ip saddr != 10.0.0.0/8 drop || ip saddr ne 10.0.0.0/8 drop"},
		{"tcp dport { 22, 80-90 }", "tcp dport { 22, 80-90 } || tcp dport {22,80-90,} || tcp dport {\n22 , # ssh\n\n80-90\n}"},
		{"ct state established,related", "ct state established,related || ct state established , related"},
		{"ct state ! new", "ct state ! new || ct state not new"},
		{"meta mark & 0xff == 0x10", "meta mark & 0xff == 0x10 || mark and 0xff eq 0x10 || meta mark & (0xff) == (0x10)"},
		{"meta mark set ct mark & 0xff00 | meta mark & 0xff", "meta mark set ct mark and 0xff00 or meta mark and 0xff || mark set (ct mark & 0xff00) or (mark & 0xff)"},
		{"meta mark & (0x1 | 0x2) ^ 0x4 << 2 == 1", "meta mark & (0x1 or 0x2) xor (0x4 lshift 2) == 1"},
		{"tcp flags & (fin | syn) == syn", "tcp flags & (fin | syn) == syn || tcp flags and (fin or syn) == syn"},
		{"tcp flags syn / fin,syn", "tcp flags syn / fin,syn"},
		{"iifname \"eth0\" oif lo meta mark 1", "iifname \"eth0\" oif lo mark 1 || meta iifname \"eth0\" meta oif lo meta mark 1"},
		{"ip saddr . tcp dport { 10.0.0.1 . 22 }", "ip saddr . tcp dport {10.0.0.1 . 22}"},
		{"tcp dport vmap { 22 : accept, 23 : jump other, * : drop }", "tcp dport vmap {22:accept,23:jump other,* : drop}"},
		{"counter packets 5 bytes 6 comment \"x y\"", "counter packets 5 bytes 6 comment \"x y\" || counter bytes 6 packets 5 comment \"x y\""},
		{"accept comment \"why\"", "accept comment why"},
		{"limit rate over 10 mbytes/second burst 2 kbytes", "limit rate over 10 mbytes/second burst 2 kbytes || limit rate over 10240 kbytes / second burst 2048bytes"},
		{"limit rate 5/minute burst 7 packets", "limit rate 5/minute burst 7 packets || limit rate until 5 / minute burst 7 packets"},
		{"quota over 25 mbytes used 1536 bytes", "quota over 25 mbytes used 1536 bytes || quota over 25600 kbytes used 1536bytes"},
		{"log prefix \"a: \" group 2 snaplen 5 queue-threshold 1", "log queue-threshold 1 snaplen 5 group 2 prefix \"a: \""},
		{"log level debug flags tcp sequence,options flags ip options", "log flags tcp sequence,options level debug flags ip options"},
		{"reject with icmp host-unreachable", "reject with icmp host-unreachable || reject with icmp type host-unreachable"},
		{"reject with tcp reset", "reject with tcp reset"},
		{"dnat ip to 10.0.0.1:80 random,persistent", "dnat ip to 10.0.0.1:80 random,persistent || dnat ip to 10.0.0.1 : 80 random , persistent"},
		{"dnat to [::1]:80", "dnat to [::1]:80"},
		{"snat to [::1]-[::2]:1-5", "snat to [::1]-[::2]:1-5"},
		{"snat to ::1", "snat to ::1 || snat ::1 || snat to [::1]"},
		{"dnat ip addr . port to ip saddr map { 10.0.0.1 : 10.0.0.2 . 80 }", "dnat ip addr . port to ip saddr map { 10.0.0.1 : 10.0.0.2 . 80 }"},
		{"redirect to :80", "redirect to :80 || redirect to 80"},
		{"masquerade to :1-5 fully-random", "masquerade to :1-5 fully-random"},
		{"tproxy ip6 to [::1]:80", "tproxy ip6 to [::1]:80"},
		{"queue flags bypass,fanout to 1-3", "queue flags fanout,bypass to 1-3 || queue num 1-3 bypass,fanout"},
		{"queue to symhash mod 2", "queue to symhash mod 2"},
		{"add @s { ip saddr timeout 1m : 7 }", "add @s { ip saddr timeout 60s : 7 }"},
		{"update @s { ip saddr counter }", "update @s { ip saddr counter } || set update ip saddr counter @s"},
		{"meter m size 5 { ip saddr limit rate 1/second }", "meter m size 5 {ip saddr limit rate 1/second}"},
		{"counter name \"c\"", "counter name \"c\" || counter name c"},
		{"ct helper set \"h\"", "ct helper set \"h\""},
		{"ct helper \"ftp\"", "ct helper \"ftp\""},
		{"meta secmark set \"s\"", "meta secmark set \"s\" || meta secmark set s"},
		{"meta secmark set ct secmark", "meta secmark set ct secmark"},
		{"ct original ip saddr 10.0.0.1", "ct original ip saddr 10.0.0.1"},
		{"ct count over 5", "ct count over 5"},
		{"rt type 0 rt nexthop 10.0.0.1", "rt type 0 rt nexthop 10.0.0.1"},
		{"srh sid[1] ::1 exthdr frag exists", "srh sid[1] ::1 exthdr frag exists"},
		{"tcp option maxseg size 1460 tcp option 255 exists tcp option @255,8,8 1", "tcp option maxseg size 1460 tcp option 255 exists tcp option @255 , 8 , 8 1"},
		{"vxlan ip saddr 10.0.0.1 gre tcp dport 22", "vxlan ip saddr 10.0.0.1 gre tcp dport 22"},
		{"@nh,96,32 0x0a000001", "@nh,96,32 0x0a000001 || @nh, 96, 32 0x0a000001"},
		{"fib saddr . iif oif missing", "fib saddr . iif oif missing"},
		{"meta mark set jhash ip saddr . ip daddr mod 2 seed 0xff offset 5", "mark set jhash ip saddr . ip daddr mod 2 seed 255 offset 5"},
		{"meta mark set numgen inc mod 2 map { 0 : 1, 1 : 2 }", "mark set numgen inc mod 2 map { 0 : 1, 1 : 2 }"},
		{"ip protocol tcp udp dport 5 ether type vlan drop", "ip protocol tcp udp dport 5 ether type vlan drop"},
		{"last used never last used 5m last", "last used never last used 300s last"},
		{"arp saddr ip 10.0.0.1 arp daddr ether 00:11:22:33:44:55", "arp saddr ip 10.0.0.1 arp daddr ether 00:11:22:33:44:55"},
		{"iifname $a - $b ip saddr $net / 24", "iifname $a - $b ip saddr $net / 24"},
	}
	for _, test := range tests {
		for _, input := range strings.Split(test.inputs, " || ") {
			statements, comment, list := syntax.ParseRule(diag.NewSource("rule", []byte(input)))
			if list.HasErrors() {
				t.Errorf("%s: %v", input, list.Err())
				continue
			}
			rule := &syntax.Rule{Statements: statements, Comment: comment}
			if got := string(syntax.AppendRule(nil, rule)); got != test.want {
				t.Errorf("%s\n got %s\nwant %s", input, got, test.want)
			}
		}
	}
}

// TestCommands prints commands as events show them.
func TestCommands(t *testing.T) {
	tests := []struct{ input, want string }{
		{"add table ip t", "add table ip t"},
		{"table inet t { flags dormant; }", "add table inet t { flags dormant; }"},
		{"add chain ip t c", "add chain ip t c"},
		{"add chain ip t c { type filter hook input priority filter; policy drop; }", "add chain ip t c { type filter hook input priority filter; policy drop; }"},
		{"add set ip t s { type ipv4_addr; flags interval; timeout 60s; }", "add set ip t s { type ipv4_addr; flags interval; timeout 1m; } "},
		{"add element ip t s { 10.0.0.0/8 expires 1m }", "add element ip t s { 10.0.0.0/8 expires 1m }"},
		{"add counter ip t c { packets 0 bytes 0 }", "add counter ip t c { packets 0 bytes 0 } "},
		{"add quota t q over 25 mbytes", "add quota t q over 25 mbytes"},
		{"t c accept", "add rule t c accept"},
		{"insert rule ip t c position 5 accept", "insert rule ip t c position 5 accept"},
		{"replace rule t c handle 3 drop", "replace rule t c handle 3 drop"},
		{"delete rule ip t c handle 7", "delete rule ip t c handle 7"},
		{"delete table handle 1", "delete table handle 1"},
		{"delete chain t handle 1", "delete chain t handle 1"},
		{"rename chain ip t a b", "rename chain ip t a b"},
		{"list ruleset ip6", "list ruleset ip6"},
		{"list counters table ip t", "list counters table ip t"},
		{"list ct helpers table ip t", "list ct helpers table ip t"},
		{"list hooks netdev device lo", "list hooks netdev device \"lo\""},
		{"reset rules", "reset rules"},
		{"reset rules ip t c", "reset rules chain ip t c"},
		{"flush ruleset", "flush ruleset"},
		{"get element t s { 1, 2 }", "get element t s { 1, 2 }"},
		{"describe tcp flags", "describe tcp flags"},
		{"describe ipv4_addr", "describe ipv4_addr"},
		{"monitor new rules json", "monitor new rules json"},
		{"export ruleset json", "export ruleset json"},
		{"destroy map t m", "destroy map t m"},
	}
	for _, test := range tests {
		file, list := parseText("command", test.input)
		if list.HasErrors() || len(file.Items) != 1 {
			t.Errorf("%s: %v, %d items", test.input, list.Err(), len(file.Items))
			continue
		}
		if got := string(syntax.AppendCommand(nil, file.Items[0].(*syntax.Command))); got != test.want {
			t.Errorf("%s\n got %q\nwant %q", test.input, got, test.want)
		}
	}
}

// TestPrintMadeTree prints a tree that was not parsed.
func TestPrintMadeTree(t *testing.T) {
	word := func(s string) syntax.Word { return syntax.Word{Text: s} }
	literal := func(s string) syntax.Expr { return &syntax.Literal{Text: s} }
	set := &syntax.SetLiteral{PerLine: 2}
	for _, a := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		set.Elements = append(set.Elements, &syntax.Element{Key: literal(a)})
	}
	table := &syntax.Table{Family: word("ip"), Name: word("t"), HasBlock: true, Items: []syntax.Item{
		&syntax.TableFlags{Flags: []syntax.Word{word("dormant"), word("owner")}},
		&syntax.CommentProperty{Text: word("why")},
		&syntax.Set{Name: word("s"), HasBlock: true, Items: []syntax.Item{
			&syntax.KeyType{Key: literal("ipv4_addr")},
			&syntax.Size{Trivia: syntax.Trivia{Trailing: "count 3"}, Value: literal("100")},
			&syntax.Elements{Value: set},
		}},
		&syntax.Chain{Name: word("c"), HasBlock: true, Items: []syntax.Item{
			&syntax.Hook{Type: word("filter"), Hook: word("input"), Priority: &syntax.Priority{Base: literal("filter"), Offset: -5}},
			&syntax.Policy{Value: literal("drop")},
			&syntax.Rule{Trivia: syntax.Trivia{Trailing: "handle 4"}, Statements: []syntax.Statement{
				&syntax.VerdictStatement{Verdict: &syntax.VerdictExpr{Kind: catalog.VerdictJump, Block: []syntax.Item{
					&syntax.Rule{Statements: []syntax.Statement{&syntax.Counter{}}},
				}}},
			}},
		}},
	}}
	const want = `table ip t {
	flags dormant,owner
	comment "why"

	set s {
		type ipv4_addr
		size 100	# count 3
		elements = { 10.0.0.1, 10.0.0.2,
			     10.0.0.3 }
	}

	chain c {
		type filter hook input priority filter - 5; policy drop;
		jump {
			counter
		} # handle 4
	}
}
`
	var b bytes.Buffer
	if err := syntax.PrintTable(&b, table); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
