package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"verdict"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/nft/ruleset"
)

func newExplain(s *Streams) *cobra.Command {
	var rules rulesFlags
	var packets runFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "explain RULES...",
		Short: "Show how chains were compiled: fields, structure, memory, what stayed linear",
		Long: `Show for each chain whether packets meet its rules one by one or only those
that can match them; over which fields, in which structure, with how much
memory; which rules stay a check on every packet, and why.`,
		Example: "  verdict explain firewall.nft\n  verdict explain --engine classify --all firewall.nft",
		Args:    takes("RULES..."),
		RunE: func(_ *cobra.Command, args []string) error {
			loaded, err := rules.load(s, args...)
			if err != nil {
				return err
			}
			options, err := packets.options()
			if err != nil {
				return err
			}
			e, err := loaded.NewEngine(options)
			if err != nil {
				return failed(err)
			}
			return explainPlan(s.plain(), loaded, e, all)
		},
	}
	rules.add(cmd)
	packets.addEngine(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "list all rules that stay a check, not only the first of each chain")
	return cmd
}

// fewKept is how many rules that stay a check are listed per chain.
const fewKept = 8

func explainPlan(out io.Writer, rules *verdict.Ruleset, e *verdict.Engine, all bool) error {
	w := bufio.NewWriter(out)
	program := e.Program()
	for i := range program.Chains {
		explainChain(w, rules, &program.Chains[i], &e.Engine().Plan().Chains[i], all)
	}
	for _, c := range rules.Offloaded() {
		explainOffload(w, &c)
	}
	if t := rules.Tables(); t != nil {
		fmt.Fprintf(w, "%s: rule by rule, the header tests of each in one comparison\n", tablesSummary(t))
	} else if len(program.Chains) == 0 {
		fmt.Fprintln(w, "no chains")
	}
	return w.Flush()
}

func explainChain(w io.Writer, rules *verdict.Ruleset, c *vm.Chain, r *chain.Report, all bool) {
	fmt.Fprintf(w, "table %s %s, chain %s: %s, ", c.Table.Family, c.Table.Name, c.Chain.Name, count(r.Rules, "rule"))
	if !r.Compiled {
		fmt.Fprintf(w, "one by one (%s)\n", r.Why)
		return
	}
	fmt.Fprintln(w, "compiled")
	if r.Head > 0 {
		fmt.Fprintf(w, "  first      %s one by one\n", count(r.Head, "rule"))
	}
	var fields []string
	for _, f := range r.Fields {
		fields = append(fields, fmt.Sprintf("%s (%d)", f.Name, f.Rules))
	}
	fmt.Fprintf(w, "  fields     %s\n", strings.Join(fields, ", "))
	fmt.Fprintf(w, "  structure  %s\n", r.Stats)
	fmt.Fprintf(w, "  memory     %s\n", size(r.Stats.Bytes))
	explainKept(w, c.Chain, r, all)
}

// explainKept lists the rules of which something stays a check.
func explainKept(w io.Writer, c *ruleset.Chain, r *chain.Report, all bool) {
	listed := r.Kept
	if !all && len(listed) > fewKept {
		listed = listed[:fewKept]
	}
	for i := range listed {
		k := &listed[i]
		what := "also checks " + strings.Join(k.What, ", ")
		if k.Open {
			what = "every packet tries it"
			if len(k.What) > 0 {
				what += ": " + strings.Join(k.What, ", ") + " is no field"
			}
		}
		fmt.Fprintf(w, "  %-9s  %s\n", rulePlace(c, k.Rule), what)
	}
	if n := len(r.Kept) - len(listed); n > 0 {
		fmt.Fprintf(w, "  and %s more (--all)\n", count(n, "rule"))
	}
}

// rulePlace is where a rule was written, or its handle.
func rulePlace(c *ruleset.Chain, i int) string {
	r := c.Rules[i]
	if r.Place.IsValid() {
		return fmt.Sprintf("%s:%d", r.Place.Source.Name, r.Place.Pos().Line)
	}
	return fmt.Sprintf("handle %d", r.Handle)
}

// size prints a number of bytes.
func size(n int) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return count(n, "byte")
}
