package bench

import (
	"fmt"
	"net/netip"
	"runtime"
	"strings"

	"verdict"
	"verdict/diag"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/internal/workload"
)

// Through is a packet's way through a chain of rules; the way it was run
// follows.
const Through What = "packet, decoding included: "

// RuleKinds are the chains that Rules measures: the same rule again and again,
// as in the measurement of the Linux patch set that brought fast inverted
// compares; the same without counters; rules with destinations of their own;
// and prefixes of every length.
var RuleKinds = []string{"same", "same, no counter", "distinct", "lengths"}

// walker is a way to run rules.
type walker struct {
	name   string
	legacy bool // tables of iptables
	mode   chain.Mode
	forms  vm.Forms
}

// walkers are the interpreter in the steps by which the kernel's became faster,
// legacy tables, and compiled chains.
var walkers = []walker{
	{"base", false, chain.VM, vm.BaseForms},
	{"+ inverted compare", false, chain.VM, vm.BaseForms | vm.FormCmp},
	{"+ bitwise", false, chain.VM, vm.BaseForms | vm.FormCmp | vm.FormBitwise},
	{"+ prefixes", false, chain.VM, vm.BaseForms | vm.FormCmp | vm.FormBitwise | vm.FormPrefix},
	{"+ fused", false, chain.VM, vm.AllForms},
	{"legacy walk", true, chain.VM, vm.AllForms},
	{"compiled", false, chain.Auto, vm.AllForms},
}

// Rules measures a packet that matches none of n rules, for each way to run
// them, by turns.
func Rules(kind string, n int, o *Options) ([]Figure, error) {
	const packets = 64
	o.tell("%d rules (%s)", n, kind)
	ins, outs := make([]engine.Input, packets), make([]engine.Outcome, packets)
	for i := range ins {
		data := workload.Frame(&workload.Header{Src: 10<<24 | 1<<16 | 2<<8 | 3, Dst: 192<<24 | 2<<8 | 1, SrcPort: 1024, DstPort: 9, Proto: 17})
		ins[i] = engine.Input{Data: data, OrigLen: len(data), LinkType: 1, In: "eth0"}
	}
	workers := make([]*engine.Worker, len(walkers))
	for i, w := range walkers {
		e, err := w.engine(kind, n)
		if err != nil {
			return nil, err
		}
		workers[i] = e.Worker()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	took := make([]samples, len(walkers))
	for range o.Rounds {
		for i, w := range workers {
			passes := 1
			if walkers[i].mode != chain.VM {
				passes = 64
			}
			total := timed(func() {
				for range passes {
					w.EvaluateBatch(ins, outs)
				}
			})
			took[i] = append(took[i], total/float64(packets*passes))
		}
	}
	var list []Figure
	for i, w := range walkers {
		list = append(list, took[i].figure(Figure{Case: fmt.Sprintf("%s rules (%s)", thousands(n), kind), What: Through + What(w.name), Unit: Time}))
	}
	return list, nil
}

// engine makes an engine with the rules.
func (w *walker) engine(kind string, n int) (*engine.Engine, error) {
	text := InvertedRules(kind, n, w.legacy)
	loaded, findings := verdict.LoadSources(verdict.LoadOptions{}, diag.NewSource(kind, []byte(text)))
	if loaded == nil {
		return nil, findings.Err()
	}
	return engine.New(loaded.Rules(), loaded.Host(), engine.Options{
		Hook: "prerouting", Local: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Executor: w.mode, Forms: w.forms, Tables: loaded.Tables(),
	})
}

// InvertedRules writes a chain of n rules with inverted prefixes, none of which
// matches a packet from 10.1.2.3 to 192.0.2.1: for nft or, if legacy, as a save
// file of iptables, whose rules always count.
func InvertedRules(kind string, n int, legacy bool) string {
	var s strings.Builder
	head, tail := "table ip filter {\n\tchain c {\n\t\ttype filter hook prerouting priority raw; policy accept;\n", "\t}\n}\n"
	source, destination, rule := "ip saddr", "ip daddr", "\t\t%s counter drop\n"
	if kind == "same, no counter" {
		rule = "\t\t%s drop\n"
	}
	not := func(field, prefix string) string { return field + " != " + prefix }
	if legacy {
		head, tail = "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n", "COMMIT\n"
		source, destination, rule = "-s", "-d", "-A PREROUTING %s -j DROP\n"
		not = func(field, prefix string) string { return "! " + field + " " + prefix }
	}
	s.WriteString(head)
	for i := range n {
		match := not(source, "10.0.0.0/10")
		switch kind {
		case "distinct":
			match += fmt.Sprintf(" %s 10.1.%d.%d", destination, i>>8&255, i&255)
		case "lengths":
			match = not(source, fmt.Sprintf("10.1.2.3/%d", 1+i/2%32))
			if i&1 == 1 {
				match = not(destination, fmt.Sprintf("192.0.2.1/%d", 1+i/2%32))
			}
		}
		fmt.Fprintf(&s, rule, match)
	}
	return s.String() + tail
}
