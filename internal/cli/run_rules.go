package cli

import (
	"verdict/iptables"
	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// chainHits is a chain with the hits of its rules.
type chainHits struct {
	table *ruleset.Table
	chain *ruleset.Chain
	rules []ruleHits
}

// ruleHits is a rule with how often all of it applied.
type ruleHits struct {
	rule           *ruleset.Rule
	text           string
	packets, bytes uint64
}

// file and line say where the rule was written; the zero values for rules
// without source.
func (h *ruleHits) file() string {
	if !h.rule.Place.IsValid() {
		return ""
	}
	return h.rule.Place.Source.Name
}

func (h *ruleHits) line() int { return h.rule.Place.Pos().Line }

// chains lists all chains with hits, in the ruleset's order.
func (r *replay) chains() []chainHits {
	program := r.engine.Engine().Program()
	hits := r.engine.Worker().Machine().Hits()
	options := r.rules.ListOptions()
	options.Stateless = true
	var out []chainHits
	for i := range program.Chains {
		c := &program.Chains[i]
		entry := chainHits{table: c.Table, chain: c.Chain}
		for n, rule := range c.Chain.Rules {
			h := hits[c.RuleNumber(n)]
			entry.rules = append(entry.rules, ruleHits{rule: rule, text: ruleText(c.Table, rule, options), packets: h.Packets, bytes: h.Bytes})
		}
		out = append(out, entry)
	}
	return out
}

// tableHits is a chain of an iptables table with the hits of its rules.
type tableHits struct {
	table *iptables.Table
	chain *iptables.Chain
	rules []tableRuleHits
}

// tableRuleHits is a rule of such a chain.
type tableRuleHits struct {
	rule *iptables.Rule
	hits iptables.Counter
}

// tables lists the chains of iptables tables with hits.
func (r *replay) tables() []tableHits {
	program := r.rules.Tables()
	if program == nil {
		return nil
	}
	machine := r.engine.Worker().Tables()
	var out []tableHits
	for _, t := range program.Tables {
		for _, c := range t.Chains {
			entry := tableHits{table: t, chain: c}
			first := program.FirstRule(c)
			for i, rule := range c.Rules {
				entry.rules = append(entry.rules, tableRuleHits{rule, machine.Counter(first + uint32(i))})
			}
			out = append(out, entry)
		}
	}
	return out
}

// ruleText is a rule as listings show it.
func ruleText(t *ruleset.Table, rule *ruleset.Rule, options decompile.Options) string {
	statements, comment := decompile.Rule(t, rule, &options)
	return string(syntax.AppendRule(nil, &syntax.Rule{Statements: statements, Comment: syntax.Word{Text: comment}}))
}
