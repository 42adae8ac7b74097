package syntax_test

import (
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/syntax"
)

// FuzzParse parses any text. It must not panic, nor take over a second; what parses without errors
// must print to a text that parses to the same tree and prints the same, and
// formatting it must keep the tree and be idempotent.
func FuzzParse(f *testing.F) {
	for _, text := range fuzzSeeds {
		f.Add(text)
	}
	open := func(string, *diag.Source) ([]*diag.Source, error) { return nil, nil }
	parse := func(text string) (*syntax.File, *diag.List) {
		return syntax.Parse(diag.NewSource("fuzz", []byte(text)), syntax.Options{Open: open})
	}
	f.Fuzz(func(t *testing.T, text string) {
		var file *syntax.File
		var list *diag.List
		testdata.WithinSecond(t, func() { file, list = parse(text) })
		checkSpans(t, file, list)
		if list.HasErrors() {
			return
		}
		var once strings.Builder
		if err := syntax.PrintFile(&once, file); err != nil {
			t.Fatal(err)
		}
		again, list := parse(once.String())
		if list.HasErrors() {
			t.Fatalf("printed text does not parse: %v\n%q\n%q", list.Err(), text, once.String())
		}
		var twice strings.Builder
		if err := syntax.PrintFile(&twice, again); err != nil {
			t.Fatal(err)
		}
		if once.String() != twice.String() {
			t.Fatalf("printing again differs: %s\nfrom %q", firstDifference(once.String(), twice.String()), text)
		}
		formatted, list := syntax.Format(diag.NewSource("fuzz", []byte(text)))
		if list.HasErrors() {
			t.Fatalf("does not format: %v", list.Err())
		}
		after, list := parse(string(formatted))
		if list.HasErrors() {
			t.Fatalf("formatted text does not parse: %v\n%q\n%q", list.Err(), text, formatted)
		}
		if d := difference(file, after); d != "" {
			t.Fatalf("formatting changed the tree: %s\n%q\n%q", d, text, formatted)
		}
		same, _ := syntax.Format(diag.NewSource("fuzz", formatted))
		if string(same) != string(formatted) {
			t.Fatalf("formatting twice differs: %s\nfrom %q", firstDifference(string(formatted), string(same)), text)
		}
	})
}

// checkSpans requires every place to lie inside its source.
func checkSpans(t *testing.T, file *syntax.File, list *diag.List) {
	check := func(s diag.Span) {
		if s.Source == nil || s.Start < 0 || s.End < s.Start || int(s.End) > len(s.Source.Text) {
			t.Fatalf("bad place %d-%d", s.Start, s.End)
		}
	}
	for _, d := range list.All() {
		check(d.Span)
	}
	syntax.WalkFile(file, func(n syntax.Node) bool {
		if s := n.Place(); s.Source != nil {
			check(s)
		}
		return true
	})
}

var fuzzSeeds = []string{
	"table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter - 5; policy drop;\n\t\tct state established,related accept\n\t}\n}\n",
	"add table ip x { flags dormant, owner; comment \"c\"; }\n",
	"define x = { 1.1.1.1, 10.0.0.0/8 }\nredefine y = -5\nundefine z\ninclude \"a*.nft\"\n",
	"#!/usr/sbin/nft -f\nflush ruleset\n\n# comment\nadd rule t c ip saddr { 1.1.1.1, # one\n 2.2.2.2 } accept # two\n",
	"table t {\n set s {\n typeof ip saddr . tcp dport\n flags interval, timeout\n timeout 1d2h3m4s5ms\n size 10 # count 2\n counter limit rate 5/second\n elements = { 10.0.0.0-10.0.0.3 . 80 counter packets 1 bytes 2 timeout 5s expires 1s comment \"x\", * }\n }\n map m { type ipv4_addr : interval ipv4_addr; elements = { 1.1.1.1 : 2.2.2.2-2.2.2.3 } }\n}\n",
	"add rule t c jump { tcp dport 22 accept; ip6 saddr ::1 drop; }\n",
	"add rule t c tcp flags & (syn | ack) == syn; add rule t c tcp flags syn / syn,ack ct state != new; add rule t c ct status ! snat\n",
	"add rule t c @nh,96,32 0x0a000001 @ih,0,8 5 tcp option @255,8,8 1 tcp option maxseg size set rt mtu reset tcp option fastopen\n",
	"add rule t c dnat ip to [::1]:80 fully-random,persistent\nadd rule t c snat ip prefix to ip saddr map { 10.0.0.0/24 : 10.1.0.0/24 }\nadd rule t c redirect to :80-90 masquerade to :1-2 random\n",
	"add rule t c meta mark set jhash ip saddr . ip daddr mod 2 seed 0xdead offset 100 numgen inc mod 2 map { 0 : 1 }\n",
	"add rule t c log prefix \"p\" level debug flags tcp sequence,options group 2 queue flags bypass to 1-3 reject with icmpx type no-route limit rate over 10 mbytes/second burst 5 kbytes quota over 25 mbytes used 2 bytes last used 5m ct count over 3\n",
	"add rule t c vxlan ip saddr 1.1.1.1 gre tcp dport 22 sctp chunk init init-tag 5 srh sid[1] ::1 exthdr frag exists fib saddr . iif oif missing osf ttl skip name \"x\" ipsec in spnum 2 ip saddr 1.1.1.1 socket cgroupv2 level 1 \"a\" tunnel id 5\n",
	"add rule t c add @s { ip saddr timeout 5s counter : 7 } set update ip saddr @s meter m size 5 { ip saddr limit rate 1/second } flow add @f notrack dup to 1.1.1.1 device \"lo\" fwd ip to 1.1.1.1 device \"lo\" tproxy ip to :50 synproxy mss 5 wscale 1 timestamp sack-perm\n",
	"add ct helper ip t h { type \"ftp\" protocol tcp; l3proto ip; }\nadd ct timeout t x { protocol tcp; policy = { established : 2m, close : 20s }; }\nadd ct expectation t e { protocol tcp; dport 5; timeout 1h; size 12; }\nadd quota t q over 25 mbytes\nadd secmark t s \"a:b\"\n",
	"table netdev x {\n tunnel t {\n id 1\n ip saddr 1.1.1.1\n ip daddr 2.2.2.2\n geneve {\n class 0x1 opt-type 0x1 data \"0x12\"\n }\n }\n flowtable f {\n hook ingress priority 0\n devices = { lo, \"e*\" }\n counter\n }\n}\n",
	"list ruleset ip\nlist counters table ip x\nlist hooks netdev device lo\nreset rules chain ip t c\nget element t s { 1 }\nrename chain t a b\ndescribe tcp flags\nmonitor new rules json\nexport ruleset json\ndelete chain t handle 5\nlist ct helpers table ip t\n",
	"table t { chain c {", "}}}", "{{{{", "\"", "a b c \\\n d", "add rule t c ip saddr 10.0.0.1-", "\x00", "é",
	"add element t s { 1:2, 00:11:22:33:44:55, fe80::1-fe80::2, 1d2h, 0x10, 010, 08, 88888888888888888888 }\n",
}
