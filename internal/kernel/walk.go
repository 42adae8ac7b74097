package kernel

import (
	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/trace"
)

// tracerTable holds the chains that switch tracing on, ahead of all others.
const tracerTable = "verdict_oracle"

// walk collects the engine's steps; it is a trace.Sink.
type walk struct {
	program *vm.Program
	steps   []Step
}

// Event collects one event.
func (w *walk) Event(e *trace.Event) {
	switch e.Kind {
	case trace.RuleDone:
		c, rule, _ := w.program.Rule(e.Rule)
		if c.Table.Name == tracerTable {
			return
		}
		s := Step{Family: c.Table.Family, Table: c.Table.Name, Chain: c.Chain.Name, Handle: rule.Handle, Verdict: e.Verdict}
		if e.Verdict == catalog.VerdictJump || e.Verdict == catalog.VerdictGoto {
			s.Target = w.program.Chains[e.Target].Chain.Name
		}
		w.steps = append(w.steps, s)
	case trace.Policy:
		c := &w.program.Chains[e.Chain]
		if c.Table.Name == tracerTable {
			return
		}
		w.steps = append(w.steps, Step{Family: c.Table.Family, Table: c.Table.Name, Chain: c.Chain.Name, Verdict: e.Verdict})
	}
}
