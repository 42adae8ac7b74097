package recorded

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/trace"
)

// Walk collects what the engine did with a packet in the shape of the truth.
type Walk struct {
	Program *vm.Program
	Path    []Visit
}

// Event collects one event; Walk is a trace.Sink.
func (w *Walk) Event(e *trace.Event) {
	switch e.Kind {
	case trace.EnterHook:
		w.Path = append(w.Path, Visit{Hook: catalog.HookName(e.Family, e.Hook), Family: e.Family.String()})
	case trace.LeaveHook:
		w.visit().Verdict = e.Text
	case trace.EnterBase:
		c := &w.Program.Chains[e.Chain]
		v := w.visit()
		v.Chains = append(v.Chains, ChainWalk{Family: c.Table.Family.String(), Table: c.Table.Name, Chain: c.Chain.Name, Priority: c.Chain.Base.Priority})
	case trace.LeaveBase:
		w.chain().Verdict = e.Verdict.String()
	case trace.RuleDone:
		c, _, index := w.Program.Rule(e.Rule)
		verdict := e.Verdict.String()
		if e.Verdict == catalog.VerdictJump || e.Verdict == catalog.VerdictGoto {
			verdict += " " + w.Program.Chains[e.Target].Chain.Name
		}
		w.step(c.Chain.Name, float64(index), verdict)
	case trace.Policy:
		w.step(w.Program.Chains[e.Chain].Chain.Name, "policy", e.Verdict.String())
	}
}

func (w *Walk) visit() *Visit {
	if len(w.Path) == 0 {
		w.Path = append(w.Path, Visit{})
	}
	return &w.Path[len(w.Path)-1]
}

func (w *Walk) chain() *ChainWalk {
	v := w.visit()
	if len(v.Chains) == 0 {
		v.Chains = append(v.Chains, ChainWalk{})
	}
	return &v.Chains[len(v.Chains)-1]
}

func (w *Walk) step(chain string, index any, verdict string) {
	c := w.chain()
	c.Steps = append(c.Steps, []any{chain, index, verdict})
}

// Text prints a path on one line: only hooks at which a base chain ran or the
// packet ended, since a hook without chains leaves no trace in the engine.
func Text(path []Visit) string {
	var parts []string
	for _, v := range path {
		if len(v.Chains) == 0 && v.Verdict == "accept" {
			continue
		}
		parts = append(parts, visitText(&v))
	}
	return strings.Join(parts, " | ")
}

func visitText(v *Visit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", v.Family, v.Hook)
	for _, c := range v.Chains {
		fmt.Fprintf(&b, " %s/%s/%s[", c.Family, c.Table, c.Chain)
		for i, s := range c.Steps {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%v:%v:%v", s...)
		}
		fmt.Fprintf(&b, "]%s", c.Verdict)
	}
	fmt.Fprintf(&b, " %s", v.Verdict)
	return b.String()
}
