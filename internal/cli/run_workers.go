package cli

import (
	"fmt"
	"runtime"
	"strings"

	"verdict/diag"
	"verdict/engine"
)

// jobsOrAll is how many workers there may be.
func (r *replay) jobsOrAll() int {
	if r.jobs > 0 {
		return r.jobs
	}
	return runtime.GOMAXPROCS(0)
}

// collect ends the work of several workers: what they counted is with the
// engine's own then.
func (r *replay) collect() {
	if r.workers != nil {
		r.workersOrdered = r.workers.Ordered()
		r.workers.Collect()
	}
}

// inOrder says why one worker had to evaluate the packets in order; "" if it
// had not, or if only one was wanted.
func (r *replay) inOrder() string {
	if r.workers == nil || r.jobsOrAll() == 1 {
		return ""
	}
	var list []string
	for _, why := range r.workersOrdered {
		list = append(list, why.What+r.placeOf(&why))
	}
	if len(list) == 0 {
		return ""
	}
	return "one worker evaluated packets in their order, which matters: " + strings.Join(list, "; ")
}

// placeOf is where a reason's rule was written, in parentheses; "" if nowhere.
func (r *replay) placeOf(why *engine.Reason) string {
	var place diag.Span
	switch {
	case why.Host:
		return ""
	case why.Tables:
		_, _, rule, _ := r.rules.Tables().Rule(why.Rule)
		place = rule.Place
	default:
		_, rule, _ := r.engine.Program().Rule(why.Rule)
		place = rule.Place
	}
	if !place.IsValid() {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", diag.Printable(place.Source.Name), place.Pos().Line)
}
