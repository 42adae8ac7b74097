package cli

import (
	"bufio"

	"github.com/spf13/cobra"

	"verdict"
	"verdict/diag"
	"verdict/nft/ruleset"
)

func newCompile(s *Streams) *cobra.Command {
	var flags rulesFlags
	cmd := &cobra.Command{
		Use:   "compile RULES...",
		Short: "Print the bytecode, as nft --debug=netlink does",
		Long: `Compile rulesets and print what nft would send to the kernel: chains, sets with
their elements, and each rule's bytecode, in the form of nft --debug=netlink.`,
		Example: "  verdict compile firewall.nft\n  echo 'add rule ip t c tcp dport 22 accept' | verdict compile base.nft -",
		Args:    takes("RULES..."),
		RunE: func(_ *cobra.Command, args []string) error {
			w := bufio.NewWriter(s.plain())
			options, err := flags.options()
			if err != nil {
				return err
			}
			options.Batch = func(base *ruleset.Ruleset, batch []ruleset.Change) {
				w.Write(ruleset.AppendDebug(nil, base, batch))
			}
			var sources []*diag.Source
			for _, name := range args {
				src, err := readSource(s, name)
				if err != nil {
					return err
				}
				sources = append(sources, src)
			}
			_, findings := verdict.LoadSources(options, sources...)
			if err := w.Flush(); err != nil {
				return err
			}
			return s.report(findings)
		},
	}
	flags.add(cmd)
	return cmd
}
