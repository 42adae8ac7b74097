package compile

import (
	"fmt"
	"strings"
	"testing"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/syntax"
)

func TestElements(t *testing.T) {
	base, _, err := load(nil, `table ip t {
set plain { type ipv4_addr; elements = { 1.1.1.1 }; }
set ranges { type ipv4_addr; flags interval; elements = { 10.0.0.0/8 }; }
set pairs { type ipv4_addr . inet_service; flags interval; elements = { 10.0.0.0/8 . 80 }; }
map marks { type ipv4_addr : mark; elements = { 1.1.1.1 : 1 }; }
}
`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ command, want string }{
		{"get element ip t plain { 1.2.3.4, 5.6.7.8 }", "01020304-/0 05060708-/0"},
		{"get element ip t ranges { 10.0.0.1 }", "0a000001-/0 0a000002-/1"},
		{"get element ip t ranges { 255.0.0.0/8 }", "ff000000-/0"},
		{"get element ip t pairs { 10.0.0.1 . 80 }", "0a00000100500000-0a00000100500000/0"},
		{"get element ip t marks { 1.1.1.1 }", "01010101-/0"},
		{"get element ip t plain { example }", "error"},
		{"get element ip t nosuch { 1 }", "error"},
	}
	for _, c := range cases {
		cmd := parsed(t, c.command+"\n").Items[0].(*syntax.Command)
		elements, list := Elements(base, cmd, Options{})
		var got []string
		for _, e := range elements {
			got = append(got, fmt.Sprintf("%x-%x/%d", e.Key, e.KeyEnd, e.Flags))
		}
		if list.HasErrors() {
			got = []string{"error"}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.command, s, c.want)
		}
	}
}

func TestTypeOf(t *testing.T) {
	cases := []struct {
		text string
		want *catalog.Type
		bits int
	}{
		{"tcp dport", catalog.InetService, 16},
		{"ip dscp", catalog.DSCP, 6},
		{"meta mark", catalog.Mark, 32},
		{"iifname", catalog.IfName, 128},
		{"ct state", catalog.CTState, 32},
		{"vlan id", catalog.Integer, 12},
		{"fib daddr type", catalog.FibAddrType, 32},
		{"tcp option maxseg size", catalog.Integer, 16},
	}
	for _, c := range cases {
		e, list := syntax.ParseExpr(diag.NewSource("test", []byte(c.text)))
		if list.HasErrors() {
			t.Fatal(list.Err())
		}
		v, list := TypeOf(e)
		if list.HasErrors() || v.Type != c.want || v.Bits != c.bits {
			t.Errorf("%s: %+v, %v", c.text, v, list.Err())
		}
	}
}
