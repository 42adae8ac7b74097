package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verdict/internal/cli/bench"
)

// benchClassifyFlags are the flags of `bench classify`.
type benchClassifyFlags struct {
	benchFlags
	families, sizes []string
	peers, svg      string
	limit           time.Duration
}

func newBenchClassify(s *Streams) *cobra.Command {
	var f benchClassifyFlags
	cmd := &cobra.Command{
		Use:   "classify",
		Short: "Measure the classifier behind compiled chains: acl, fw and ipc rules, beside rte_acl",
		Long: `Measure the classifier behind compiled chains with generated rules over source,
destination, ports and protocol: how long it takes to build, what it holds, and
what lookups cost, single and in bursts of 64.

The families follow the published characteristics of ClassBench's: acl (access
lists: both addresses, services), fw (firewalls: many rules without source or
without destination) and ipc (a mixture). Headers match rules drawn evenly.

With --peers DPDK's rte_acl has the same rules and headers, takes turns, and must
find the same; of its algorithms the fastest counts. It needs DPDK when the
peers are made (Debian's libdpdk-dev), and gigabytes of memory for large sets.`,
		Example: `  # three families, 1,000 to 500,000 rules
  verdict bench classify

  # beside rte_acl, with a chart
  make peers
  verdict bench classify --peers bin/peers --svg classify.svg

  # a quick look at one family
  verdict bench classify --family fw --rules 1k,10k --rounds 5

  # for scripts
  verdict bench classify --rules 10k -j | jq -r '.figures[] | [.case, .what, .value] | @tsv'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.families, "family", bench.Families, "`FAMILIES` of rules")
	flags.StringSliceVar(&f.sizes, "rules", []string{"1k", "10k", "100k", "500k"}, "`NUMBERS` of rules")
	flags.StringVar(&f.peers, "peers", "", "`DIR` with the programs that make peers built: measure rte_acl too")
	flags.DurationVar(&f.limit, "limit", 2*time.Minute, "end a build of rte_acl after this `TIME`")
	flags.StringVar(&f.svg, "svg", "", "draw the lookups over the number of rules into `FILE`")
	return cmd
}

func (f *benchClassifyFlags) run(s *Streams) error {
	for _, name := range f.families {
		if !slices.Contains(bench.Families, name) {
			return failedf("--family %s: the families are %s", name, strings.Join(bench.Families, ", "))
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
	report := bench.Report{Machine: bench.ThisMachine(), Peer: "rte_acl", Of: "rules"}
	var peers *bench.ClassifyPeers
	if f.peers != "" {
		var note string
		if peers, note = bench.FindClassifyPeers(f.peers, f.limit); peers == nil {
			report.Notes = append(report.Notes, note)
			s.warn(report.Notes)
		}
	}
	for _, n := range sizes {
		for _, family := range f.families {
			figures, notes, err := bench.Classify(family, n, peers, options)
			if err != nil {
				return failed(err)
			}
			done()
			s.warn(notes)
			report.Figures = append(report.Figures, figures...)
			report.Notes = append(report.Notes, notes...)
		}
	}
	if peers != nil && peers.About() != "" {
		report.Notes = append(report.Notes, peers.About())
	}
	if f.output == "json" {
		err = writeJSON(s.Out, &report)
	} else if err = report.WriteText(s.Out); err == nil {
		err = bench.ClassifyChart(report.Figures).WriteText(s.Out)
	}
	if err != nil || f.svg == "" {
		return err
	}
	return drawn(f.svg, bench.ClassifyChart(report.Figures))
}
