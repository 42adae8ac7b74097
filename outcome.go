package verdict

import (
	"fmt"

	"verdict/catalog"
	"verdict/engine"
	"verdict/engine/vm"
	"verdict/iptables"
	"verdict/nft/ruleset"
)

// Outcome is what became of a packet.
type Outcome struct {
	engine.Outcome
	run *Engine
}

// Rule returns the rule that decided, and its chain; nil where a policy, a table
// of iptables, or the host itself decided.
func (o Outcome) Rule() (*ruleset.Chain, *ruleset.Rule) {
	if !o.Decided || o.Verdict.Policy || o.Table != nil {
		return nil, nil
	}
	chain, rule, _ := o.run.engine.Program().Rule(o.Verdict.Rule)
	return chain.Chain, rule
}

// TableRule returns the rule of a table of iptables that decided, its chain and
// its place in it, counted from 0; nil where none did.
func (o Outcome) TableRule() (*iptables.Chain, *iptables.Rule, int) {
	if !o.Decided || o.Verdict.Policy || o.Table == nil {
		return nil, nil, 0
	}
	_, chain, rule, index := o.run.rules.tables.Rule(o.Verdict.Rule)
	return chain, rule, index
}

// Accepted reports whether the packet got through.
func (o Outcome) Accepted() bool { return o.Fate == engine.Accepted }

// By says what decided: "input#2", the second rule of the chain input;
// "policy of input"; "" where no chain ran or the host itself decided. Chains
// whose name stands in several tables are preceded by as much of table and
// family as tells them apart: "filter.input#2", "ip6.filter.input#2".
func (o Outcome) By() string {
	switch {
	case !o.Decided:
		return ""
	case o.Table != nil:
		return o.run.rules.TableBy(o.Table, &o.Verdict)
	case o.Verdict.Policy:
		return "policy of " + o.run.rules.ChainName(o.Base.Table, o.Base.Chain)
	}
	return o.run.RuleName(o.Verdict.Rule)
}

// String says fate and reason on one line, such as "drop by policy of input",
// "accept by ssh#1", "lost: its time to live is over".
func (o Outcome) String() string {
	text := o.Fate.String()
	if by := o.By(); by != "" {
		text += " by " + by
	}
	if o.Fate == engine.Unknown && o.CutAt > 0 {
		text += fmt.Sprintf(", cut at %d", o.CutAt)
	} else if o.Reason != "" {
		text += ": " + o.Reason
	}
	return text
}

// RuleName names a rule of the engine's program by its chain and its place in
// it, counted from 1: "input#2".
func (e *Engine) RuleName(number uint32) string {
	chain, _, index := e.engine.Program().Rule(number)
	return fmt.Sprintf("%s#%d", e.rules.ChainName(chain.Table, chain.Chain), index+1)
}

// ChainName names a chain by as much of family, table and name as tells it
// apart from all others of the ruleset.
func (r *Ruleset) ChainName(table *ruleset.Table, chain *ruleset.Chain) string {
	sameName, sameTable := 0, 0
	for _, t := range r.rules.Tables {
		if t.Chain(chain.Name) == nil {
			continue
		}
		sameName++
		if t.Name == table.Name {
			sameTable++
		}
	}
	switch {
	case sameName <= 1:
		return chain.Name
	case sameTable <= 1:
		return table.Name + "." + chain.Name
	}
	return table.Family.String() + "." + table.Name + "." + chain.Name
}

// TableBy names what decided in a built-in chain of iptables, as Outcome.By
// does: "INPUT#2", "policy of INPUT", preceded by the table where that is not
// filter and by the family for IPv6: "nat.PREROUTING#1", "ip6.filter.INPUT#2".
func (r *Ruleset) TableBy(b *iptables.Base, v *vm.Verdict) string {
	prefix := ""
	switch {
	case b.Family == catalog.FamilyIP6:
		prefix = "ip6." + b.Table.Name + "."
	case b.Table.Name != "filter":
		prefix = b.Table.Name + "."
	}
	if v.Policy {
		return "policy of " + prefix + b.Chain.Name
	}
	_, chain, _, index := r.tables.Rule(v.Rule)
	return fmt.Sprintf("%s%s#%d", prefix, chain.Name, index+1)
}
