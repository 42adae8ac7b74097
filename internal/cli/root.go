package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const rootLong = `Verdict runs Linux packet filters outside the kernel: it loads the firewall you
have, runs packets through it, gives the kernel's own verdict, and says why.
It needs neither root nor Linux.`

const rootExample = `  # what does this firewall do to this traffic?
  verdict run firewall.nft capture.pcap

  # would this packet pass, and which rule decides?
  verdict trace firewall.nft 'iifname eth0 ip saddr 192.0.2.1 tcp dport 22'

  # in a script: fail unless the packet is dropped
  verdict trace --expect drop firewall.nft 'iifname eth0 tcp dport 23'

  # load it as the kernel would, and show every mistake
  verdict check firewall.nft`

// Run executes a command line, args[0] being the program's name, and returns
// the exit status.
func Run(args []string, s *Streams) int {
	if status, ok := dropIn(args, s); ok {
		return status
	}
	root := newRoot(s)
	root.SetArgs(args[1:])
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(s.Err, "verdict: %s\n", printableLines(text))
	}
	return status(err)
}

func newRoot(s *Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "verdict",
		Short:         "Run Linux packet filters outside the kernel",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return failedf("%w (see `verdict %s --help`)", err, cmd.Name())
	})
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	for _, make := range []func(*Streams) *cobra.Command{
		newRun, newTrace, newCheck, newList, newFmt, newCompile, newExplain, newTranslate, newHost, newNft, newTc, newBench, newVersion, newCompletion,
	} {
		root.AddCommand(make(s))
	}
	return root
}

// takes checks the number of arguments and says what is missing by name.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		variadic := strings.HasSuffix(names[len(names)-1], "...")
		switch {
		case len(args) < len(names):
			return failedf("%s needs %s: %s is missing (see `verdict %s --help`)",
				cmd.Name(), strings.Join(names, " "), strings.TrimSuffix(names[len(args)], "..."), cmd.Name())
		case len(args) > len(names) && !variadic:
			return failedf("%s takes only %s; %q is too much", cmd.Name(), strings.Join(names, " "), args[len(names)])
		}
		return nil
	}
}

func newCompletion(s *Streams) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print a completion script for a shell",
		Example:   "  source <(verdict completion bash)\n  verdict completion zsh > \"${fpath[1]}/_verdict\"",
		ValidArgs: shells,
		Args:      takes("SHELL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeCompletion(cmd.Root(), args[0], s.Out)
		},
	}
}

func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return failedf("no completion for shell %q; there is one for bash, zsh, fish and powershell", shell)
}
