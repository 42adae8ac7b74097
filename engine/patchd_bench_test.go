//go:build linux

package engine_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"verdict"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/packet/build"
)

// inverted is a chain of n rules with inverted prefixes none of which matches
// a packet from 10.1.2.3: all the same, with distinct destinations, or of 64
// different prefixes.
func inverted(kind string, n int) string {
	var s strings.Builder
	s.WriteString("table ip filter {\n\tchain c {\n\t\ttype filter hook prerouting priority raw; policy accept;\n")
	for i := range n {
		switch kind {
		case "same":
			s.WriteString("\t\tip saddr != 10.0.0.0/10 counter drop\n")
		case "distinct":
			fmt.Fprintf(&s, "\t\tip saddr != 10.0.0.0/10 ip daddr 10.1.%d.%d counter drop\n", i>>8&255, i&255)
		case "lengths":
			fmt.Fprintf(&s, "\t\tip %s != 10.1.2.3/%d counter drop\n", []string{"saddr", "daddr"}[i&1], 1+i/2%32)
		}
	}
	s.WriteString("\t}\n}\n")
	return s.String()
}

// BenchmarkInverted measures chains of inverted prefixes, rule by rule and
// compiled, decoding included.
func BenchmarkInverted(b *testing.B) {
	for _, mode := range []chain.Mode{chain.VM, chain.Auto} {
		for _, kind := range []string{"same", "distinct", "lengths"} {
			for _, n := range []int{1, 10, 100, 1000, 10000} {
				b.Run(fmt.Sprintf("%v/%s/%d", mode, kind, n), func(b *testing.B) {
					loaded, err := verdict.Parse(inverted(kind, n))
					if err != nil {
						b.Fatal(err)
					}
					benchmarkInverted(b, loaded, engine.Options{Executor: mode})
				})
			}
		}
	}
}

// forms are the steps in which the interpreter became faster.
var forms = []struct {
	name  string
	forms vm.Forms
}{
	{"base", vm.BaseForms},
	{"cmp", vm.BaseForms | vm.FormCmp},
	{"bitwise", vm.BaseForms | vm.FormCmp | vm.FormBitwise},
	{"prefix", vm.BaseForms | vm.FormCmp | vm.FormBitwise | vm.FormPrefix},
	{"fused", vm.AllForms &^ (vm.FormRange | vm.FormThread)},
	{"ranges", vm.AllForms &^ vm.FormThread},
	{"threaded", vm.AllForms},
}

// BenchmarkForms measures the steps of the interpreter with 1,000 rules.
func BenchmarkForms(b *testing.B) {
	for _, f := range forms {
		b.Run(f.name, func(b *testing.B) {
			loaded, err := verdict.Parse(inverted("same", 1000))
			if err != nil {
				b.Fatal(err)
			}
			benchmarkInverted(b, loaded, engine.Options{Executor: chain.VM, Forms: f.forms})
		})
	}
}

func benchmarkInverted(b *testing.B, loaded *verdict.Ruleset, o engine.Options) {
	o.Hook, o.Local = "prerouting", []netip.Addr{netip.MustParseAddr("10.1.2.3")}
	e, err := engine.New(loaded.Rules(), loaded.Host(), o)
	if err != nil {
		b.Fatal(err)
	}
	p, err := build.Parse("iifname eth0 ip saddr 10.1.2.3 ip daddr 10.1.2.3 udp dport 9")
	if err != nil {
		b.Fatal(err)
	}
	in, w := engine.Input{Data: p.Data, OrigLen: len(p.Data), LinkType: p.Link, In: "eth0"}, e.Worker()
	var out engine.Outcome
	cpuPerOp(b, func() { w.Evaluate(&in, &out) })
}
