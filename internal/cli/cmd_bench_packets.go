package cli

import (
	"time"

	"github.com/spf13/cobra"

	"verdict/internal/cli/bench"
)

func newBenchLoad(s *Streams) *cobra.Command {
	var f benchFlags
	var kernel bool
	cmd := &cobra.Command{
		Use:   "load RULES...",
		Short: "Measure how long rulesets load, in all and stage by stage, and what they hold",
		Long: `Load rulesets over and over: from text to a ruleset that is ready, and parsing,
compiling, applying and making an engine on their own. With --kernel, nft loads
the same file into a network namespace of its own by turns, which needs root.`,
		Example: "  verdict bench load firewall.nft\n  sudo verdict bench load --kernel --rounds 5 blocklist.nft",
		Args:    takes("RULES..."),
		RunE: func(_ *cobra.Command, args []string) error {
			return f.measure(s, args, func(name string, options *bench.Options) ([]bench.Figure, error) {
				text, err := readAll(s, name)
				if err != nil {
					return nil, err
				}
				var peer func() (time.Duration, error)
				if kernel {
					peer = func() (time.Duration, error) { return bench.KernelLoad(name) }
				}
				return bench.Load(name, text, options, peer)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&kernel, "kernel", false, "let nft load the file into the kernel too")
	return cmd
}

func newBenchEval(s *Streams) *cobra.Command {
	var f benchFlags
	var rules rulesFlags
	var packets runFlags
	cmd := &cobra.Command{
		Use:   "eval RULES CAPTURE",
		Short: "Measure how long a ruleset takes for a packet of a capture",
		Long: `Run the packets of a capture through a ruleset on one core, decoding included,
each round with a new engine, so that connections come and go as in the capture.
Frames are in memory; reading the file does not count.`,
		Example: "  verdict bench eval firewall.nft capture.pcap\n  verdict bench eval --engine vm firewall.nft capture.pcap",
		Args:    takes("RULES", "CAPTURE"),
		RunE: func(_ *cobra.Command, args []string) error {
			loaded, err := rules.load(s, args[0])
			if err != nil {
				return err
			}
			engineOptions, err := packets.options()
			if err != nil {
				return err
			}
			return f.measure(s, args[1:], func(name string, options *bench.Options) ([]bench.Figure, error) {
				source, _, err := openCapture(s, name)
				if err != nil {
					return nil, err
				}
				return bench.Eval(name, loaded, engineOptions, source, options)
			})
		},
	}
	f.add(cmd)
	rules.add(cmd)
	packets.add(cmd)
	return cmd
}

func newBenchDecode(s *Streams) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:     "decode CAPTURE...",
		Short:   "Measure how long the headers of a packet take to decode",
		Example: "  verdict bench decode capture.pcap",
		Args:    takes("CAPTURE..."),
		RunE: func(_ *cobra.Command, args []string) error {
			return f.measure(s, args, func(name string, options *bench.Options) ([]bench.Figure, error) {
				source, _, err := openCapture(s, name)
				if err != nil {
					return nil, err
				}
				return bench.Decode(name, source, options)
			})
		},
	}
	f.add(cmd)
	return cmd
}
