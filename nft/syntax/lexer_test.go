package syntax

import (
	"fmt"
	"strings"
	"testing"

	"verdict/diag"
)

// TestTokens shows how texts are cut into tokens: kinds by a letter, then the
// text. w word, * wildcard, v value, b bracketed address, n number, q string,
// u unclosed string, j junk, ; end of line, and signs as they are.
func TestTokens(t *testing.T) {
	letters := map[kind]string{
		kindWord: "w", kindWild: "*", kindValue: "v", kindBracket: "b", kindNumber: "n",
		kindQuoted: "q", kindOpenQuote: "u", kindJunk: "j",
	}
	tests := []struct{ text, want string }{
		{"tcp dport 22", "w:tcp w:dport n:22"},
		{"a/b-c.d_e", "w:a/b-c.d_e"},
		{".x . y", "w:.x . w:y"},
		{"eth* et\\*h \\* \\*a*", "*:eth* *:et\\*h *:\\* *:\\*a*"},
		{"0x1F 010 08 0xg 5", "n:0x1F n:010 v:08 v:0xg n:5"},
		{"10.0.0.1-10.0.0.9/24", "v:10.0.0.1 - v:10.0.0.9 / n:24"},
		{"1.2.3", "n:1 w:.2.3"},
		{"10.0.0.1:80", "v:10.0.0.1 : n:80"},
		{"::1 fe80::1-fe80::2 ::ffff:1.2.3.4", "v:::1 v:fe80::1 - v:fe80::2 v:::ffff:1.2.3.4"},
		{"[::1]:80 sid[1]", "b:[::1] : n:80 w:sid [ n:1 ]"},
		{"1:2:3:4:5:6:7:8 2001:db8::/32", "v:1:2:3:4:5:6:7:8 v:2001:db8:: / n:32"},
		{"1:2:3:4:5:6:/96 12:34:567:/8", "v:1:2:3:4:5:6 : / n:96 v:12:34 : n:567 : / n:8"},
		{"00:11:22:aa:bb:cc a:b:c:d:e:f", "v:00:11:22:aa:bb:cc v:a:b:c:d:e:f"},
		{"1:ffff 22:accept {25:drop}", "v:1:ffff n:22 : w:accept { n:25 : w:drop }"},
		{":80 :: :::", ": n:80 v::: v::: :"},
		{"1d2h3m4s5ms 8021q 25mbytes", "v:1d2h3m4s5ms v:8021q v:25mbytes"},
		{"kbytes/second", "w:kbytes/second"},
		{`"a b" "a#b" "`, `q:"a b" q:"a#b" u:"`},
		{"\"open\nnext", "u:\"open ; w:next"},
		{"a # comment\nb", "w:a ; w:b"},
		{"a \\\nb \\\r\nc\r\n", "w:a w:b w:c ;"},
		{"== != <= >= << >> < > = !", "== != <= >= << >> < > = !"},
		{"@nh,96,32 $x @s", "@ w:nh , n:96 , n:32 $ w:x @ w:s"},
		{"a%é\x01", "w:a j:% j:é j:\x01"},
		{"\\x", "j:\\ w:x"},
	}
	for _, test := range tests {
		l := newLexer(diag.NewSource("t", []byte(test.text)), false)
		var got []string
		for tok := l.scan(); tok.kind != kindEOF; tok = l.scan() {
			text := test.text[tok.start:tok.end]
			switch letter, ok := letters[tok.kind]; {
			case ok:
				text = letter + ":" + text
			case tok.kind == kindNewline:
				text = ";"
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%q\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	tests := []struct {
		text  string
		value uint64
		ok    bool
	}{
		{"0", 0, true}, {"42", 42, true}, {"0x2a", 42, true}, {"052", 42, true}, {"0XFF", 255, true},
		{"18446744073709551615", 1<<64 - 1, true}, {"18446744073709551616", 0, false},
		{"0xffffffffffffffff", 1<<64 - 1, true}, {"0x10000000000000000", 0, false},
	}
	for _, test := range tests {
		value, ok := parseNumber(test.text)
		if ok != test.ok || ok && value != test.value {
			t.Errorf("%s: %d %v", test.text, value, ok)
		}
	}
}

func TestTimes(t *testing.T) {
	tests := []struct {
		text string
		want string // as printed, "" where it is no time
	}{
		{"1d2h3m4s5ms", "1d2h3m4s5ms"}, {"300", "5m"}, {"90s", "1m30s"}, {"0", "0s"}, {"1500ms", "1s500ms"},
		{"25h", "1d1h"}, {"1s1m", ""}, {"1x", ""}, {"", ""}, {"s", ""}, {"1d5", ""}, {"1s1s", ""},
		{"99999999999999999999s", ""}, {"213503982335d", ""},
	}
	for _, test := range tests {
		ms, ok := parseTime(test.text)
		if got := string(appendTime(nil, ms)); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%q: %s %v, want %q", test.text, got, ok, test.want)
		}
	}
}

// TestBoundedWork gives the parser large texts that are no rulesets: it must
// give up after the wanted number of errors, and not keep much.
func TestBoundedWork(t *testing.T) {
	const size = 1 << 20
	repeat := func(text string) string { return strings.Repeat(text, size/len(text)) }
	texts := map[string]string{
		"junk": repeat("%"), "junk lines": repeat("%\n"), "words": repeat("foo bar "), "word lines": repeat("foo bar\n"),
		"open braces": repeat("{"), "closing braces": repeat("}"), "closing lines": repeat("}\n"),
		"one word": repeat("a"), "open string": `"` + repeat("a"),
		"jumps": "add rule t c " + repeat("jump {\n"), "parentheses": "add rule t c " + repeat("("),
		"lists in lists": "define x = " + repeat("{"), "colons": "add rule t c ip6 saddr " + repeat("1:"),
		"operators": "define x = 1" + repeat(" | 1"), "maps": "add rule t c tcp dport" + repeat(" map @m"),
		"tables": repeat("table t { chain c {\n"), "hashes": "add rule t c " + repeat("jhash "),
		"tunnels": "add rule t c " + repeat("vxlan "), "sets": repeat("set s {\n"), "backslashes": repeat("\\"),
	}
	for name, text := range texts {
		file, list := Parse(diag.NewSource(name, []byte(text)), Options{MaxErrors: NftMaxErrors})
		if n := list.Errors(); n == 0 || n > NftMaxErrors {
			t.Errorf("%s: %d errors", name, n)
		}
		if n := len(file.Items); n > NftMaxErrors {
			t.Errorf("%s: %d items", name, n)
		}
	}
}

func ExampleParse() {
	src := diag.NewSource("rules.nft", []byte("table ip t {\n\tchain c {\n\t\ttcp dprot 22 accept\n\t}\n}\n"))
	_, list := Parse(src, Options{})
	for _, d := range list.All() {
		fmt.Println(d.Error() + "; " + d.Hint)
	}
	// Output: rules.nft:3:7: error: unknown field of tcp 'dprot'; did you mean 'dport'?
}
