package tc

import (
	"fmt"
)

// Output is a frame that came out.
type Output struct {
	Device *Device
	// Egress says that the frame left through the device; otherwise it went up
	// to the host's stack.
	Egress bool
	// Packet has the frame; it is valid until the next packet.
	Packet *Packet
}

// Result is what became of a packet.
type Result struct {
	Fate Fate
	// Code is what the filters said, Unspec without decision.
	Code Code
	// Outputs are the frames that came out: the packet itself where it passed,
	// and what was redirected or mirrored.
	Outputs []Output
	// Unknown says why the result cannot be trusted, "" where it can.
	Unknown string
	// By is the filter whose actions ran last; of no kind where none matched.
	By FilterRef
}

// FilterRef names a filter of a block.
type FilterRef struct {
	Kind            string
	Chain, Priority uint32
	Handle          uint32
}

// String names the filter as commands do.
func (f FilterRef) String() string {
	return fmt.Sprintf("%s chain %d pref %d handle 0x%x", f.Kind, f.Chain, f.Priority, f.Handle)
}

func (f *filterBase) ref() FilterRef {
	i := f.instance
	return FilterRef{Kind: i.Kind, Chain: i.chain.Index, Priority: i.Priority, Handle: f.handle}
}

// capturedPart is why a packet that was not captured whole has no known fate.
const capturedPart = "the capture ends before the bytes that traffic control needs"

// Receive runs a packet that arrives at a device. The packet must have been
// loaded for ingress.
//
// Ref: dev.c, sch_handle_ingress
func (s *System) Receive(d *Device, p *Packet) Result { return s.start(d, p, true) }

// Transmit runs a packet that leaves through a device. The packet must have
// been loaded for egress.
//
// Ref: dev.c, sch_handle_egress
func (s *System) Transmit(d *Device, p *Packet) Result { return s.start(d, p, false) }

func (s *System) start(d *Device, p *Packet, ingress bool) (r Result) {
	s.path.depth, s.path.used, s.path.unknown, s.path.by = 0, 0, "", nil
	s.path.pending = s.path.pending[:0]
	s.path.Outputs = s.path.Outputs[:0]
	p.Device = d
	if p.Now == 0 {
		p.Now = s.Now
	}
	if ingress {
		p.IIF = d.Index
		r.Code, r.Fate = s.ingress(d, p)
	} else {
		r.Code, r.Fate = s.egress(d, p)
	}
	s.drain()
	r.Outputs, r.Unknown = s.path.Outputs, s.path.unknown
	if s.path.by != nil {
		r.By = s.path.by.ref()
	}
	if p.short && r.Unknown == "" {
		r.Unknown = capturedPart
	}
	return r
}

// maxBacklog is how many packets may wait for their turn when another one
// comes, with the kernel's setting unchanged.
//
// Ref: dev.c, enqueue_to_backlog; net.core.netdev_max_backlog
const maxBacklog = 1000

// maxDelivered bounds how many packets may come of one. Filters that send a
// packet in circles keep the kernel busy for ever.
const maxDelivered = 1 << 16

// queue lets a packet wait for its turn, if there is room.
func (s *System) queue(p *Packet) bool {
	if len(s.path.pending) > maxBacklog {
		return false
	}
	s.path.pending = append(s.path.pending, p)
	return true
}

// drain delivers what waits for its turn: packets that egress sent to ingress.
// Those that come meanwhile wait for the next.
//
// Ref: dev.c, process_backlog
func (s *System) drain() {
	for delivered := 0; len(s.path.pending) > 0; {
		s.path.turn, s.path.pending = s.path.pending, s.path.turn[:0]
		for _, p := range s.path.turn {
			if delivered++; delivered > maxDelivered {
				s.path.unknown = "its filters send the packet in circles without end"
				return
			}
			s.path.depth = 0
			p.retag()
			s.ingress(p.Device, p)
		}
	}
}

// retag takes a tag off a packet that arrives anew.
func (p *Packet) retag() {
	p.Ingress = true
	p.data = p.net
	if !p.VLAN.Present && isVLAN(p.Protocol) && p.has(p.net, vlanLen+2) {
		changed := p.changed
		p.untag()
		p.changed = changed
	}
	p.macLen = p.net - p.mac
	p.data = p.net
	p.void()
}

func (s *System) ingress(d *Device, p *Packet) (Code, Fate) {
	p.Ingress = true
	p.pktLen = p.Len()
	q := d.at(handleIngress)
	c, seen := Unspec, false
	if q != nil {
		c, seen = s.hook(q, q.ingress, p)
	}
	f := fateOf(c)
	if f == Passed {
		s.output(d, p, false)
		if !seen {
			f = Bypassed
		}
	}
	return c, f
}

func (s *System) egress(d *Device, p *Packet) (Code, Fate) {
	p.Ingress = false
	p.pktLen = p.Len()
	q := d.at(handleIngress)
	c, seen := Unspec, false
	if q != nil && q.egress != nil {
		c, seen = s.hook(q, q.egress, p)
	}
	f := fateOf(c)
	if f == Passed {
		if c, f = s.enqueue(d, p, c); f != Passed {
			return c, f
		}
		s.output(d, p, true)
		if !seen {
			f = Bypassed
		}
	}
	return c, f
}

// enqueue asks the filters of a classful root qdisc, which choose a class.
//
// Ref: sch_prio.c, prio_classify; sch_drr.c, drr_classify
func (s *System) enqueue(d *Device, p *Packet, c Code) (Code, Fate) {
	q := d.at(handleRoot)
	if q == nil || q.block == nil || q.block.chain0 == nil {
		return c, Passed
	}
	s.path.classID = 0
	r := s.classify(q.block, q.block.chain0, p)
	switch r {
	case Shot:
		q.Drops++
		return r, Dropped
	case Stolen, Queued, Trap, Consumed:
		return r, Taken
	case Unspec:
		if q.Kind == "drr" {
			q.Drops++
			return r, Dropped
		}
		s.path.classID = q.band(p.Priority)
	}
	q.Packets++
	q.Bytes += uint64(p.pktLen)
	return c, Passed
}

// output records a frame that came out. A device that is its own wire gets it
// back.
func (s *System) output(d *Device, p *Packet, egress bool) {
	if hw := d.Hardware; egress && hw != nil && hw.Model.Loopback {
		q := s.path.packet()
		p.clone(q)
		q.Device, q.IIF = d, d.Index
		s.queue(q)
		return
	}
	s.path.Outputs = append(s.path.Outputs, Output{Device: d, Egress: egress, Packet: p})
}

// forward gives a packet to a device's ingress or egress and reports whether
// that failed.
//
// Ref: act_mirred.c, tcf_mirred_forward
func (s *System) forward(p *Packet, fromIngress, toIngress bool) bool {
	d := p.Device
	switch {
	case !toIngress:
		p.toEgress(fromIngress)
		_, f := s.egress(d, p)
		return f == Dropped
	case !fromIngress:
		p.Ingress = true
		return !s.queue(p)
	}
	p.retag()
	_, f := s.ingress(d, p)
	if f == Passed || f == Bypassed {
		return s.config.Stack != nil && !s.config.Stack(d, p)
	}
	return f == Dropped
}

// toEgress lets the data begin at the link header.
func (p *Packet) toEgress(bool) {
	p.Ingress = false
	p.data = p.mac
	p.void()
}
