package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"verdict"
	"verdict/iptables"
)

func newCheck(s *Streams) *cobra.Command {
	var flags rulesFlags
	cmd := &cobra.Command{
		Use:   "check RULES...",
		Short: "Load rulesets as the kernel would and show every mistake",
		Long: `Load rulesets as the kernel would: parse, type, compile, and apply them, one
batch a file, into an empty ruleset. Every mistake is shown with its place.
Exit status: 0 all fine, 1 mistakes found, 2 a file could not be read.`,
		Example: "  verdict check /etc/nftables.conf\n  verdict check base.nft site.nft\n  generate | verdict check -",
		Args:    takes("RULES..."),
		RunE: func(_ *cobra.Command, args []string) error {
			rules, err := flags.load(s, args...)
			if err != nil {
				return err
			}
			fmt.Fprintln(s.Out, summary(rules))
			return nil
		},
	}
	flags.add(cmd)
	return cmd
}

// summary counts what a ruleset holds, in one line.
func summary(r *verdict.Ruleset) (text string) {
	var chains, rules, sets, objects int
	tables := r.Rules().Tables
	for _, t := range tables {
		chains += len(t.Chains)
		objects += len(t.Objects)
		for _, set := range t.Sets {
			if set.Flags&1 == 0 {
				sets++
			}
		}
		for _, c := range t.Chains {
			rules += len(c.Rules)
		}
	}
	if p := r.Tables(); p != nil {
		if len(tables) == 0 {
			return "ok: " + tablesSummary(p)
		}
		defer func() { text += "; " + tablesSummary(p) }()
	}
	defer func() { text += offloadSummary(r) }()
	text = fmt.Sprintf("ok: %s, %s, %s", count(len(tables), "table"), count(chains, "chain"), count(rules, "rule"))
	if sets > 0 {
		text += ", " + count(sets, "set")
	}
	if objects > 0 {
		text += ", " + count(objects, "object")
	}
	return text
}

// tablesSummary counts what tables of iptables hold.
func tablesSummary(p *iptables.Program) string {
	chains := 0
	for _, t := range p.Tables {
		chains += len(t.Chains)
	}
	return fmt.Sprintf("%s of iptables, %s, %s", count(len(p.Tables), "table"), count(chains, "chain"), count(p.Rules(), "rule"))
}

// offloadSummary counts the rules of chains with the offload flag.
func offloadSummary(r *verdict.Ruleset) string {
	flagged, held := 0, 0
	for _, c := range r.Offloaded() {
		for i := range c.Rules {
			if c.Flagged {
				flagged++
			}
			if len(c.Rules[i].Devices) > 0 {
				held++
			}
		}
	}
	switch {
	case flagged == 0:
		return ""
	case held == 0:
		return fmt.Sprintf("; %s can be offloaded, --tc FILE tells to what", count(flagged, "rule"))
	}
	return fmt.Sprintf("; %s in hardware", count(held, "rule"))
}
