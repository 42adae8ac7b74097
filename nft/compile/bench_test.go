package compile

import (
	"fmt"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/nft/syntax"
)

// parsed is the tree of a text that must be correct.
func parsed(tb interface {
	Helper()
	Fatal(...any)
}, text string) *syntax.File {
	tb.Helper()
	file, list := syntax.Parse(diag.NewSource("test", []byte(text)), syntax.Options{})
	if err := list.Err(); err != nil {
		tb.Fatal(err)
	}
	return file
}

// bench reports the time of compiling a text, without parsing.
func bench(b *testing.B, text string) {
	file := parsed(b, text)
	b.ReportAllocs()
	for b.Loop() {
		if _, list := Compile(nil, file, Options{}); list.HasErrors() {
			b.Fatal(list.Err())
		}
	}
}

// BenchmarkConcatenatedRanges compiles 800,000 elements of two fields, the
// first an address range.
func BenchmarkConcatenatedRanges(b *testing.B) {
	var text strings.Builder
	text.WriteString("table inet t { set s { type ipv4_addr . inet_service; flags interval; elements = {\n")
	for i := range 800_000 {
		from := uint32(10<<24 + i*8)
		fmt.Fprintf(&text, "%d.%d.%d.%d-%d.%d.%d.%d . %d,\n", from>>24, from>>16&255, from>>8&255, from&255,
			from>>24, from>>16&255, from>>8&255, from&255+5, 1+i%65535)
	}
	text.WriteString("}\n}\n}\n")
	bench(b, text.String())
}

// BenchmarkIntervals compiles 500,000 intervals of a single field.
func BenchmarkIntervals(b *testing.B) {
	var text strings.Builder
	text.WriteString("table inet t { set s { type ipv4_addr; flags interval; elements = {\n")
	for i := range 500_000 {
		from := uint32(10<<24 + i*8)
		fmt.Fprintf(&text, "%d.%d.%d.%d-%d.%d.%d.%d,\n", from>>24, from>>16&255, from>>8&255, from&255,
			from>>24, from>>16&255, from>>8&255, from&255+5)
	}
	text.WriteString("}\n}\n}\n")
	bench(b, text.String())
}

// BenchmarkRules compiles 10,000 plain rules.
func BenchmarkRules(b *testing.B) {
	var text strings.Builder
	text.WriteString("table inet t { chain c {\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "ip saddr 10.%d.%d.0/24 tcp dport %d counter accept\n", i>>8&255, i&255, 1+i)
	}
	text.WriteString("}\n}\n")
	bench(b, text.String())
}

// BenchmarkAddToLargeSet compiles the addition of one range to a set that
// holds 200,000.
func BenchmarkAddToLargeSet(b *testing.B) {
	var text strings.Builder
	text.WriteString("table inet t { set s { type ipv4_addr; flags interval; auto-merge; elements = {\n")
	for i := range 200_000 {
		from := uint32(10<<24 + i*16)
		fmt.Fprintf(&text, "%d.%d.%d.%d-%d.%d.%d.%d,\n", from>>24, from>>16&255, from>>8&255, from&255,
			from>>24, from>>16&255, from>>8&255, from&255+5)
	}
	text.WriteString("}\n}\n}\n")
	base, _, err := load(nil, text.String(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	file := parsed(b, "add element inet t s { 10.9.9.8-10.9.9.11 }\n")
	for b.Loop() {
		if _, list := Compile(base, file, Options{}); list.HasErrors() {
			b.Fatal(list.Err())
		}
	}
}
