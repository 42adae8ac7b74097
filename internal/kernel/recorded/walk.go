package recorded

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/trace"
)

// Walk collects what the engine did with a packet in the shape of the truth.
// It is a trace.Sink.
type Walk struct {
	Program *vm.Program
	buffers []*journey
	ids     map[int]*journey
}

// journey is the way of one socket buffer; chain is the base chain that is
// under way.
type journey struct {
	path  []Visit
	chain *ChainWalk
	mute  bool // at the hook of a device that the truth does not watch
}

// Start forgets the packet before.
func (w *Walk) Start() { w.buffers, w.ids = nil, map[int]*journey{} }

// Buffers gives the ways of all socket buffers that met a hook, in order of
// appearance.
func (w *Walk) Buffers() []Buffer {
	var list []Buffer
	for _, j := range w.buffers {
		list = append(list, Buffer{Path: j.path})
	}
	return list
}

// Event collects one event.
func (w *Walk) Event(e *trace.Event) {
	j := w.ids[e.Buffer]
	switch e.Kind {
	case trace.EnterHook, trace.PassHook:
		w.enter(e)
		return
	case trace.NewBuffer:
		delete(w.ids, e.Buffer)
		return
	}
	if j == nil || j.mute {
		return
	}
	visit := &j.path[len(j.path)-1]
	switch e.Kind {
	case trace.LeaveHook:
		visit.Verdict, visit.MarkAfter = e.Text, e.Mark
		if e.Text != "accept" {
			visit.MarkAfter = 0
		}
		if e.Text == "held" {
			visit.Verdict = "lost"
		}
	case trace.EnterBase:
		c := &w.Program.Chains[e.Chain]
		visit.Chains = append(visit.Chains, ChainWalk{Family: c.Table.Family.String(), Table: c.Table.Name, Chain: c.Chain.Name, Priority: c.Chain.Base.Priority})
		j.chain = &visit.Chains[len(visit.Chains)-1]
	case trace.LeaveBase:
		j.chain.Verdict = e.Verdict.String()
	case trace.RuleDone:
		c, _, index := w.Program.Rule(e.Rule)
		verdict := e.Verdict.String()
		if e.Verdict == catalog.VerdictJump || e.Verdict == catalog.VerdictGoto {
			verdict += " " + w.Program.Chains[e.Target].Chain.Name
		}
		j.step(e, c.Chain.Name, float64(index), verdict)
	case trace.Policy:
		j.step(e, w.Program.Chains[e.Chain].Chain.Name, "policy", e.Verdict.String())
	}
}

// enter begins a hook. The truth watches the devices of the two networks only,
// and the kernel reports nothing of tagged frames at egress.
func (w *Walk) enter(e *trace.Event) {
	j := w.ids[e.Buffer]
	mute := e.Family == catalog.FamilyNetdev && (e.Device != "lan0" && e.Device != "wan0" || e.Tagged && e.Hook == catalog.HookNetdevEgress)
	if j == nil {
		if mute {
			return
		}
		j = &journey{}
		w.ids[e.Buffer] = j
		w.buffers = append(w.buffers, j)
	}
	j.mute = mute
	if mute {
		return
	}
	v := Visit{Hook: catalog.HookName(e.Family, e.Hook), Family: e.Family.String(), Device: e.Device, Verdict: "lost", Mark: e.Mark}
	if e.Kind == trace.PassHook {
		v.Verdict, v.MarkAfter = "accept", e.Mark
	}
	j.path = append(j.path, v)
}

func (j *journey) step(e *trace.Event, chain string, index any, verdict string) {
	c := j.chain
	if len(c.Steps) == 0 && e.CT.Known {
		state, status, direction := e.CT.State, e.CT.Status, uint32(0)
		if e.CT.Reply {
			direction = 1
		}
		c.CTState, c.CTStatus, c.CTDirection = &state, &status, &direction
	}
	if e.Mark != 0 {
		c.Mark = e.Mark // the truth has the last one that is not 0
	}
	c.Steps = append(c.Steps, []any{chain, index, verdict})
}

// Text prints a path on one line: only hooks at which a base chain ran or the
// packet ended.
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

// Full prints a path on one line, every hook of it.
func Full(path []Visit) string {
	var parts []string
	for _, v := range path {
		parts = append(parts, visitText(&v))
	}
	return strings.Join(parts, " | ")
}

func visitText(v *Visit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", v.Family, v.Hook)
	if v.Device != "" {
		fmt.Fprintf(&b, " %s", v.Device)
	}
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
