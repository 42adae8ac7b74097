package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verdict/internal/cli/bench"
)

// benchRulesFlags are the flags of `bench rules`.
type benchRulesFlags struct {
	benchFlags
	kinds, sizes []string
	peers, svg   string
}

func newBenchRules(s *Streams) *cobra.Command {
	var f benchRulesFlags
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Measure a packet that meets many rules and matches none",
		Long: `Run a packet from 10.1.2.3 to 192.0.2.1 through chains of rules none of which it
matches: rule by rule, in the steps by which the kernel became faster, by the
walk of legacy iptables, and compiled. With --peers the running kernel's nft and
legacy iptables have the same rules and take turns.

The kinds of chain:
` + ruleKindLines() + `
At 10,000 rules of the first kind the published rates of the kernel are 3,000
packets/s at first, 4,000 with inverted compares, 5,200 with fast masks too,
7,000 without counters, and 10,000 for legacy iptables.`,
		Example: `  # everything: four kinds, 1 to 100,000 rules
  verdict bench rules

  # beside the running kernel, with a chart of the first kind
  make peers
  sudo verdict bench rules --peers bin/peers --svg rules.svg

  # a quick look at one kind
  verdict bench rules --kind distinct --rules 10,10k --rounds 5

  # for scripts: the compiled rates
  verdict bench rules --rules 10k -j | jq '.rows[] | select(.way == "compiled")'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.kinds, "kind", bench.RuleKindNames(), "`KIND` of chain; may be given several times")
	flags.StringSliceVar(&f.sizes, "rules", []string{"1", "10", "100", "1k", "10k", "100k"}, "`NUMBERS` of rules")
	flags.StringVar(&f.peers, "peers", "", "`DIR` with the programs that make peers built: measure the kernel too (needs root)")
	flags.StringVar(&f.svg, "svg", "", "draw the rates of the first kind over the number of rules into `FILE`")
	return cmd
}

func ruleKindLines() string {
	var s strings.Builder
	for _, k := range bench.RuleKinds {
		fmt.Fprintf(&s, "  %-18s%s\n  %-18s%s\n", k.Name, k.Example, "", k.Why)
	}
	return s.String()
}

func (f *benchRulesFlags) run(s *Streams) error {
	for _, k := range f.kinds {
		if !slices.Contains(bench.RuleKindNames(), k) {
			return failedf("--kind %s: the kinds are %s", k, strings.Join(bench.RuleKindNames(), "; "))
		}
	}
	sizes, err := ruleSizes(f.sizes, f.svg)
	if err != nil {
		return err
	}
	options, done, err := f.options(s)
	if err != nil {
		return err
	}
	defer done()
	var ways []*bench.KernelWay
	var notes []string
	if f.peers != "" {
		ways, notes = bench.StartKernelWays(f.peers)
		s.warn(notes)
	}
	for _, w := range ways {
		defer w.Close()
	}
	report, err := bench.Rules(f.kinds, sizes, ways, options)
	if err != nil {
		return failed(err)
	}
	report.Notes = notes
	done()
	if f.output == "json" {
		err = writeJSON(s.Out, report)
	} else {
		err = report.WriteText(s.Out)
	}
	if err != nil || f.svg == "" {
		return err
	}
	return drawn(f.svg, report.Chart(f.kinds[0]))
}

// warn says at once what a long measurement will lack.
func (s *Streams) warn(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(s.Err, "verdict: %s\n", n)
	}
}
