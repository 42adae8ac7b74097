package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/nft/syntax"
)

// plainRules makes a chain of n ordinary rules.
func plainRules(n int) string {
	var b strings.Builder
	b.WriteString("table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n")
	for i := range n {
		fmt.Fprintf(&b, "\t\tip saddr 10.%d.%d.0/24 tcp dport %d ct state new counter accept\n", i>>8&255, i&255, 1024+i%60000)
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

// rangeElements makes a set of n concatenations of a range and a port.
func rangeElements(n int) string {
	var b strings.Builder
	b.WriteString("table inet filter {\n\tset s {\n\t\ttype ipv4_addr . inet_service\n\t\tflags interval\n\t\telements = {\n")
	for i := range n {
		a := i * 4
		fmt.Fprintf(&b, "10.%d.%d.%d-10.%d.%d.%d . 80,\n", a>>16&255, a>>8&255, a&255, a>>16&255, a>>8&255, a&255+3)
	}
	b.WriteString("}\n\t}\n}\n")
	return b.String()
}

func benchmarkParse(b *testing.B, text string, opts syntax.Options) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		src := diag.NewSource("bench", []byte(text))
		if _, list := syntax.Parse(src, opts); list.HasErrors() {
			b.Fatal(list.Err())
		}
	}
}

func BenchmarkParseRules10k(b *testing.B) { benchmarkParse(b, plainRules(10000), syntax.Options{}) }

func BenchmarkParseElements800k(b *testing.B) {
	benchmarkParse(b, rangeElements(800000), syntax.Options{})
}

// BenchmarkCompactElements800k parses the same set to one node and reads its
// elements.
func BenchmarkCompactElements800k(b *testing.B) {
	text := rangeElements(800000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		file, list := syntax.Parse(diag.NewSource("bench", []byte(text)), syntax.Options{CompactElements: true})
		if list.HasErrors() {
			b.Fatal(list.Err())
		}
		elements := 0
		syntax.WalkFile(file, func(n syntax.Node) bool {
			s, ok := n.(*syntax.SetLiteral)
			if ok {
				for range s.All() {
					elements++
				}
			}
			return !ok
		})
		if elements != 800000 {
			b.Fatalf("%d elements", elements)
		}
	}
}

// BenchmarkPrintRules10k prints 10,000 rules.
func BenchmarkPrintRules10k(b *testing.B) {
	file, list := parseText("bench", plainRules(10000))
	if list.HasErrors() {
		b.Fatal(list.Err())
	}
	b.ReportAllocs()
	for b.Loop() {
		var out strings.Builder
		if err := syntax.PrintFile(&out, file); err != nil {
			b.Fatal(err)
		}
	}
}
