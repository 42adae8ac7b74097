package diag

import (
	"strings"
	"testing"
)

func TestNftRenderer(t *testing.T) {
	main := NewSource("main.nft", []byte("include \"x.nft\"\n"))
	src := NewSource("x.nft", []byte("table ip t {\n\tset s { elements = { 10.0.0.0/8, 10.1.1.1 }; }\n"))
	src.IncludedAt = Span{main, 0, 15}
	typed := NewSource("", []byte("add rule t c bad"))
	typed.CommandLine = true
	at := func(s *Source, text string) Span {
		i := strings.Index(string(s.Text), text)
		return Span{s, int32(i), int32(i + len(text))}
	}
	for name, c := range map[string]struct {
		d    Diagnostic
		want string
	}{
		"included, two places": {
			Diagnostic{Message: "conflicting intervals specified", Span: at(src, "10.1.1.1"), Related: []Span{at(src, "10.0.0.0/8")}, Hint: "h", Code: "c"},
			"In file included from main.nft:1:1-15:\nx.nft:2:35-42: Error: conflicting intervals specified\n" +
				"\tset s { elements = { 10.0.0.0/8, 10.1.1.1 }; }\n\t                     ~~~~~~~~~~  ^^^^^^^^\n",
		},
		"command line, with the line's end": {
			Diagnostic{Message: "Could not process rule: File exists", Span: Span{typed, 0, 17}},
			"Error: Could not process rule: File exists\nadd rule t c bad\n^^^^^^^^^^^^^^^^^\n",
		},
		"expectations": {
			Diagnostic{Message: "unexpected bad", Code: "syntax/unexpected", Span: at(typed, "bad"), Expected: []string{"a", "b"}},
			"Error: syntax error, unexpected bad\nexpected any of: a, b\nadd rule t c bad\n             ^^^\n",
		},
		"no place": {Diagnostic{Message: "m", Severity: Warning}, "Warning: m\n"},
		"several lines": {
			Diagnostic{Message: "m", Span: Span{src, 0, 30}},
			"In file included from main.nft:1:1-15:\nx.nft:1:1-13: Error: m\ntable ip t {\n^^^^^^^^^^^^^\n",
		},
	} {
		var b strings.Builder
		if err := (NftRenderer{}).One(&b, &c.d); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", name, b.String(), c.want)
		}
	}
}
