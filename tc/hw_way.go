package tc

import (
	"fmt"
	"strings"

	"verdict/conntrack"
	"verdict/offload"
	"verdict/packet"
	"verdict/trace"
)

// HardwareResult is what a device did with a packet before the host saw it.
type HardwareResult struct {
	// Done says that the packet's way ended in hardware.
	Done bool
	Fate Fate
	// Outputs are the frames that hardware sent, valid until the next packet.
	Outputs []Output
	// Rules matched, in order, valid as long; By is the filter of the last one, of kind nft
	// where it stands for a rule of nftables.
	Rules []offload.Rule
	By    FilterRef
	// Trapped and Resume say how software gets the packet.
	Trapped bool
	Resume  Resume
	Mark    uint32
}

// Hardware runs an arriving packet through the device's tables, as long as it
// was not handed over before. Rules change it as their filters would in
// software. A packet that goes on in software carries its mark, its tag and
// where to resume. A ct action needs a connection that was offloaded, which
// those are that are confirmed and assured; without one the packet resumes at
// the chain of the filter with the action.
func (s *System) Hardware(d *Device, p *Packet) HardwareResult {
	w := &s.hardwareWay
	w.system, w.device, w.packet = s, d, p
	w.result = HardwareResult{Rules: w.result.Rules[:0]}
	if hw := d.Hardware; hw == nil || p.Trapped || hw.Len() == 0 {
		return w.result
	}
	s.path.used, s.path.Outputs = 0, s.path.Outputs[:0]
	p.Device, p.IIF = d, d.Index
	if s.sink != nil {
		s.sink.Event(&trace.Event{Kind: trace.EnterTC, Device: d.Name, Text: "hardware of " + d.Name + " (" + d.Hardware.Model.Name + ")"})
	}
	mark := p.Mark
	w.run()
	if p.Mark != mark {
		w.result.Mark = p.Mark
	}
	w.result.Outputs = s.path.Outputs
	if s.sink != nil {
		s.event(trace.LeaveTC, "", "%s", w.result.text())
	}
	return w.result
}

// run goes from chain to chain.
func (w *hardwareWay) run() {
	p, chain := w.packet, uint32(0)
	for range offload.MaxHops {
		rule, ok := w.device.Hardware.Match(p.dissected(), p.outer(), chain, p.Len(), p.Now)
		if !ok {
			if w.system.sink != nil {
				w.system.event(trace.TCDetail, "", "chain %d: no rule matches", chain)
			}
			w.miss(chain)
			return
		}
		w.result.Rules = append(w.result.Rules, rule)
		next, done := w.rule(&w.result.Rules[len(w.result.Rules)-1])
		if done {
			return
		}
		chain = next
	}
}

// text says what hardware decided.
func (r *HardwareResult) text() string {
	switch {
	case r.Trapped:
		return "trap: software gets the packet"
	case r.Resume.Set:
		return fmt.Sprintf("software goes on at chain %d", r.Resume.Chain)
	case !r.Done:
		return "software gets the packet"
	case r.Fate == Dropped:
		return "drop"
	}
	return "forwarded: software does not see the packet"
}

// hardwareWay is one packet's way through a device.
type hardwareWay struct {
	system *System
	device *Device
	packet *Packet
	result HardwareResult
}

// miss hands the packet to software, at a chain if the device can say so.
func (w *hardwareWay) miss(chain uint32) {
	if chain != 0 && w.device.Hardware.Model.Resumes {
		w.result.Resume = Resume{Set: true, Chain: chain}
		w.packet.Resume = w.result.Resume
	}
}

// rule carries out a rule; next is the chain to go on with.
func (w *hardwareWay) rule(r *offload.Rule) (next uint32, done bool) {
	s := w.system
	f := s.hardware[r.Cookie]
	w.result.By = FilterRef{Kind: string(r.Kind), Chain: r.Chain, Priority: r.Priority, Handle: uint32(r.Cookie)}
	if f != nil {
		w.result.By = f.base.ref()
	}
	if s.sink != nil {
		w.traceRule(r, f)
	}
	var actions []*Action
	if f != nil {
		actions = f.base.actions
	}
	if len(actions) == 0 {
		return w.plain(r)
	}
	for _, a := range actions {
		c := w.action(r, a)
		if s.sink != nil {
			s.traceAction(a, c)
		}
		switch {
		case c == Pipe:
			continue
		case c.op() == GotoChain:
			return c.number(), false
		}
		w.end(r, c)
		return 0, true
	}
	return 0, true
}

// plain carries out a rule that stands for no tc actions.
func (w *hardwareWay) plain(r *offload.Rule) (next uint32, done bool) {
	for _, a := range r.Actions {
		switch a.ID {
		case offload.ActDrop:
			w.end(r, Shot)
		case offload.ActTrap:
			w.end(r, Trap)
		case offload.ActGoto:
			return a.Chain, false
		case offload.ActRedirect, offload.ActMirror, offload.ActRedirectIngress, offload.ActMirrorIngress:
			ingress := a.ID == offload.ActRedirectIngress || a.ID == offload.ActMirrorIngress
			redirect := a.ID == offload.ActRedirect || a.ID == offload.ActRedirectIngress
			w.send(a.Device, ingress, redirect)
			if !redirect {
				continue
			}
			w.end(r, Stolen)
		}
		return 0, true
	}
	return 0, true
}

// end notes the fate of the packet that a rule decided.
func (w *hardwareWay) end(r *offload.Rule, c Code) {
	switch c {
	case Shot:
		w.device.Hardware.CountDrop(r.Cookie)
		w.result.Done, w.result.Fate = true, Dropped
	case Stolen, Consumed, Queued:
		w.result.Done, w.result.Fate = true, Taken
	case Trap:
		w.result.Trapped, w.packet.Trapped = true, true
	}
}

// action carries out one action in hardware; software's counters stay.
func (w *hardwareWay) action(r *offload.Rule, a *Action) Code {
	s, p := w.system, w.packet
	switch x := a.params.(type) {
	case *mirred:
		w.send(x.device.Name, x.ingress, x.redirect)
		return a.Control
	case *ctAction:
		if !x.clear && !s.offloaded(x, p) {
			w.miss(r.Chain)
			return OK
		}
	}
	counters, first, last := a.Counters, a.firstUsed, a.lastUsed
	c := a.params.run(s, p, a)
	a.Counters, a.firstUsed, a.lastUsed = counters, first, last
	return c
}

// send sends a copy of the packet out by a device, or to its ingress.
func (w *hardwareWay) send(name string, ingress, redirect bool) {
	to := w.system.devices[name]
	if to == nil {
		return
	}
	q := w.system.path.packet()
	w.packet.clone(q)
	q.Device, q.IIF, q.redirected = to, w.device.Index, redirect
	w.system.path.Outputs = append(w.system.path.Outputs, Output{Device: to, Egress: !ingress, Packet: q})
}

// traceRule tells of a rule that matched.
func (w *hardwareWay) traceRule(r *offload.Rule, f *hardwareFilter) {
	if f == nil {
		w.system.event(trace.TCFilter, "", "%s rule, priority %d", r.Kind, r.Priority)
		var words []string
		for _, a := range r.Actions {
			words = append(words, a.String())
		}
		w.system.event(trace.TCDetail, "", "matches: %s", strings.Join(words, ", "))
		return
	}
	ref := f.base.ref()
	w.system.event(trace.TCFilter, ref.place(), "%s", w.system.filterText(f.base.instance, ref.Handle))
	w.system.event(trace.TCDetail, ref.place(), "matches")
}

// offloaded reports whether hardware knows the packet's connection.
//
// Ref: act_ct.c, tcf_ct_flow_table_process_conn
func (s *System) offloaded(c *ctAction, p *Packet) bool {
	link := packet.LinkIPv4
	family, ok := p.family()
	if !ok {
		return false
	}
	if p.inner() == packet.TypeIPv6 {
		link = packet.LinkIPv6
	}
	c.view.Decode(link, p.buf[p.net:p.tail], p.tail-p.net)
	var f packet.Flow
	if c.view.Flow(&f) != packet.OK {
		return false
	}
	t := conntrack.Tuple{Src: f.Src, Dst: f.Dst, SrcPort: f.SrcPort, DstPort: f.DstPort, Family: family, Protocol: f.Proto}
	conn, _, found := s.ct.Lookup(&t, conntrack.Zone{ID: c.zone}, p.Now)
	return found && conn.Confirmed() && conn.Status&conntrack.StatusAssured != 0
}
