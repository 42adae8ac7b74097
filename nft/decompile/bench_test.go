package decompile

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"verdict/diag"
	"verdict/internal/testdata"
	"verdict/nft/ruleset"
)

func loaded(b *testing.B, source string) *ruleset.Ruleset {
	b.Helper()
	rs, err := load(nil, diag.NewSource("bench", []byte(source)), compileOptions(testdata.RecordingInterfaces()))
	if err != nil {
		b.Fatal(err)
	}
	return rs
}

func benchmarkList(b *testing.B, rs *ruleset.Ruleset) {
	b.ReportAllocs()
	for b.Loop() {
		if err := List(io.Discard, rs, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRules lists 100,000 rules.
func BenchmarkRules(b *testing.B) {
	var s strings.Builder
	s.WriteString("table inet t {\n\tchain c {\n")
	for i := range 100_000 {
		fmt.Fprintf(&s, "\t\tip saddr 10.%d.%d.0/24 tcp dport %d counter accept\n", i>>8&255, i&255, 1+i%65535)
	}
	s.WriteString("\t}\n}\n")
	benchmarkList(b, loaded(b, s.String()))
}

// BenchmarkHashElements lists 800,000 addresses.
func BenchmarkHashElements(b *testing.B) {
	var s strings.Builder
	s.WriteString("table ip t {\n\tset s {\n\t\ttype ipv4_addr\n\t\telements = { ")
	for i := range 800_000 {
		fmt.Fprintf(&s, "10.%d.%d.%d, ", i>>16&255, i>>8&255, i&255)
	}
	s.WriteString("11.0.0.0 }\n\t}\n}\n")
	benchmarkList(b, loaded(b, s.String()))
}

// BenchmarkConcatElements lists 200,000 concatenations of ranges.
func BenchmarkConcatElements(b *testing.B) {
	var s strings.Builder
	s.WriteString("table ip t {\n\tset s {\n\t\ttype ipv4_addr . inet_service\n\t\tflags interval\n\t\telements = { ")
	for i := range 200_000 {
		fmt.Fprintf(&s, "10.%d.%d.%d . %d-%d, ", i>>16&255, i>>8&255, i&255, 1+i%1000, 2000+i%1000)
	}
	s.WriteString("11.0.0.0 . 1 }\n\t}\n}\n")
	benchmarkList(b, loaded(b, s.String()))
}

// BenchmarkIntervals lists 500,000 ranges.
func BenchmarkIntervals(b *testing.B) {
	var s strings.Builder
	s.WriteString("table ip t {\n\tset s {\n\t\ttype ipv4_addr\n\t\tflags interval\n\t\telements = { ")
	for i := range 500_000 {
		fmt.Fprintf(&s, "10.%d.%d.%d-10.%d.%d.%d, ", i>>14&255, i>>6&255, i<<2&255, i>>14&255, i>>6&255, i<<2&255+2)
	}
	s.WriteString("11.200.0.0 }\n\t}\n}\n")
	benchmarkList(b, loaded(b, s.String()))
}
