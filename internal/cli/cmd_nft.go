package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"verdict/internal/cli/nftcmd"
)

// newNft shows the drop-in among the verbs. Its command line is nft's own, so
// that Run hands it over before this is reached.
func newNft(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "nft [OPTIONS] [COMMAND...]",
		Short: "Do what the nft command does, over a state file instead of the kernel",
		Long: `Take nft's own command line and do what nft does, with the same output and exit
status, over a state file instead of the kernel. Called through a link named
nft, the program behaves the same.`,
		Example: `  verdict nft add table inet filter
  verdict nft -f /etc/nftables.conf
  verdict nft -a list ruleset
  ln -s "$(command -v verdict)" ~/bin/nft`,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return exit(runNft("nft", args, s))
		},
	}
}

// dropIn runs a tool's own command line, if the program was called by the
// tool's name or with it as the verb. It comes before all else, since such
// calls should start fast.
func dropIn(args []string, s *Streams) (status int, ok bool) {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	rest := args[1:]
	if name != "nft" && name != "tc" {
		if len(rest) == 0 || rest[0] == "tc" && asksForHelp(rest[1:]) {
			return 0, false
		}
		name, rest = rest[0], rest[1:]
	}
	switch name {
	case "nft":
		return runNft("nft", rest, s), true
	case "tc":
		return runTc(rest, s), true
	}
	return 0, false
}

func runNft(program string, args []string, s *Streams) int {
	return nftcmd.Run(program, args, &nftcmd.Streams{
		In: s.In, Out: s.plain(), Err: s.plainErr(), Env: s.Env, Now: s.Now, Zone: time.Local,
		Terminal: s.OutTerminal && isTerminal(s.In),
	})
}

func isTerminal(in any) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// exit turns an exit status into the error that carries it, nil for 0.
func exit(status int) error {
	if status == exitOK {
		return nil
	}
	return &exitError{status: status}
}
