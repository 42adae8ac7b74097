package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"verdict/diag"
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
// the exit status, which is never 0 if standard output could not be written.
func Run(args []string, s *Streams) int {
	out := &keptWriter{w: s.Out}
	kept := *s
	kept.Out = out
	status := run(args, &kept)
	if status == exitOK && out.err != nil {
		fmt.Fprintf(s.Err, "verdict: %v\n", out.err)
		return exitFailed
	}
	return status
}

func run(args []string, s *Streams) int {
	if status, ok := dropIn(args, s); ok {
		return status
	}
	root := newRoot(s)
	root.SetArgs(args[1:])
	err := unknownVerb(root, args[1:])
	if err == nil {
		err = root.Execute()
	}
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
		Version:       buildVersion(),
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return failedf("%w (see `%s --help`)", wrongValue(err), cmd.CommandPath())
	})
	root.SetHelpCommand(newHelp())
	for _, make := range []func(*Streams) *cobra.Command{
		newRun, newTrace, newCheck, newList, newFmt, newCompile, newExplain, newTranslate, newHost, newNft, newTc, newBench, newVersion, newCompletion,
	} {
		root.AddCommand(make(s))
	}
	root.InitDefaultHelpCmd()
	return root
}

// wrongValue says of a flag's value what is wrong with it, without the name of
// the function that found out.
func wrongValue(err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err
	}
	reason := "not a whole number"
	if errors.Is(number, strconv.ErrRange) {
		reason = "out of range"
	}
	return fmt.Errorf("--%s %s: %s", invalid.GetFlag().Name, invalid.GetValue(), reason)
}

// unknownVerb finds the first word that should be a verb and is none, before
// flags such as --help are obeyed.
func unknownVerb(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() {
		return nil
	}
	for _, word := range rest {
		if strings.HasPrefix(word, "-") {
			continue
		}
		if strings.HasPrefix(word, cobra.ShellCompRequestCmd) {
			return nil // a shell that completes; cobra adds this verb later
		}
		hint := ""
		if near := diag.Nearest(word, verbs(cmd)); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return failedf("unknown verb %q%s (see `%s --help`)", word, hint, cmd.CommandPath())
	}
	return nil
}

func verbs(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// newHelp is for those who type "verdict help run".
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:    "help [VERB...]",
		Short:  "Say how a verb is used",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := unknownVerb(cmd.Root(), args); err != nil {
				return err
			}
			of, _, _ := cmd.Root().Find(args)
			return of.Help()
		},
	}
}

// takes checks the number of arguments and says what is missing by name.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		variadic := strings.HasSuffix(names[len(names)-1], "...")
		switch {
		case len(args) < len(names):
			return failedf("%s needs %s: %s is missing (see `%s --help`)",
				cmd.Name(), strings.Join(names, " "), strings.TrimSuffix(names[len(args)], "..."), cmd.CommandPath())
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
