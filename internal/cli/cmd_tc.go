package cli

import (
	"github.com/spf13/cobra"

	"verdict/internal/cli/tccmd"
)

// newTc shows the drop-in among the verbs. Its command line is tc's own, so
// that Run hands it over before this is reached.
func newTc(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "tc [OPTIONS] OBJECT COMMAND...",
		Short: "Do what the tc command does with filters, over a state file instead of the kernel",
		Long: `Take tc's own command line (qdisc, class, filter, chain, actions) and do what tc
does, with the same output and exit status, over a state file instead of the
kernel. Called through a link named tc, the program behaves the same.

Devices may have hardware that takes filters: "tc device models" lists what is
shipped, "tc device add NAME hw MODEL" makes one, MODEL being a name or a JSON
file. "tc explain" says of every filter whether hardware has it and why not,
"tc show --bypass" whether software is asked at all.`,
		Example: `  verdict tc device add eth0 hw eswitch-nic
  verdict tc qdisc add dev eth0 clsact
  verdict tc filter add dev eth0 ingress protocol ip flower skip_sw dst_ip 192.0.2.1 action drop
  verdict tc -s filter show dev eth0 ingress
  verdict tc explain`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asksForHelp(args) {
				return cmd.Help()
			}
			return exit(runTc(args, s))
		},
	}
}

// asksForHelp tells what tc itself does not take: it has "tc help" only.
func asksForHelp(args []string) bool {
	return len(args) > 0 && (args[0] == "--help" || args[0] == "-h")
}

func runTc(args []string, s *Streams) int {
	return tccmd.Run(args, &tccmd.Streams{In: s.In, Out: s.plain(), Err: s.plainErr(), Env: s.Env, Now: s.Now})
}
