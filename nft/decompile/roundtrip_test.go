package decompile

import (
	"bytes"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/syntax"
)

// TestRewrittenRules compiles rules that a listing shows in other words.
func TestRewrittenRules(t *testing.T) {
	for _, c := range []struct{ family, rule, want string }{
		{"ip", "ip saddr & 255.255.0.0 == 10.1.0.0", "ip saddr 10.1.0.0/16"},
		{"ip", "ip saddr & 255.0.255.0 == 10.0.1.0", "ip saddr & 255.0.255.0 == 10.0.1.0"},
		{"ip", "tcp dport 22 tcp sport 1", "tcp sport 1 tcp dport 22"},
		{"ip", "@nh,96,32 0x0a000001", "ip saddr 10.0.0.1"},
		{"ip", "@nh,8,8 1", "ip dscp cs0 ip ecn ect1"},
		{"ip", "@nh,96,8 10", "ip saddr 10.0.0.0/8"},
		{"ip", "tcp dport 22 @th,0,16 80", "tcp sport 80 tcp dport 22"},
		{"ip", "@th,0,16 80", "th sport 80"},
		{"ip", "@ih,0,8 5", "@ih,0,8 0x5"},
		{"ip", "udp length 5 udp dport 3", "udp dport 3 udp length 5"},
		{"ip", "tcp dport 5 ip ttl 4 tcp sport 3", "ip ttl 4 tcp sport 3 tcp dport 5"},
		{"ip", "th sport 5 th dport 6", "@th,0,32 0x50006"},
		{"ip", "tcp dport { 22 }", "tcp dport 22"},
		{"ip", "ip saddr { 10.0.0.0/8 }", "ip saddr 10.0.0.0/8"},
		{"ip", "ip protocol { tcp } tcp dport 4", "tcp dport 4"},
		{"ip", "ip daddr 1.1.1.0-1.1.1.255", "ip daddr 1.1.1.0-1.1.1.255"},
		{"ip", "ip saddr { 10.0.0.0/25, 10.0.0.128/25 }", "ip saddr { 10.0.0.0/24 }"},
		{"ip", "tcp dport { 20-25, 24-30 }", "tcp dport { 20-30 }"},
		{"ip", "tcp dport { 1, 2-5 }", "tcp dport { 1-5 }"},
		{"ip", "ip saddr { 10.0.0.0/8, 10.0.0.1-10.0.0.3 }", "ip saddr { 10.0.0.0/8 }"},
		{"ip", "ip saddr vmap { 1.1.1.1 : accept, * : drop }", "ip saddr vmap { 1.1.1.1 : accept, * : drop }"},
		{"ip", "tcp dport != { 80, 22 }", "tcp dport != { 22, 80 }"},
		{"ip", "tcp dport { 1024-65535 }", "tcp dport 1024-65535"},
		{"ip", "tcp dport { 1024-65535, 80 }", "tcp dport { 80, 1024-65535 }"},

		{"ip", "ip protocol tcp tcp dport 22", "tcp dport 22"},
		{"ip6", "ip6 nexthdr tcp tcp dport 22", "tcp dport 22"},
		{"inet", "ip protocol tcp tcp dport 22", "ip protocol tcp tcp dport 22"},
		{"inet", "ip6 nexthdr tcp tcp dport 22", "ip6 nexthdr tcp tcp dport 22"},
		{"inet", "meta nfproto ipv4 ip saddr 1.1.1.1", "ip saddr 1.1.1.1"},
		{"inet", "meta nfproto ipv4 tcp dport 22", "meta nfproto ipv4 tcp dport 22"},
		{"inet", "meta protocol ip ip saddr 1.1.1.1", "meta protocol ip ip saddr 1.1.1.1"},
		{"bridge", "ether type ip ip saddr 1.1.1.1", "ip saddr 1.1.1.1"},
		{"inet", "meta nfproto ipv6 meta l4proto 58", "meta l4proto ipv6-icmp"},
		{"inet", "igmp type membership-query", "meta nfproto ipv4 igmp type membership-query"},
		{"inet", "meta l4proto udp th dport 53", "udp dport 53"},
		{"inet", "meta l4proto { tcp, udp } th dport 53", "meta l4proto { tcp, udp } th dport 53"},
		{"ip", "meta l4proto tcp reject with tcp reset", "reject with tcp reset"},
		{"inet", "ip protocol tcp reject with tcp reset", "ip protocol tcp reject with tcp reset"},
		{"inet", "meta nfproto ipv4 reject", "reject with icmp port-unreachable"},
		{"ip", "icmp id 5", "icmp type { echo-reply, echo-request } icmp id 5"},
		{"ip", "icmp type echo-request icmp id 5", "icmp type echo-request icmp id 5"},
		{"ip6", "icmpv6 id 5", "icmpv6 type { echo-request, echo-reply } icmpv6 id 5"},
		{"ip", "icmp mtu 500", "icmp mtu 500"},
		{"ip6", "icmpv6 mtu 1280", "icmpv6 mtu 1280"},
		{"bridge", "ether type vlan vlan id 5", "vlan id 5"},
		{"bridge", "ether type 8021ad vlan id 10", "ether type 8021ad vlan id 10"},
		{"bridge", "vlan id 5 vlan type ip", "vlan id 5 vlan type ip"},
		{"bridge", "vlan type ip", "ether type 8021q vlan type ip"},
		{"ip", "ct original saddr 1.1.1.1", "ct original ip saddr 1.1.1.1"},
		{"ip", "rt nexthop 1.1.1.1", "rt ip nexthop 1.1.1.1"},
		{"ip", "meta l4proto tcp meta mark 5 tcp dport 5", "meta mark 0x00000005 tcp dport 5"},
		{"ip", "meta l4proto tcp counter tcp dport 5", "meta l4proto tcp counter tcp dport 5"},

		{"ip", "tcp flags == syn|ack", "tcp flags == 0x12"},
		{"ip", "tcp flags != syn,ack", "tcp flags != 0x12"},
		{"ip", "tcp flags 0x12", "tcp flags syn,ack"},
		{"ip", "tcp flags syn / syn,ack", "tcp flags & (syn | ack) == syn"},
		{"ip", "ct state new,related,established", "ct state established,related,new"},
		{"ip", "ct state ! related,established", "ct state ! established,related"},
		{"ip", "ct status & dnat != 0", "ct status dnat"},
		{"ip", "tcp flags & fin == fin", "tcp flags & fin == fin"},
		{"ip", "tcp flags & 0x40 != 0", "tcp flags ecn"},
		{"ip", "meta mark & 0xf == { 1, 2 }", "meta mark & 0x0000000f == { 0x00000001, 0x00000002 }"},
		{"ip", "tcp flags & (fin|syn|ack) vmap { syn : accept, syn|ack : drop }", "tcp flags & (fin | syn | ack) vmap { syn : accept, syn | ack : drop }"},
		{"ip", "meta mark set meta mark and 0xffffff00 xor 0x11", "meta mark set meta mark & 0xffffff11 | 0x00000011"},
		{"ip", "meta mark set meta mark and 0xff or 0x10", "meta mark set meta mark & 0x000000ff | 0x00000010"},
		{"ip", "ip dscp & 0x38 == 0x8", "ip dscp & cs7 == cs1"},
		{"ip", `meta hour "22:00"-"06:00"`, `meta hour "22:00"-"06:00"`},
		{"ip", `meta day "Friday"-"Sunday"`, "meta day != 0-5"},
		{"ip", "ip dscp { 0x00-0x18, ef }", "ip dscp { 0x00-0x18, ef }"},

		{"ip", "reject with icmp port-unreachable", "reject"},
		{"inet", "reject with icmp port-unreachable", "reject with icmp port-unreachable"},
		{"inet", "reject with icmpx port-unreachable", "reject"},
		{"ip", "log level warn", "log"},
		{"ip", "log flags tcp sequence,options flags ip options flags skuid flags ether", "log flags all"},
		{"ip", "limit rate 10/second", "limit rate 10/second burst 5 packets"},
		{"ip", "quota 1024 bytes", "quota 1 kbytes"},
		{"ip", "quota 1536 bytes", "quota 1536 bytes"},
		{"ip", "last", "last"},
		{"ip", "ip saddr 1.1.1.1/32", "ip saddr 1.1.1.1"},
		{"ip", "ip saddr 0.0.0.0/0", "ip saddr 0.0.0.0/0"},
		{"ip", `meta iifname "lo"`, `iifname "lo"`},
		{"ip", "ip checksum 0x1234", "ip checksum 4660"},
		{"ip", "ip frag-off 0x2000", "ip frag-off 0x2000"},
		{"ip", "meta priority 0xffff", "meta priority 0:ffff"},
		{"ip", "meta priority none", "meta priority none"},
		{"ip", "meta day 6", `meta day "Saturday"`},
		{"ip", "tcp option 5 exists", "tcp option sack exists"},
		{"ip", "tcp option @34,8,8 4", "tcp option fastopen length 4"},
		{"ip", "icmp type 3", "icmp type destination-unreachable"},
		{"ip", "ip protocol 253", "ip protocol 253"},
		{"ip", "meta mark set jhash ip saddr . ip daddr mod 2 seed 5", "meta mark set jhash ip saddr . ip daddr mod 2 seed 0x5"},
		{"ip6", "ip6 saddr ::ffff:10.0.0.1", "ip6 saddr ::ffff:10.0.0.1"},
		{"ip", "ct event set new|related|destroy", "ct event set new,related,destroy"},
		{"ip", "meta mark set ip saddr map { 1.1.1.1 : 7, 2.2.2.0/24 : 8 }", "meta mark set ip saddr map { 1.1.1.1 : 0x00000007, 2.2.2.0/24 : 0x00000008 }"},
		{"ip", `iifname { "eth*", "lo" }`, `iifname { "eth*", "lo" }`},
		{"ip", "meta mark set ip dscp << 2 | 0x10", "meta mark set ip dscp << 2 | 0x10"},
	} {
		got, err := listedRule(c.family, c.rule)
		if err != nil {
			t.Errorf("%s %s: %v", c.family, c.rule, err)
			continue
		}
		if got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.family, c.rule, got, c.want)
		}
		// Braces around what became one element do not survive another time.
		collapsed := strings.NewReplacer("{ ", "", " }", "").Replace(got)
		again, err := listedRule(c.family, got)
		if err != nil || again != got && again != collapsed {
			t.Errorf("%s %s: listed again it is %s (%v)", c.family, got, again, err)
		}
	}
}

// listedRule compiles one rule into a chain of a table and lists it.
func listedRule(family, source string) (string, error) {
	script := "add table " + family + " t\nadd chain " + family + " t c { type filter hook input priority 0; }\n" +
		"add rule " + family + " t c " + source + "\n"
	rs, err := load(nil, diag.NewSource("rule", []byte(script)), compileOptions(testdata.RecordingInterfaces()))
	if err != nil {
		return "", err
	}
	f, _ := catalog.FamilyByName(family)
	table := rs.Table(f, "t")
	o := Options{Stateless: true, InterfaceName: testdata.InterfaceName(testdata.RecordingInterfaces())}
	statements, _ := Rule(table, table.Chain("c").Rules[0], &o)
	return string(syntax.AppendRule(nil, &syntax.Rule{Statements: statements})), nil
}

// TestNumericOptions lists one ruleset under each flag of the command.
func TestNumericOptions(t *testing.T) {
	const source = `
table inet t {
	set s {
		type ipv4_addr
		flags timeout
		elements = { 10.0.0.1 timeout 1d2h }
	}
	chain c {
		type filter hook input priority filter + 5; policy accept;
		meta l4proto tcp ct state new ip dscp ef tcp dport { 22, 4711 } counter packets 3 bytes 4
		ct expiration 1h meta skuid 0 icmp type echo-request meta pkttype host
		meta hour "10:00" iif "lo" limit rate 5/minute
	}
}
`
	rs, err := load(nil, diag.NewSource("options", []byte(source)), compileOptions(testdata.RecordingInterfaces()))
	if err != nil {
		t.Fatal(err)
	}
	base := Options{InterfaceName: testdata.InterfaceName(testdata.RecordingInterfaces()), UserName: func(id uint32) string {
		if id == 0 {
			return "root"
		}
		return ""
	}}
	for name, c := range map[string]struct {
		change func(o *Options)
		lines  []string
	}{
		"plain": {func(o *Options) {}, []string{
			"priority filter + 5;", "elements = { 10.0.0.1 timeout 1d2h }", `ct state new ip dscp ef tcp dport { 22, 4711 } counter packets 3 bytes 4`,
			`ct expiration 1h meta skuid 0 icmp type echo-request meta pkttype host`, `meta hour "10:00" iif "lo" limit rate 5/minute burst 5 packets`,
		}},
		"-s": {func(o *Options) { o.Stateless = true }, []string{"{ 22, 4711 } counter\n"}},
		"-t": {func(o *Options) { o.Terse = true }, []string{"flags timeout\n\t}"}},
		"-y": {func(o *Options) { o.NumericPriority = true }, []string{"priority 5; policy"}},
		"-S": {func(o *Options) { o.ServiceNames = true }, []string{`tcp dport { "ssh", 4711 }`}},
		"-u": {func(o *Options) { o.UserNames = true }, []string{`meta skuid "root"`}},
		"-T": {func(o *Options) { o.NumericTime = true }, []string{"timeout 93600s", "ct expiration 3600s", `meta hour "10:00"`}},
		"-a": {func(o *Options) { o.Handles = true }, []string{
			"table inet t { # handle 1\n", "set s { # handle 2\n", "chain c { # handle 1\n", "burst 5 packets # handle 6\n",
		}},
		"-n": {func(o *Options) { *o = o.Numeric() }, []string{
			"priority 5;", "ct state 0x8 ip dscp 0x2e", "icmp type 8 meta pkttype 0", `iif "lo" limit rate 5/minute`,
		}},
	} {
		o := base
		c.change(&o)
		var b bytes.Buffer
		if err := List(&b, rs, o); err != nil {
			t.Fatal(err)
		}
		for _, line := range c.lines {
			if !strings.Contains(b.String(), line) {
				t.Errorf("%s: %q is missing in\n%s", name, line, b.String())
			}
		}
	}
}

// TestPluralLists compares the lists that have a form of their own.
func TestPluralLists(t *testing.T) {
	const source = `
table ip a {
	comment "first"
	counter n {
	}
	set s {
		type ipv4_addr
		elements = { 1.1.1.1 }
	}
	chain c {
		accept
	}
	chain d {
		type filter hook input priority filter; policy drop;
	}
}
table ip6 b {
}
`
	rs, err := load(nil, diag.NewSource("lists", []byte(source)), compileOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		list func(b *bytes.Buffer) error
		want string
	}{
		"tables": {
			func(b *bytes.Buffer) error { return ListTables(b, rs, Scope{}, Options{}) },
			"table ip a\ntable ip6 b\n",
		},
		"chains": {
			func(b *bytes.Buffer) error { return ListChains(b, rs, Scope{}, Options{}) },
			"table ip a {\n\tchain c {\n\t}\n\tchain d {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\ntable ip6 b {\n}\n",
		},
		"sets": {
			func(b *bytes.Buffer) error {
				return ListSets(b, rs, Scope{Family: catalog.FamilyIP}, PlainSets, Options{})
			},
			"table ip a {\n\tset s {\n\t\ttype ipv4_addr\n\t\telements = { 1.1.1.1 }\n\t}\n}\n",
		},
		"counters": {
			func(b *bytes.Buffer) error { return ListObjects(b, rs, Scope{}, 1, Options{}) },
			"table ip a {\n\tcounter n {\n\t\tpackets 0 bytes 0\n\t}\n}\n",
		},
		"rules": {
			func(b *bytes.Buffer) error { return ListRules(b, rs, Scope{Table: "a"}, Options{}) },
			"table ip a {\n\tchain c {\n\t\taccept\n\t}\n\n\tchain d {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\n",
		},
		"one set": {
			func(b *bytes.Buffer) error {
				table := rs.Table(catalog.FamilyIP, "a")
				return ListItems(b, table, []syntax.Item{SetDeclaration(table.Set("s"), Options{})})
			},
			"table ip a {\n\tset s {\n\t\ttype ipv4_addr\n\t}\n}\n",
		},
	} {
		var b bytes.Buffer
		if err := c.list(&b); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, b.String(), c.want)
		}
	}
	if got := Ruleset(rs, Options{}); len(got.Items) != 2 {
		t.Errorf("a file of %d items, want 2", len(got.Items))
	}
}

// TestTimeoutPolicy lists the states that differ from the kernel's defaults.
func TestTimeoutPolicy(t *testing.T) {
	const source = "add table ip t\nadd ct timeout ip t x { protocol tcp; policy = { close : 20s, established : 2m, syn_sent : 120s }; }\n"
	rs, err := load(nil, diag.NewSource("timeout", []byte(source)), compileOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := List(&b, rs, Options{}); err != nil {
		t.Fatal(err)
	}
	const want = "table ip t {\n\tct timeout x {\n\t\tprotocol tcp\n\t\tl3proto ip\n\t\tpolicy = { established : 2m, close : 20s }\n\t}\n}\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
