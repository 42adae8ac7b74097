package cli

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"verdict/host"
)

// ipCommands print what a host file is made of. -N keeps numbers that only
// this machine's files could name.
var ipCommands = []string{
	"ip -N -j -d addr",
	"ip -N -j route show table all",
	"ip -N -6 -j route show table all",
	"ip -N -j neigh",
	"ip -N -j rule",
	"bridge -j fdb",
}

func newHost(s *Streams) *cobra.Command {
	var live bool
	cmd := &cobra.Command{
		Use:   "host [FILE...]",
		Short: "Write a host file from the output of ip -j",
		Long: `Write a host file (docs/host.md) from saved JSON output of ip and bridge, or with
--live from this machine's own. Save the output of these on the machine that is
to be simulated:

  ` + strings.Join(ipCommands, "\n  "),
		Example: "  verdict host addr.json route.json neigh.json > host.json\n  verdict host --live > host.json\n  verdict run --host host.json firewall.nft capture.pcap",
		RunE: func(_ *cobra.Command, args []string) error {
			inputs, err := hostInputs(s, args, live)
			if err != nil {
				return err
			}
			h, err := host.FromIPJSON(inputs...)
			if err != nil {
				return failed(err)
			}
			return h.Write(s.Out)
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "ask this machine")
	return cmd
}

func hostInputs(s *Streams, files []string, live bool) ([]host.Input, error) {
	switch {
	case live && len(files) > 0:
		return nil, failedf("host takes files or --live, not both")
	case !live && len(files) == 0:
		return nil, failedf("host needs FILE... or --live (see `verdict host --help`)")
	case live:
		return liveInputs()
	}
	var inputs []host.Input
	for _, name := range files {
		text, err := readAll(s, name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, host.Input{Name: name, Text: text})
	}
	return inputs, nil
}

// liveInputs runs the commands. A machine without bridges may lack bridge.
func liveInputs() ([]host.Input, error) {
	var inputs []host.Input
	for _, command := range ipCommands {
		words := strings.Fields(command)
		if _, err := exec.LookPath(words[0]); err != nil {
			if words[0] == "bridge" {
				continue
			}
			return nil, failed(fmt.Errorf("%s: %w", command, err))
		}
		out, err := exec.Command(words[0], words[1:]...).Output()
		if err != nil {
			return nil, failedf("%s: %w", command, err)
		}
		if len(strings.TrimSpace(string(out))) > 0 {
			inputs = append(inputs, host.Input{Name: command, Text: out})
		}
	}
	return inputs, nil
}
