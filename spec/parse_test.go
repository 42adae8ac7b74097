package spec

import (
	"strings"
	"testing"
)

const small = `About ports.
-- ruleset.nft --
table ip t {
	chain input { type filter hook input priority 0; policy drop; }
}
-- case: one --
-- ruleset.nft --
add rule ip t input tcp dport 22 counter accept
-- packets @input --
# a comment
ssh: tcp dport 22
web x2: tcp dport 80
-- expect --
wrong
-- case: two --
Nothing is loaded but the head.
-- packets @output --
p +1s cut 20 @input: tcp dport 22
`

func TestParse(t *testing.T) {
	f, err := Parse("small", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Cases) != 2 || f.Comment != "About ports.\n" {
		t.Fatalf("%d cases, comment %q", len(f.Cases), f.Comment)
	}
	one, two := f.Cases[0], f.Cases[1]
	if len(one.Steps) != 3 || len(one.Packets()) != 2 || one.Packets()[1].Times != 2 || one.Expect != "wrong\n" {
		t.Errorf("first case: %+v", one)
	}
	if len(two.Steps) != 2 || two.Comment != "Nothing is loaded but the head.\n" {
		t.Errorf("second case: %+v", two)
	}
	if p := two.Packets()[0]; p.Hook.String() != "input" || p.Cut != 20 || p.After.String() != "1s" {
		t.Errorf("packet: %+v", p)
	}
}

// TestOrderOfSteps: a batch behind packets changes what later ones meet, from
// the time on at which it comes.
func TestOrderOfSteps(t *testing.T) {
	f, err := Parse("steps", []byte(`-- case: one --
-- ruleset.nft --
table ip t {
	set s { type ipv4_addr; flags timeout; }
	chain input { type filter hook input priority 0; policy drop; ip saddr @s accept; }
}
-- packets @input --
before +1h: ip saddr 10.0.0.1 tcp
-- ruleset.nft --
add element ip t s { 10.0.0.1 timeout 10s }
add element ip t nosuch { 10.0.0.1 }
-- elements --
add s
element 0a000002
-- ruleset.nft --
add element ip t s { 10.0.0.1 timeout 10s }
-- options --
sets
-- packets @input --
after +9s: ip saddr 10.0.0.1 tcp
late +1s: ip saddr 10.0.0.1 tcp
`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Cases[0].Run(Executors[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = "before: drop by policy of input\nrefused line 2: compile/no-set: No such file or directory\n" +
		"after: accept by input#1\nlate: drop by policy of input\nset s: { 10.0.0.2 }\n"
	if r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
}

func TestRunAndUpdate(t *testing.T) {
	f, err := Parse("small", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]string{}
	for _, c := range f.Cases {
		r, err := c.Run(Executors[0])
		if err != nil {
			t.Fatal(err)
		}
		results[c.Name] = r.Text
	}
	const want = "ssh: accept by input#1\nweb: drop by policy of input\ncounter input#1: 1 packets 40 bytes\n"
	if results["one"] != want {
		t.Errorf("got %q, want %q", results["one"], want)
	}
	updated, err := Parse("small", f.Update(results))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range updated.Cases {
		if c.Expect != results[c.Name] || c.Name != f.Cases[i].Name {
			t.Errorf("case %q expects %q after the update", c.Name, c.Expect)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "no section"},
		{"-- case: a --\n-- nosuch --\n", "unknown section"},
		{"-- expect --\n-- case: a --\n", "before the first case"},
		{"-- case: a --\n-- packets @nosuch --\n", "unknown hook"},
		{"-- case: a --\n-- packets --\ntcp dport 22\n", "is not NAME: PACKET"},
		{"-- case: a --\n-- packets --\np quickly: tcp\n", "unknown setting"},
		{"-- case: a --\n-- packets --\np at: tcp\n", "lacks its value"},
		{"-- case: a --\n-- packets --\np: tcp dprot 22\n", "dport"},
	} {
		_, err := Parse("f", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	for _, c := range []struct{ section, want string }{
		{"-- bytecode --\nnosuch\n  [ immediate reg 0 accept ]\n", `no chain "nosuch"`},
		{"-- elements --\nadd nosuch\n", `no set "nosuch"`},
		{"-- elements --\nelement 01\n", "of which set"},
		{"-- ruleset.nft --\ntable ip t { set s { type ipv4_addr; }; }\n-- elements --\nmove s\n", "nothing to do with elements"},
		{"-- ruleset.nft --\ntable ip t { set s { type ipv4_addr; }; }\n-- elements --\nadd s\nelement 0x01\n", "invalid byte"},
		{"-- ruleset.nft --\ntable ip t { set s { type ipv4_addr; }; }\n-- elements --\nadd s\nelement 01 flags 1 2\n", "flags are one number"},
		{"-- host.json --\n{\"interfaces\": 1}\n", "interfaces"},
		{"-- options --\nmagic\n", "unknown option"},
	} {
		f, err := Parse("f", []byte("-- case: a --\n"+c.section))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.Cases[0].Run(Executors[0]); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.section, err, c.want)
		}
	}
}
