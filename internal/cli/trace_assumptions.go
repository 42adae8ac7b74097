package cli

import (
	"fmt"
	"slices"

	"verdict"
	"verdict/catalog"
	"verdict/diag"
	"verdict/engine"
	"verdict/engine/vm"
	"verdict/nft/expr"
	"verdict/trace"
)

// visited passes events on and remembers which rules a packet met.
type visited struct {
	trace.Sink
	rules  map[uint32]struct{}
	tables bool // rules of iptables
}

// Event passes an event on.
func (v *visited) Event(e *trace.Event) {
	switch e.Kind {
	case trace.RuleDone, trace.RuleBreak, trace.RuleUnknown:
		v.rules[e.Rule] = struct{}{}
	case trace.TableRule:
		v.tables = true
	}
	v.Sink.Event(e)
}

// facts says which outside facts the rules that were met read.
func (v *visited) facts(rules *verdict.Ruleset, program *vm.Program) vm.Uses {
	var u vm.Uses
	for number := range v.rules {
		_, rule, _ := program.Rule(number)
		for _, e := range rule.Exprs {
			addFact(&u, e)
		}
	}
	if v.tables {
		addTableFacts(&u, rules.Tables())
	}
	return u
}

func addFact(u *vm.Uses, e expr.Expr) {
	switch x := e.(type) {
	case *expr.Meta:
		switch x.Key.Name {
		case "skuid", "skgid":
			u.SKUID = true
		case "cpu":
			u.CPU = true
		case "random":
			u.Random = true
		case "cgroup":
			u.Cgroup = true
		case "oif", "oifname", "oifgroup":
			u.Interfaces = true
		}
	case *expr.Fib:
		u.Fib = true
	case *expr.RT:
		u.RT = true
	case *expr.Socket:
		u.Socket = true
	case *expr.OSF:
		u.OSF = true
	case *expr.XFRM:
		u.XFRM = true
	case *expr.Hash:
		u.Hash = u.Hash || x.Symmetric
	case *expr.Numgen:
		u.Random = u.Random || x.Random
	}
}

// assume says what the trace depends on and nobody gave.
func (c *traceCommand) assume(rules *verdict.Ruleset, e *verdict.Engine, options *verdict.EngineOptions, in *engine.Input, o *verdict.Outcome) {
	uses := c.visited.facts(rules, e.Program())
	list := unknownFacts(&uses, rules.HostGiven())
	forwarded := slices.ContainsFunc(o.Hooks, func(h engine.HookResult) bool {
		return h.Hook == catalog.HookForward && (h.Family == catalog.FamilyIP || h.Family == catalog.FamilyIP6)
	})
	if forwarded && in.Out == "" && uses.Interfaces && guessesOutput(rules, options) {
		list = append(list, leavesUnknown)
	}
	for _, a := range list {
		fmt.Fprintf(c.s.Err, "assumed: %s\n", diag.Printable(a))
	}
}
