package iptables

// Ordered names what makes the outcome depend on the order of all packets, one
// entry for each kind, with the first rule that does it. Without any, packets
// of different connections may be walked side by side, by machines of their
// own.
func (p *Program) Ordered() (list []OrderedRule) {
	seen := map[string]bool{}
	add := func(what string, rule int) {
		if !seen[what] {
			seen[what] = true
			list = append(list, OrderedRule{what, uint32(rule)})
		}
	}
	for i := range p.rules {
		r := &p.rules[i]
		for _, m := range r.matches {
			if _, ok := m.(stateful); ok {
				add("-m "+m.Name(), i)
			}
		}
		switch t := r.target.(type) {
		case nil, *tosTarget, *dscpTarget, *ttlTarget, *tproxyTarget, *checksumTarget, *tcpmssTarget, *optstripTarget, *ecnTarget,
			*logTarget, *nflogTarget, *traceTarget, *markTarget, *classifyTarget, *rejectTarget, *nfqueueTarget:
		case *ctTarget:
			if t.helper != nil {
				add("-j CT --helper", i)
			}
		default:
			if r.do == doTarget {
				add("-j "+t.Name(), i)
			}
		}
	}
	return list
}

// OrderedRule is the first rule of a kind whose outcome depends on the order of
// packets.
type OrderedRule struct {
	What string
	Rule uint32
}

// TakeCounters adds another machine's counters to this one's and clears them
// there. Both run the same program.
func (m *Machine) TakeCounters(o *Machine) {
	take(m.counters, o.counters)
	take(m.policies, o.policies)
}

func take(to, from []Counter) {
	for i := range from {
		to[i].Packets += from[i].Packets
		to[i].Bytes += from[i].Bytes
	}
	clear(from)
}
