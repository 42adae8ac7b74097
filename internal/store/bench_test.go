package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"verdict/nft/ruleset"
)

// manyRules is a text of n plain rules.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("table inet t {\n\tchain c {\n\t\ttype filter hook input priority 0;\n")
	for i := range n {
		fmt.Fprintf(&b, "\t\tip saddr 10.%d.%d.%d tcp dport %d counter accept\n", i>>16, i>>8&255, i&255, i%60000+1)
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

// manyElements is a text of a set of n addresses.
func manyElements(n int) string {
	var b strings.Builder
	b.WriteString("table inet t {\n\tset s {\n\t\ttype ipv4_addr\n\t\telements = { ")
	for i := range n {
		fmt.Fprintf(&b, "10.%d.%d.%d,\n", i>>16, i>>8&255, i&255)
	}
	b.WriteString(" }\n\t}\n}\n")
	return b.String()
}

func benchmarkRead(b *testing.B, text string, fold bool) {
	now := second
	path := filepath.Join(b.TempDir(), "state")
	s := open(path, &now)
	rs := mustApply(b, nil, text)
	s.state.Rules = &ruleset.Ruleset{}
	if fold {
		s.state.Rules = rs
		if err := s.rewrite(&s.state, nil); err != nil {
			b.Fatal(err)
		}
	} else {
		batch := mustBatch(b, nil, text)
		next, _ := ruleset.Apply(nil, batch, ruleset.Options{})
		t := &Transaction{Batch: batch, Next: next}
		if err := s.rewrite(&s.state, t.record(nil)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(s.file.end)
	for b.Loop() {
		if _, err := open(path, &now).Read(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadRules100k(b *testing.B)   { benchmarkRead(b, manyRules(100_000), true) }
func BenchmarkReplayRules100k(b *testing.B) { benchmarkRead(b, manyRules(100_000), false) }
func BenchmarkReadElements1M(b *testing.B)  { benchmarkRead(b, manyElements(1_000_000), true) }
func BenchmarkReadSmall(b *testing.B)       { benchmarkRead(b, everything, true) }
func BenchmarkReplaySmall(b *testing.B)     { benchmarkRead(b, everything, false) }

func BenchmarkWriteRules100k(b *testing.B) {
	now := second
	s := open(filepath.Join(b.TempDir(), "state"), &now)
	s.state.Rules = mustApply(b, nil, manyRules(100_000))
	for b.Loop() {
		if err := s.rewrite(&s.state, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(s.file.end)
}

func BenchmarkUpdate(b *testing.B) {
	now := second
	s := open(filepath.Join(b.TempDir(), "state"), &now)
	update(b, s, "add table ip t\nadd chain ip t c")
	for b.Loop() {
		update(b, s, "add rule ip t c accept")
		update(b, s, "flush chain ip t c")
	}
}
