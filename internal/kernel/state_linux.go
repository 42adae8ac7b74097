package kernel

import (
	"bytes"
	"fmt"
	"slices"

	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// state compares what the packets left behind: counters and quotas of rules
// and objects, and the elements of sets that packets fill.
func (l *Lab) state(runs *runs, result *Result) error {
	dump, err := l.ReadBack(start)
	if err != nil {
		return err
	}
	for _, r := range []*run{runs.traced, runs.fast} {
		for i, t := range withoutTracer(r.rules.Tables) {
			if i < len(dump.Rules.Tables) {
				r.compareTable(t, dump.Rules.Tables[i], result)
			}
		}
	}
	return nil
}

func (r *run) compareTable(own, kernel *ruleset.Table, result *Result) {
	where := fmt.Sprintf("%s %s", own.Family, own.Name)
	for i, c := range own.Chains {
		if i >= len(kernel.Chains) || len(kernel.Chains[i].Rules) != len(c.Rules) {
			continue // seen when it was read back
		}
		for j, rule := range c.Rules {
			r.compareExprs(fmt.Sprintf("%s %s rule %d", where, c.Name, rule.Handle), rule.Exprs, kernel.Chains[i].Rules[j].Exprs, result)
		}
	}
	for i, o := range own.Objects {
		if i < len(kernel.Objects) {
			r.compareExprs(where+" "+o.Name, objectState(o), objectState(kernel.Objects[i]), result)
		}
	}
	for i, s := range own.Sets {
		if i < len(kernel.Sets) {
			r.compareElements(where+" "+s.Name, s, kernel.Sets[i], result)
		}
	}
}

func objectState(o *ruleset.Object) (list []expr.Expr) {
	if o.Counter != nil {
		list = append(list, o.Counter)
	}
	if o.Quota != nil {
		list = append(list, o.Quota)
	}
	return list
}

// compareExprs compares what counts.
func (r *run) compareExprs(where string, own, kernel []expr.Expr, result *Result) {
	for i, e := range own {
		if i >= len(kernel) {
			return
		}
		present := r.engine.State().Present(e, r.worker.Now())
		switch p := present.(type) {
		case *expr.Counter:
			if k, ok := kernel[i].(*expr.Counter); ok && *k != *p {
				result.differ(-1, "counter of "+where, string(k.AppendText(nil)), string(p.AppendText(nil)))
			}
		case *expr.Quota:
			// The kernel stops counting at the limit in what it shows.
			if k, ok := kernel[i].(*expr.Quota); ok && k.Consumed != min(p.Consumed, p.Bytes) {
				result.differ(-1, "quota of "+where, fmt.Sprint(k.Consumed), fmt.Sprint(p.Consumed))
			}
		}
	}
}

// compareElements compares the elements of a set with their state.
func (r *run) compareElements(where string, own, kernel *ruleset.Set, result *Result) {
	now := r.worker.Now()
	a, b := elements(own, now), elements(kernel, start)
	if len(a) != len(b) || !slices.EqualFunc(a, b, func(x, y *ruleset.Element) bool { return bytes.Equal(x.Key, y.Key) }) {
		result.differ(-1, "elements of "+where, keysText(b), keysText(a))
		return
	}
	for i, el := range a {
		r.compareExprs(fmt.Sprintf("%s element %x", where, el.Key), el.Exprs, b[i].Exprs, result)
	}
}

func elements(s *ruleset.Set, now int64) []*ruleset.Element {
	list := slices.Collect(s.Elements.Alive(now))
	slices.SortStableFunc(list, func(a, b *ruleset.Element) int { return bytes.Compare(a.Key, b.Key) })
	return list
}

func keysText(list []*ruleset.Element) string {
	var keys []string
	for _, el := range list {
		keys = append(keys, fmt.Sprintf("%x", el.Key))
	}
	return fmt.Sprint(keys)
}
