package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verdict/internal/cli/bench"
)

func newBenchRules(s *Streams) *cobra.Command {
	var f benchFlags
	var kinds, sizes []string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Measure a packet that meets many rules and matches none",
		Long: `Run a packet from 10.1.2.3 through chains of rules such as

  ip saddr != 10.0.0.0/10 counter drop

none of which it matches: rule by rule, in the steps by which the kernel became
faster, by the walk of legacy iptables, and compiled. At 10,000 rules the
published rates of the kernel are 3,000 packets/s at first, 4,000 with inverted
compares, 5,200 with fast masks too, 7,000 without counters, and 10,000 for
legacy iptables.`,
		Example: "  verdict bench rules\n  verdict bench rules --kind distinct --rules 10,10000",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, k := range kinds {
				if !slices.Contains(bench.RuleKinds, k) {
					return failedf("--kind %s: the kinds are %s", k, strings.Join(bench.RuleKinds, "; "))
				}
			}
			counts, err := parseSizes("--rules", sizes)
			if err != nil {
				return err
			}
			return f.measure(s, kinds, func(kind string, options *bench.Options) ([]bench.Figure, error) {
				var list []bench.Figure
				for _, n := range counts {
					more, err := bench.Rules(kind, n, options)
					if err != nil {
						return nil, err
					}
					list = append(list, more...)
				}
				return list, nil
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&kinds, "kind", bench.RuleKinds, "kind of chain: "+strings.Join(bench.RuleKinds, "; "))
	cmd.Flags().StringSliceVar(&sizes, "rules", []string{"1", "10", "100", "1k", "10k", "100k"}, "numbers of rules")
	return cmd
}
