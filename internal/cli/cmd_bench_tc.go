package cli

import (
	"github.com/spf13/cobra"

	"verdict/internal/cli/bench"
)

func newBenchTc(s *Streams) *cobra.Command {
	var f benchFlags
	var svg string
	cmd := &cobra.Command{
		Use:   "tc",
		Short: "Measure tc filters that live in hardware: what they cost software, with and without bypass",
		Long: `Measure what tc filters that live in hardware alone (skip_sw) cost a packet that
software forwards: the table of the patch set that made Linux pass over them,
with its published figures beside. Each filter has a mask of its own. Without
bypass, filters are asked mask by mask, with a dissection for each, as Linux
does, and with masks compiled into one search; then with both generations of
the bypass. Beside it: where the time goes, and how long 100,000 flower filters
take to be inserted.`,
		Example: "  verdict bench tc\n  verdict bench tc --rounds 5 --svg bypass.svg\n  verdict bench tc -o json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			options, done, err := f.options(s)
			if err != nil {
				return err
			}
			defer done()
			report, err := bench.Traffic(options)
			if err != nil {
				return failed(err)
			}
			done()
			if svg != "" {
				if err := writeSVG(svg, report.Chart()); err != nil {
					return failed(err)
				}
			}
			if f.output == "json" {
				return writeJSON(s.Out, report)
			}
			if err := report.WriteText(s.Out); err != nil {
				return failed(err)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&svg, "svg", "", "draw the times over the number of filters into `FILE`")
	return cmd
}
