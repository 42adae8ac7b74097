package expr

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"verdict/catalog"
)

func TestParseTextErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `1:1: unknown expression ""`},
		{"frobnicate reg 1", `1:1: unknown expression "frobnicate"`},
		{"cmp eq reg 1", `1:13: expected a constant, found the end of the line`},
		{"cmp is reg 1 0x00", `1:5: unknown relation "is"`},
		{"cmp eq reg 5 0x00", `1:12: no register 5`},
		{"cmp eq reg 1 0x0", `1:14: word 0x0 of a constant needs 2 to 8 digits, an even number`},
		{"cmp eq reg 1 0xzz", `1:14: word 0xzz of a constant is not hexadecimal`},
		{"cmp eq reg 1 0x00 0x00", `1:14: only the last word of a constant may be shorter than 4 bytes`},
		{"cmp eq reg 1 0x00 more", `1:19: unexpected "more"`},
		{"cmp eq reg 1" + strings.Repeat(" 0x00000000", 21), `1:14: constant has 84 bytes, more than the registers hold`},
		{"range eq reg 1 0x00000000 0x00000000 0x00000000", `1:16: expected two constants of the same length`},
		{"range eq reg 1 0x00000000 0x0000", `1:16: expected two constants of the same length`},
		{"[ counter pkts 0 bytes 0", `1:25: expected "]", found the end of the line`},
		{"counter pkts x bytes 0", `1:14: expected a number, found "x"`},
		{"counter pkts", `1:13: expected a number, found the end of the line`},
		{"counter pkts 0 bytes 99999999999999999999", `1:22: number 99999999999999999999 is larger than 64 bits`},
		{"meta load nonsense => reg 1", `1:11: unknown meta key "nonsense"`},
		{"meta read mark => reg 1", `1:6: unknown form "read"`},
		{"ct load state -> reg 1", `1:15: expected "=>", found "->"`},
		{"ct load bytes => reg 1 , dir sideways", `1:30: unknown direction "sideways"`},
		{"payload load 2 @ network header + 0 => reg 1", `1:14: expected a number with "b", found "2"`},
		{"payload load 2b @ moon header + 0 => reg 1", `1:19: unknown header "moon"`},
		{"exthdr load ipv6 1b @ 300 + 0 => reg 1", `1:23: number 300 is larger than 8 bits`},
		{"bitwise reg 1 = ( reg 1 % 0x00 )", `1:25: unknown operator "%"`},
		{"bitwise reg 1 = ( reg 1 & 0x00 ) ^ 0x0000", `1:36: mask and xor differ in length`},
		{"byteorder reg 1 = swap(reg 1, 4, 4)", `1:19: unknown operation "swap"`},
		{"immediate reg 0 explode", `1:17: unknown verdict "explode"`},
		{"immediate reg 0 jump -> ", `1:25: expected a chain, found the end of the line`},
		{"lookup reg 1 set", `1:17: expected a set, found the end of the line`},
		{"dynset add reg_key 1 set s expr [ inner type 1 ]", `1:35: inner inside another expression`},
		{"dynset add reg_key 1 set s timeout 5s", `1:36: expected a number with "ms", found "5s"`},
		{"inner type 1 hdrsize 8 flags q [ meta load l4proto => reg 1 ]", `1:30: expected flags in hexadecimal, found "q"`},
		{"inner type 1 hdrsize 8 flags f meta", `1:32: expected "[", found "meta"`},
		{"limit rate 5 burst 1 type packets flags 0x0", `1:12: expected a rate such as 10/second, found "5"`},
		{"limit rate 5/year burst 1 type packets flags 0x0", `1:14: unknown unit "year"`},
		{"limit rate 5/day burst 1 type packets flags 0x4", `1:45: unknown flags 0x4`},
		{"fib saddr . nose oif => reg 1", `1:13: unknown part "nose" of the tuple`},
		{"fib saddr color => reg 1", `1:11: unknown fib result "color"`},
		{"hash reg 1 = md5(reg 2, 4, 0x0) % mod 2", `1:14: unknown hash "md5"`},
		{"nat dnat apple addr_min reg 1", `1:10: unknown family "apple"`},
		{"queue num 5-4", `1:11: queues 5-4 run backwards or are too many`},
		{"queue num 0-65535", `1:11: queues 0-65535 run backwards or are too many`},
		{"log level 4 loudly", `1:5: unknown attributes "level 4 loudly"`},
		{"objref kind 1 name c", `1:8: unknown form "kind"`},
	} {
		e, err := ParseText(c.text, TextOptions{})
		if err == nil {
			t.Errorf("%q: no error, got %s", c.text, e.AppendText(nil))
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, err, c.want)
		}
		var te *TextError
		if !errors.As(err, &te) || te.Column < 1 || te.Column > len(c.text)+1 {
			t.Errorf("%q: column outside the text: %v", c.text, err)
		}
	}
}

func TestParseRuleTextNamesTheLine(t *testing.T) {
	_, err := ParseRuleText("# a comment\n\n  [ counter pkts 0 bytes 0 ]\n  [ cmp eq reg 9x 0x00 ]\n", TextOptions{})
	if want := `4:16: expected a number, found "9x"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestTextOfSingleExpressions(t *testing.T) {
	for _, text := range []string{
		"log",
		"log prefix ",
		"log prefix a b level 6",
		"log prefix level 6 level 7 tcpseq uid",
		"log prefix group 1 group 2 snaplen 0 qthreshold 0",
		"log prefix Successful portknock: ",
		"log tcpseq tcpopt ipopt uid macdecode",
		"immediate reg 0 jump -> c/with/slashes",
		"immediate reg 0 break",
		"dynset update reg_key 1 set s sreg_data 9 timeout 5ms expr [ counter pkts 1 bytes 2 ] expr [ last never ]",
		"exthdr load ipv4 4b @ 131 + 3 => reg 1",
		"socket load cgroupv2 => reg 1",
		"tunnel load id => reg 1",
		"ct load unknown => reg 1",
		"bitwise reg 1 = ( reg 1 ^ 0x00000001 )",
		"bitwise reg 1 = ( reg 1 & 0x00000001 )",
		"queue num 0-65534 bypass fanout",
		"fwd sreg_dev 1 sreg_addr 2 nfproto 10",
	} {
		for _, line := range []string{text, "  [ " + text + " ]"} {
			e, err := ParseText(line, TextOptions{})
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			if got := string(e.AppendText(nil)); got != text {
				t.Errorf("%q gives %q", line, got)
			}
		}
	}
}

// TestRuleTextByteOrder looks at the constants in memory order.
func TestRuleTextByteOrder(t *testing.T) {
	fields := func(set string) (key, data []ElementField) {
		if set == "m" {
			return []ElementField{{Len: 4}, {Len: 2, Host: true}}, []ElementField{{Len: 4, Host: true}}
		}
		return nil, nil
	}
	host, net := []byte{0x78, 0x56, 0x34, 0x12}, []byte{0x12, 0x34, 0x56, 0x78}
	const v = "0x12345678"
	for _, c := range []struct {
		name, rule string
		want       []byte // of the last constant in the rule
	}{
		{"mark", "meta load mark => reg 1\ncmp eq reg 1 " + v, host},
		{"address", "payload load 4b @ network header + 12 => reg 1\ncmp eq reg 1 " + v, net},
		{"mark in network order", "meta load mark => reg 1\nbyteorder reg 1 = hton(reg 1, 4, 4)\ncmp lt reg 1 " + v, net},
		{"port in host order", "payload load 4b @ transport header + 0 => reg 1\nbyteorder reg 1 = ntoh(reg 1, 4, 4)\ncmp lt reg 1 " + v, host},
		{"masked mark", "ct load mark => reg 1\nbitwise reg 1 = ( reg 1 & 0x000000ff ) ^ " + v, host},
		{"ored mark", "ct load mark => reg 1\nbitwise reg 2 = ( reg 1 | 0x000000ff )\ncmp eq reg 2 " + v, host},
		{"range of marks", "meta load mark => reg 1\nrange eq reg 1 0x00000001 " + v, host},
		{"random", "meta load prandom => reg 1\ncmp lt reg 1 " + v, net},
		{"constant for a mark", "immediate reg 1 " + v + "\nmeta set mark with reg 1", host},
		{"constant for a packet", "immediate reg 1 " + v + "\npayload write reg 1 => 4b @ network header + 16 csum_type 0 csum_off 0 csum_flags 0x0", net},
		{"constant for nat", "immediate reg 1 " + v + "\nnat dnat ip addr_min reg 1", net},
		{"constant for a device", "immediate reg 1 " + v + "\nfwd sreg_dev 1", host},
		{"constant for a queue", "immediate reg 1 " + v + "\nqueue sreg_qnum 1", host},
		{"constant ored with a mark", "immediate reg 1 " + v + "\nmeta load mark => reg 2\nbitwise reg 1 = ( reg 1 | reg 2 )\nmeta set mark with reg 1", host},
		{"constant for a set", "immediate reg 1 " + v + "\ndynset add reg_key 1 set s", net},
		{"constant for map data", "payload load 4b @ network header + 12 => reg 1\nimmediate reg 2 " + v + "\ndynset add reg_key 1 set m sreg_data 2", host},
		{"map data", "lookup reg 1 set m dreg 1\ncmp eq reg 1 " + v, host},
		{"number", "numgen reg 1 = inc mod 4\ncmp eq reg 1 " + v, host},
		{"hash", "hash reg 1 = symhash() % mod 4\ncmp eq reg 1 " + v, host},
		{"interface of a route", "fib saddr oif => reg 1\ncmp eq reg 1 " + v, host},
		{"spi", "xfrm load in 0 spi => reg 1\ncmp eq reg 1 " + v, net},
		{"verdict between", "meta load mark => reg 1\nimmediate reg 0 accept\ncmp eq reg 1 " + v, host},
	} {
		rule, err := ParseRuleText(c.rule, TextOptions{SetFields: fields})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var last Value
		for _, e := range rule {
			eachConstant(e, func(v *Value) {
				if len(v.Bytes) > 0 {
					last = *v
				}
			})
		}
		if !bytes.Equal(last.Bytes, c.want) {
			t.Errorf("%s: % x, want % x", c.name, last.Bytes, c.want)
		}
		memory, err := ParseRuleText(c.rule, TextOptions{Memory: true, SetFields: fields})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range memory {
			eachConstant(e, func(v *Value) {
				if v.Host && len(v.Bytes) > 1 {
					t.Errorf("%s: memory order was changed", c.name)
				}
			})
		}
	}
	e, err := ParseText("cmp eq reg 1 "+v, TextOptions{Host: true})
	if err != nil || !bytes.Equal(e.(*Cmp).Value.Bytes, host) {
		t.Errorf("single line in host order: %v %v", e, err)
	}
}

// TestRuleTextHiddenOperands covers what single lines do not show.
func TestRuleTextHiddenOperands(t *testing.T) {
	rule, err := ParseRuleText(`payload load 1b @ transport header + 8 => reg 1
bitwise reg 1 = ( reg 1 >> 0x00000001 )
payload load 16b @ network header + 8 => reg 2
bitwise reg 2 = ( reg 2 | reg 3 )
meta load l4proto => reg 1
cmp eq reg 1 0x84
exthdr load 1b @ 0 + 0 present => reg 1
meta load l4proto => reg 1
cmp eq reg 1 0x21
exthdr load 1b @ 0 + 0 present => reg 1`, TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := rule[1].(*Bitwise).Len; n != 1 {
		t.Errorf("shift of %d bytes, want 1", n)
	}
	if n := rule[3].(*Bitwise).Len; n != 16 {
		t.Errorf("or of %d bytes, want 16", n)
	}
	if op := rule[6].(*Exthdr).Op; op != ExthdrSCTP {
		t.Errorf("exthdr %d behind sctp", op)
	}
	if op := rule[9].(*Exthdr).Op; op != ExthdrDCCP {
		t.Errorf("exthdr %d behind dccp", op)
	}
}

func TestElementText(t *testing.T) {
	key := []byte{10, 0, 0, 1, 0x50, 0, 0, 0, 'l', 'o', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	fields := []ElementField{{Len: 4}, {Len: 2, Host: true}, {Len: 16}}
	want := "0a000001 . 0050 . 6c6f0000 00000000 00000000 00000000"
	if got := string(AppendElementFields(nil, key, fields)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := string(AppendElementFields(nil, key[:5], fields)); got != "0a000001 . 50 . " {
		t.Errorf("short key gives %q", got)
	}
	for _, c := range []struct {
		d    Data
		want string
	}{
		{Data{Value: Value{Bytes: []byte{1, 0, 0, 0}, Host: true}}, "00000001"},
		{Data{Value: Value{Bytes: []byte{0, 1, 2, 3, 4, 5}}}, "00010203 0405"},
		{Data{Verdict: &Verdict{Kind: catalog.VerdictGoto, Chain: "c"}}, "goto -> c"},
		{Data{Verdict: &Verdict{Kind: catalog.VerdictDrop}}, "drop"},
	} {
		if got := string(AppendData(nil, c.d)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestObjectText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string((&Limit{Rate: 1024, Unit: 1, Bytes: true, Over: true}).AppendObjectText(nil)), "limit rate 1024 unit 1 burst 0 type 1 flags 1"},
		{string((&Quota{Bytes: 2000, Over: true}).AppendObjectText(nil)), "quota bytes 2000 flags 1"},
		{string(AppendRule(nil, []Expr{&Counter{}, &Notrack{}})), "  [ counter pkts 0 bytes 0 ]\n  [ notrack ]\n"},
		{string((&Meta{Dst: Reg1}).AppendText(nil)), "meta load unknown => reg 1"},
		{string((&Limit{Rate: 1, Unit: 7}).AppendText(nil)), "limit rate 1/error burst 0 type packets flags 0x0"},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func FuzzParseText(f *testing.F) {
	for _, s := range []string{
		"cmp eq reg 1 0x00000000 0x0001", "range neq reg 1 0x0021 0x002d", "immediate reg 0 jump -> c",
		"bitwise reg 1 = ( reg 1 & 0x0f ) ^ 0x00", "byteorder reg 1 = hton(reg 1, 4, 4)",
		"payload write reg 1 => 2b @ inner header + 6 csum_type 0 csum_off 0 csum_flags 0x1",
		"inner type 2 hdrsize 8 flags f [ meta load protocol => reg 1 ]", "log prefix a group 2 snaplen 3 qthreshold 4",
		"dynset add reg_key 1 set s timeout 5ms expr [ counter pkts 0 bytes 0 ]", "[ exthdr reset tcpopt 30 ]",
		"limit rate 1/second burst 0 type bytes flags 0x1", "queue num 1-2 bypass", "ct load bytes => reg 1 , dir reply",
		"nat dnat ip addr_min reg 1 proto_min reg 2 flags 0x2", "fib saddr . iif oif present => reg 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseText(s, TextOptions{})
		if err != nil {
			var te *TextError
			if !errors.As(err, &te) || te.Column < 1 || te.Column > len(s)+1 {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		text := e.AppendText(nil)
		again, err := ParseText(string(text), TextOptions{})
		if err != nil {
			t.Fatalf("%q prints as %q, which does not parse: %v", s, text, err)
		}
		if got := again.AppendText(nil); !bytes.Equal(got, text) {
			t.Fatalf("%q prints as %q and then %q", s, text, got)
		}
		if _, err := CheckRule([]Expr{e}, Place{Family: familyIP}); err != nil {
			var refused *Error
			if !errors.As(err, &refused) {
				t.Fatalf("%q: %v is no refusal", s, err)
			}
		}
		if rule, err := ParseRuleText(s, TextOptions{}); err == nil && len(rule) > 0 {
			rule[0].Registers(&Place{})
		}
	})
}
