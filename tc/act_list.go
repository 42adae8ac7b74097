package tc

// Bounds of a list of actions.
//
// Ref: act_api.c, TCA_ACT_MAX_PRIO, tcf_action_exec
const (
	maxActions = 32
	maxRepeats = 32
	maxJumps   = 32
)

// runActions executes a filter's actions and returns the first code that is
// not PIPE. An empty list says OK.
//
// Ref: act_api.c, tcf_action_exec
func (s *System) runActions(p *Packet, f *filterBase) Code {
	list := f.actions
	s.path.by = f
	if s.sink != nil {
		s.traceMatch(f)
	}
	result := OK
	jumps := maxJumps
	skip := 0
restart:
	for i := 0; i < len(list); i++ {
		a := list[i]
		if skip > 0 {
			skip--
			continue
		}
		if a.skipSW {
			continue
		}
		if p.missing > 0 && a.needsAll() {
			p.short = true
		}
		repeats := maxRepeats
		for {
			result = a.params.run(s, p, a)
			if s.sink != nil {
				s.traceAction(a, result)
			}
			if result != Repeat {
				break
			}
			if repeats--; repeats == 0 {
				return OK
			}
		}
		if result.op() == Jump {
			n := int(result.number())
			if n == 0 || n > len(list) {
				return OK
			}
			if jumps--; jumps <= 0 {
				return OK
			}
			skip = n
			goto restart
		}
		if result != Pipe {
			break
		}
	}
	return result
}

// needsAll reports whether the action reads the packet to its end.
func (a *Action) needsAll() bool { return a.Kind == "csum" || a.Kind == "ct" }
