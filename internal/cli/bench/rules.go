package bench

import (
	"fmt"
	"net/netip"
	"runtime"
	"slices"

	"verdict"
	"verdict/diag"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/internal/workload"
)

// Ways to run rules.
const (
	Base       = "base"
	Inverted   = "+ inverted compare"
	Bitwise    = "+ bitwise"
	Prefixes   = "+ prefixes"
	Fused      = "+ fused"
	LegacyWalk = "legacy walk"
	Compiled   = "compiled"
)

// walker is a way of this project's to run rules.
type walker struct {
	name   string
	legacy bool // tables of iptables
	mode   chain.Mode
	forms  vm.Forms
}

// walkers are the interpreter in the steps by which the kernel's became faster,
// legacy tables, and compiled chains.
var walkers = []walker{
	{Base, false, chain.VM, vm.BaseForms},
	{Inverted, false, chain.VM, vm.BaseForms | vm.FormCmp},
	{Bitwise, false, chain.VM, vm.BaseForms | vm.FormCmp | vm.FormBitwise},
	{Prefixes, false, chain.VM, vm.BaseForms | vm.FormCmp | vm.FormBitwise | vm.FormPrefix},
	{Fused, false, chain.VM, vm.AllForms},
	{LegacyWalk, true, chain.VM, vm.AllForms},
	{Compiled, false, chain.Auto, vm.AllForms},
}

// RuleRow is what a packet costs that meets some rules in one way.
type RuleRow struct {
	Kind  string `json:"kind"`
	Rules int    `json:"rules"`
	Way   string `json:"way"`
	// Time is the median of the rounds in nanoseconds, Low and High their
	// quartiles: with the packet's headers decoded for verdict, of the chain
	// alone for the kernel.
	Time   float64 `json:"ns"`
	Low    float64 `json:"ns_low"`
	High   float64 `json:"ns_high"`
	Rounds int     `json:"rounds"`
	PPS    float64 `json:"packets_per_second"`
	// Published is the rate in the patch set, 0 where it has none.
	Published float64 `json:"published_packets_per_second,omitempty"`
}

// publishedRules is the number of rules that the published rates are for.
const publishedRules = 10_000

// publishedRates are those of Linux, in packets a second, by kind.
//
// Ref: nf_tables: faster inverted prefix matches, netfilter-devel, 2020
var publishedRates = map[string]map[string]float64{
	"same":             {Base: 3000, Inverted: 4000, Bitwise: 5200, LinuxNft: 5200, LegacyWalk: 10_000, LinuxLegacy: 10_000},
	"same, no counter": {Bitwise: 7000, LinuxNft: 7000},
}

// RulesReport is the result of `bench rules`.
type RulesReport struct {
	Machine Machine   `json:"machine"`
	Rows    []RuleRow `json:"rows"`
	Goals   []Goal    `json:"goals,omitempty"`
	Notes   []string  `json:"notes,omitempty"`
}

// Row finds the row of a kind, a number of rules and a way; nil if that was not
// measured.
func (r *RulesReport) Row(kind string, rules int, way string) *RuleRow {
	i := slices.IndexFunc(r.Rows, func(row RuleRow) bool { return row.Kind == kind && row.Rules == rules && row.Way == way })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// Rules measures a packet that matches none of the rules of some kinds and
// numbers, for each way to run them and for those of the kernel, by turns.
func Rules(kinds []string, sizes []int, ways []*KernelWay, o *Options) (*RulesReport, error) {
	report := &RulesReport{Machine: ThisMachine()}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, kind := range kinds {
		for _, n := range sizes {
			rows, err := rulesOf(kind, n, ways, o)
			if err != nil {
				return nil, fmt.Errorf("%s rules (%s): %w", thousands(n), kind, err)
			}
			report.Rows = append(report.Rows, rows...)
		}
		report.Goals = append(report.Goals, report.judge(kind)...)
	}
	return report, nil
}

// ruleRunner measures one way: the time of a packet in nanoseconds.
type ruleRunner struct {
	name    string
	measure func() (float64, error)
	took    samples
}

func rulesOf(kind string, n int, ways []*KernelWay, o *Options) ([]RuleRow, error) {
	var runners []ruleRunner
	for i := range walkers {
		o.tell("%s rules (%s): loading, %s", thousands(n), kind, walkers[i].name)
		measure, err := walkers[i].runner(kind, n)
		if err != nil {
			return nil, err
		}
		runners = append(runners, ruleRunner{name: walkers[i].name, measure: measure})
	}
	for _, w := range ways {
		o.tell("%s rules (%s): loading, %s", thousands(n), kind, w.name)
		measure, err := w.runner(kind, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		runners = append(runners, ruleRunner{name: w.name, measure: measure})
	}
	defer prioritize()()
	for round := range o.Rounds {
		o.tell("%s rules (%s): round %d of %d", thousands(n), kind, round+1, o.Rounds)
		for i := range runners {
			ns, err := runners[i].measure()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", runners[i].name, err)
			}
			runners[i].took = append(runners[i].took, ns)
		}
	}
	rows := make([]RuleRow, len(runners))
	for i := range runners {
		f := runners[i].took.figure(Figure{})
		rows[i] = RuleRow{Kind: kind, Rules: n, Way: runners[i].name, Time: f.Value, Low: f.Low, High: f.High, Rounds: f.Rounds, PPS: 1e9 / f.Value}
		if n == publishedRules {
			rows[i].Published = publishedRates[kind][rows[i].Way]
		}
	}
	return rows, nil
}

// ruleFrame is the packet that matches no rule.
func ruleFrame() []byte {
	return workload.Frame(&workload.Header{Src: 10<<24 | 1<<16 | 2<<8 | 3, Dst: 192<<24 | 2<<8 | 1, SrcPort: 1024, DstPort: 9, Proto: 17})
}

// runner makes an engine with the rules and a function that times packets in
// it, in bursts of 64, for about two milliseconds.
func (w *walker) runner(kind string, n int) (func() (float64, error), error) {
	const packets, long = 64, 2 * millisecond
	e, err := w.engine(kind, n)
	if err != nil {
		return nil, err
	}
	worker, ins, outs := e.Worker(), make([]engine.Input, packets), make([]engine.Outcome, packets)
	data := ruleFrame()
	for i := range ins {
		ins[i] = engine.Input{Data: data, OrigLen: len(data), LinkType: 1, In: "eth0"}
	}
	burst := func() { worker.EvaluateBatch(ins, outs) }
	burst() // the first finds its memory
	if outs[0].Fate != engine.Accepted {
		return nil, fmt.Errorf("%s: a rule matches the packet", w.name)
	}
	passes := int(max(1, long/max(1, timed(burst))))
	return func() (float64, error) {
		burst() // warms up: others had the caches
		total := timed(func() {
			for range passes {
				burst()
			}
		})
		return total / float64(packets*passes), nil
	}, nil
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
