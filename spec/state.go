package spec

import (
	"fmt"
	"slices"
	"strings"

	"verdict"
	"verdict/engine/vm"
	"verdict/nft/decompile"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
	"verdict/nft/syntax"
)

// stateLines renders what the packets left behind: counters and quotas of
// rules and objects, and the contents of sets that packets change; with sets, of
// all that have names.
func (r *run) stateLines(sets bool) []string {
	e := r.sender.engine
	var lines []string
	program := e.Engine().Program()
	for number := range program.RuleCount() {
		_, rule, _ := program.Rule(uint32(number))
		for _, x := range rule.Exprs {
			if text := present(e, x); text != "" {
				lines = append(lines, fmt.Sprintf("%s %s: %s", x.Kind(), e.RuleName(uint32(number)), text))
			}
		}
	}
	for _, t := range r.rules.Rules().Tables {
		for _, o := range t.Objects {
			lines = append(lines, objectLines(e, o)...)
		}
		for _, s := range t.Sets {
			if sets && s.Flags&ruleset.SetAnonymous == 0 || changing(s) {
				lines = append(lines, r.setLine(s))
			}
		}
	}
	return lines
}

func objectLines(e *verdict.Engine, o *ruleset.Object) []string {
	var x expr.Expr
	switch {
	case o.Counter != nil:
		x = o.Counter
	case o.Quota != nil:
		x = o.Quota
	default:
		return nil
	}
	return []string{fmt.Sprintf("%s %s: %s", x.Kind(), o.Name, present(e, x))}
}

// present renders a counter or quota with its present values.
func present(e *verdict.Engine, x expr.Expr) string {
	switch x := e.Engine().State().Present(x, e.Worker().Now()).(type) {
	case *expr.Counter:
		return counterText(x.Packets, x.Bytes)
	case *expr.Quota:
		return fmt.Sprintf("%d of %d bytes", x.Consumed, x.Bytes)
	}
	return ""
}

func counterText(packets, bytes uint64) string {
	return fmt.Sprintf("%d packets %d bytes", packets, bytes)
}

// changing reports whether packets change a set's elements or their state.
func changing(s *ruleset.Set) bool {
	stateful := s.Flags&(ruleset.SetEval|ruleset.SetExpr) != 0 || len(s.Exprs) > 0
	return stateful && s.Flags&ruleset.SetAnonymous == 0
}

// setLine lists a set.
func (r *run) setLine(s *ruleset.Set) string {
	options := r.sender.engine.ListOptions()
	options.Clock = r.sender.now.UnixNano()
	var elements []string
	for _, item := range decompile.Set(s, options).Items {
		x, ok := item.(*syntax.Elements)
		if !ok {
			continue
		}
		for _, element := range x.Value.(*syntax.SetLiteral).Elements {
			elements = append(elements, string(syntax.AppendExpr(nil, element)))
		}
	}
	slices.Sort(elements)
	return fmt.Sprintf("set %s: { %s }", s.Name, strings.Join(elements, ", "))
}

// SameHits reports whether two executors hit the same rules alike.
func SameHits(a, b []vm.Hits) bool { return slices.Equal(a, b) }
