package engine

import (
	"fmt"
	"strings"

	"verdict/conntrack"
	"verdict/packet"
	"verdict/tc"
)

// TCError names traffic control at an interface whose packets do not pass it
// here.
type TCError struct{ Interface, Kind string }

func (e *TCError) Error() string {
	return fmt.Sprintf("tc filters at %s: those of interfaces of kind %s are not part of a packet's way here", e.Interface, e.Kind)
}

// checkTC refuses filters at interfaces that packets reach through others.
func (e *Engine) checkTC(s *tc.System) error {
	for _, d := range s.Devices() {
		i, ok := e.host.ByName(d.Name)
		if !ok || !d.Receives() && !d.Transmits() {
			continue
		}
		switch i.Kind {
		case "vlan", "bridge":
			return &TCError{d.Name, i.Kind}
		}
	}
	return nil
}

// traffic is a worker's packet at traffic control.
type traffic struct {
	packet  tc.Packet
	frame   []byte // built or changed
	index   uint16 // the packet's class, from ingress on
	queue   uint16
	sent    []handed
	reasons map[trafficReason]string
	devices map[packet.Name]*tc.Device // nil for those without
}

// handed is a frame that filters sent elsewhere.
type handed struct {
	device         string
	egress         bool
	frame          []byte
	mark, priority uint32
	kind           MadeKind
}

// trafficReason is what ended a packet's way; reasons are worded once.
type trafficReason struct {
	at     Traffic
	device string
	by     tc.FilterRef
	code   tc.Code
}

func (r trafficReason) String() string {
	where := "hardware of " + r.device
	if r.at != Hardware {
		where = "tc " + r.at.String() + " of " + r.device
	}
	if r.by.Kind != "" {
		where += ": " + r.by.String()
	}
	switch r.code {
	case tc.Shot:
		return where + " drops it"
	case tc.Trap:
		return where + " traps it"
	}
	return where + " sends it elsewhere"
}

// traffics makes a worker's part for traffic control.
func (w *Worker) traffics() *traffic {
	if w.traffic == nil {
		w.traffic = &traffic{reasons: map[trafficReason]string{}, devices: map[packet.Name]*tc.Device{}}
	}
	return w.traffic
}

// device finds an interface's traffic control, nil if it has none.
func (t *traffic) device(s *tc.System, name packet.Name) *tc.Device {
	d, ok := t.devices[name]
	if !ok {
		d = s.Device(name.String())
		t.devices[name] = d
	}
	return d
}

// tcIngress takes a frame through the hardware and the ingress filters of its
// interface; it reports whether the packet goes on. VLAN tags that filters took
// off or put on are in the frame from here on.
// Ref: net/core/dev.c, __netif_receive_skb_core.
func (w *Worker) tcIngress(d *device) bool {
	s := w.engine.options.TC
	t := w.traffics()
	td := t.device(s, d.meta.Name)
	t.index, t.queue = 0, 0
	if td == nil || !td.Receives() {
		return true
	}
	if w.view.Link != packet.LinkEthernet {
		return w.tcUnknown(TCIngress, "traffic control needs Ethernet frames")
	}
	p := &t.packet
	if !p.Load(w.view.Data, true) {
		w.lost("it ends within its link header")
		return false
	}
	p.Cut(w.view.OrigLen)
	w.tcEnter(s, p)
	h := s.Hardware(td, p)
	if td.Hardware != nil && td.Hardware.Len() > 0 {
		if w.tcKeep(p, h.Outputs); h.Done {
			code := tc.Stolen
			if h.Fate == tc.Dropped {
				code = tc.Shot
			}
			return w.tcLeave(p, trafficReason{Hardware, td.Name, h.By, code}, h.Fate, "")
		}
		w.tcNote(Hardware, Accepted, len(h.Rules) > 0)
		w.tcSend()
		s.Trace(w.sink)
	}
	r := s.Receive(td, p)
	w.tcKeep(p, r.Outputs)
	return w.tcLeave(p, trafficReason{TCIngress, td.Name, r.By, r.Code}, r.Fate, r.Unknown)
}

// tcEgress takes a packet that leaves through the egress filters and the root
// qdisc of its interface; it reports whether the packet goes on.
// Ref: net/core/dev.c, __dev_queue_xmit, sch_handle_egress.
func (w *Worker) tcEgress() bool {
	s := w.engine.options.TC
	if s == nil {
		return true
	}
	t := w.traffics()
	td := t.device(s, w.meta.OIF.Name)
	if td == nil || !td.Transmits() {
		return true
	}
	frame, missing := w.tcFrame(t)
	p := &t.packet
	if !p.Load(frame, false) {
		return w.tcUnknown(TCEgress, "its frame is not known")
	}
	p.Cut(len(frame) + missing)
	if in := t.device(s, w.meta.IIF.Name); in != nil {
		p.IIF = in.Index
	}
	w.tcEnter(s, p)
	p.TCIndex, p.Queue = t.index, t.queue
	r := s.Transmit(td, p)
	w.tcKeep(p, r.Outputs)
	return w.tcLeave(p, trafficReason{TCEgress, td.Name, r.By, r.Code}, r.Fate, r.Unknown)
}

// tcFrame is the frame as it leaves, and how many bytes of it were not
// captured. A routed packet has lost tags and padding.
func (w *Worker) tcFrame(t *traffic) ([]byte, int) {
	v := &w.view
	routed := v.EtherType == packet.TypeIPv4 || v.EtherType == packet.TypeIPv6
	if w.engine.options.Replies || !routed || w.meta.BridgeOut != (packet.Name{}) {
		return v.Data, v.OrigLen - len(v.Data)
	}
	t.frame = append(t.frame[:0], make([]byte, macLen-2)...)
	if v.Link == packet.LinkEthernet {
		copy(t.frame, v.Data)
	}
	t.frame = append(t.frame, byte(v.EtherType>>8), byte(v.EtherType))
	t.frame = append(t.frame, v.Packet()[v.NetOff:]...)
	return t.frame, v.End - len(v.Packet())
}

// tcEnter gives the packet what it brings along.
func (w *Worker) tcEnter(s *tc.System, p *tc.Packet) {
	s.Trace(w.sink)
	s.Now, p.Now = w.now, w.now
	m := &w.meta
	p.Mark, p.Priority, p.PktType, p.RtClassID = m.Mark, m.Priority, m.PktType, m.RtClassID
	p.HasSocket = m.Has&(packet.HasSKUID|packet.HasSKGID) != 0
	p.SKUID, p.SKGID = m.SKUID, m.SKGID
	p.CT, w.ct = w.ct, conntrack.Attachment{Info: conntrack.InfoNone}
}

// tcKeep copies the frames that filters sent elsewhere.
func (w *Worker) tcKeep(p *tc.Packet, list []tc.Output) {
	for i := range list {
		o := &list[i]
		if o.Packet == p {
			continue
		}
		h := handed{device: o.Device.Name, egress: o.Egress, frame: o.Packet.Frame(), mark: o.Packet.Mark, priority: o.Packet.Priority, kind: MadeClone}
		if o.Packet.Redirected() {
			h.kind = MadeForward
		}
		w.traffic.sent = append(w.traffic.sent, h)
	}
}

// tcLeave takes over what became of the packet.
func (w *Worker) tcLeave(p *tc.Packet, why trafficReason, fate tc.Fate, unknown string) bool {
	w.ct, p.CT = p.CT, conntrack.Attachment{Info: conntrack.InfoNone}
	w.meta.Mark, w.meta.Priority, w.meta.PktType = p.Mark, p.Priority, p.PktType
	w.traffic.index, w.traffic.queue = p.TCIndex, p.Queue
	if p.Changed() {
		w.tcAdopt(p)
	}
	w.tcSend()
	if unknown != "" {
		return w.tcUnknown(why.at, unknown)
	}
	switch fate {
	case tc.Dropped:
		w.tcEnd(why, Dropped)
		return false
	case tc.Taken:
		w.tcEnd(why, Stolen)
		return false
	}
	w.tcNote(why.at, Accepted, fate == tc.Passed)
	return true
}

// tcAdopt makes the frame that filters changed the worker's packet.
func (w *Worker) tcAdopt(p *tc.Packet) {
	t, v := w.traffic, &w.view
	missing := v.OrigLen - len(v.Data)
	t.frame = p.AppendFrame(t.frame[:0])
	frame := t.frame
	if v.Link != packet.LinkEthernet {
		frame = frame[macLen:]
	}
	w.buffer.Set(v, frame, 0, len(frame)+missing)
}

// tcSend lets the frames that filters sent elsewhere go their ways: out by a
// device, or into the host as received by it. Neither meets netfilter's egress.
// Ref: net/sched/act_mirred.c, tcf_mirred_forward; include/linux/netfilter_netdev.h,
// nf_skip_egress.
func (w *Worker) tcSend() {
	list := w.traffic.sent
	w.traffic.sent = w.traffic.sent[:0]
	for i := range list {
		h := list[i]
		if h.egress {
			w.journey.sent = append(w.journey.sent, SentFrame{Device: h.device, Data: h.frame, Made: true, Kind: h.kind})
			continue
		}
		c := w.fork(h.frame, conntrack.Attachment{Info: conntrack.InfoNone})
		if c == nil {
			continue
		}
		*c.in = Input{In: h.device}
		d := w.engine.device(h.device)
		c.arrive(d)
		c.meta.Mark, c.meta.Priority = h.mark, h.priority
		c.meta.PktType = c.view.PktType
		c.meta.PktType = c.receivedType(d)
		c.received(d)
		w.finish(c, h.kind)
	}
}

// tcEnd ends the packet's way at traffic control.
func (w *Worker) tcEnd(why trafficReason, fate Fate) {
	text, ok := w.traffic.reasons[why]
	if !ok {
		text = why.String()
		w.traffic.reasons[why] = text
	}
	w.tcNote(why.at, fate, true)
	w.out.Reason = text
	w.out.Decided, w.out.Base, w.out.Table = false, nil, nil
}

// tcUnknown ends the way of a packet whose fate cannot be told.
func (w *Worker) tcUnknown(at Traffic, reason string) bool {
	w.tcNote(at, Unknown, true)
	w.out.Reason, w.out.CutAt = reason, 0
	if strings.HasPrefix(reason, "the capture") {
		w.out.CutAt = len(w.view.Data)
	}
	w.out.Decided, w.out.Base, w.out.Table = false, nil, nil
	return false
}

func (w *Worker) tcNote(at Traffic, fate Fate, ran bool) {
	w.out.Fate = fate
	w.out.Hooks = append(w.out.Hooks, HookResult{Fate: fate, Ran: ran, Traffic: at})
}
