package engine

import (
	"cmp"
	"net/netip"
	"slices"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/engine/vm"
	"verdict/iptables"
)

// addTables registers the built-in chains of iptables beside the base chains.
func (t *hookTable) addTables(p *iptables.Program) {
	for i, uses := range p.UsesCT {
		t.tracks[i] = t.tracks[i] || uses
	}
	for _, b := range p.Bases {
		i := 0
		if b.Family == catalog.FamilyIP6 {
			i = 1
		}
		list := t.ip[i][b.Hook]
		if b.NAT {
			list.natTables = append(list.natTables, b)
			t.anyNAT[i] = true
			continue
		}
		list.steps = append(list.steps, step{kind: stepTable, priority: b.Priority, table: b})
	}
	for i := range t.ip {
		for _, list := range t.ip[i] {
			slices.SortStableFunc(list.steps, func(a, b step) int { return cmp.Compare(a.priority, b.priority) })
		}
	}
}

// hooksOf orders what runs at the hooks: base chains of a program, and the
// engine's tables of iptables.
func (e *Engine) hooksOf(p *vm.Program) *hookTable {
	if t := e.options.Tables; t != nil && t.Uses.TTL {
		e.options.Forwarded = true
	}
	return buildHooks(p, e.options.Tables)
}

// Tables are the tables of iptables that run beside the rules, or nil.
func (e *Engine) Tables() *iptables.Program { return e.options.Tables }

// Tables is the worker's machine for tables of iptables, with their counters;
// nil where the engine has none.
func (w *Worker) Tables() *iptables.Machine {
	if w.tables == nil && w.engine.options.Tables != nil {
		w.tables = iptables.NewMachine(w.engine.options.Tables, w.engine.options.Seed)
		w.tables.Conns, w.tables.Host, w.tables.HashSeed = w.conns, w.engine.host, uint32(w.engine.options.Seed)
	}
	return w.tables
}

// table walks a built-in chain.
func (w *Worker) table(b *iptables.Base) Fate {
	m := w.Tables()
	m.Now, m.CPU = w.now, w.machine.CPU
	m.Trace(w.sink)
	w.legacy = iptables.Packet{
		View: &w.view, Meta: &w.meta, CT: &w.ct, Family: w.pkt.Family, Hook: w.pkt.Hook,
		Length: w.view.NetLen, Rewriter: &w.buffer,
	}
	var v iptables.Verdict
	m.Run(b, &w.legacy, &v)
	if m.Reject != nil {
		w.rejectPacket(m.Reject)
	}
	w.out.Decided, w.out.Base, w.out.Table = true, nil, b
	w.out.Verdict = vm.Verdict{Kind: v.Kind, Policy: v.Policy, Rule: v.Rule, Queue: v.Queue, Bypass: v.Bypass, Unknown: v.Unknown, CutAt: v.CutAt}
	switch {
	case v.Unknown:
		w.out.CutAt = v.CutAt
		w.out.Reason = "the capture ends before the bytes that the rule needs"
		return Unknown
	case v.Kind == catalog.VerdictAccept:
		return Accepted
	case v.Kind == catalog.VerdictQueue:
		return Queued
	case v.Kind == catalog.VerdictStolen:
		return Stolen
	}
	return Dropped
}

// natTables runs the chains of the table nat and carries out what they ask for.
func (w *Worker) natTables(list *hookList, manip conntrack.Manip, ran bool) (Fate, bool) {
	for _, b := range list.natTables {
		if fate := w.table(b); fate != Accepted {
			return fate, true
		}
		ran = true
		request := &w.tables.NAT
		if request.Kind == iptables.NoNAT {
			continue
		}
		r := request.Range
		switch request.Kind {
		case iptables.Masquerade:
			r.Device = w.meta.OIF.Index
			if w.view.SrcAddr() == netip.IPv4Unspecified() {
				continue
			}
			if !w.masquerade(&r) {
				return w.refuseNAT("masquerade finds no address on the outgoing interface"), ran
			}
		case iptables.Redirect:
			if !w.redirect(&r) {
				return w.refuseNAT("redirect finds no address on the incoming interface"), ran
			}
		}
		if w.conns.SetupNAT(&w.track, manip, &r) == conntrack.Drop {
			return w.refuseNAT("the address translation cannot be set up"), ran
		}
		return Accepted, ran
	}
	return Accepted, ran
}

// refuseNAT makes the rule that asked for a translation drop the packet.
func (w *Worker) refuseNAT(reason string) Fate {
	w.out.Reason, w.out.Verdict.Kind = reason, catalog.VerdictDrop
	return Dropped
}
