package cli

import (
	"fmt"
	"io"
	"strings"

	"verdict"
)

// explainOffload says what hardware has of a chain of netdev ingress, and why
// not; of a chain without the flag, what it could have.
func explainOffload(w io.Writer, c *verdict.OffloadedChain) {
	head := fmt.Sprintf("hardware: table %s %s, chain %s: ", c.Table.Family, c.Table.Name, c.Chain.Name)
	if !c.Flagged {
		why := "could be"
		if list := c.Obstacles(); len(list) > 0 {
			why = "could not be: " + strings.Join(list, "; ")
		}
		fmt.Fprintf(w, "%snot offloaded: it has no flags offload; %s\n", head, why)
		return
	}
	devices := strings.Join(c.Chain.Base.Devices, ", ")
	fmt.Fprintf(w, "%soffloaded to %s at priority %d\n", head, devices, c.Chain.Base.Priority)
	for i := range c.Rules {
		r := &c.Rules[i]
		var actions []string
		for _, a := range r.Flow.Actions {
			actions = append(actions, a.String())
		}
		where := "hardware is not known (--tc FILE tells)"
		if len(r.Devices) > 0 {
			where = "in " + strings.Join(r.Devices, ", ")
		}
		fmt.Fprintf(w, "  %-9s  %s → %s: %s\n", rulePlace(c.Chain, i), &r.Flow.Match, strings.Join(actions, ", "), where)
	}
}
