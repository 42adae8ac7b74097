package engine

import (
	"net/netip"
	"slices"

	"verdict/capture"
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/host"
	"verdict/iptables"
	"verdict/packet"
	"verdict/packet/rewrite"
	"verdict/trace"
)

// Input is one frame with what is known about it.
type Input struct {
	Data     []byte
	OrigLen  int
	LinkType packet.LinkType
	Time     int64 // nanoseconds since the epoch
	// In is the interface that received the frame, Out the one that sends it;
	// usually one of them is known. Names may be empty.
	In, Out   string
	Direction capture.Direction
	Local     bool // sent by the host itself
	// Facts are what no frame carries: mark, priority, socket, processor,
	// packet type if Facts.Has says so. Of its interfaces only the groups
	// count, where they are not 0; they overrule the host's. nil: nothing is
	// known.
	Facts *packet.Meta
	// Hook sends the packet through this hook alone, whatever Options.Hook
	// says.
	Hook Hook
}

// Worker evaluates packets in order. It belongs to one goroutine.
type Worker struct {
	engine    *Engine
	conns     *conntrack.Table // the engine's, or of this worker's connections
	rules     *rules
	program   *vm.Program // of the rules
	hooks     *hookTable
	selectors *chain.Selectors
	changed   []byte  // packets of a batch that rules changed
	ahead     Outcome // of packets that are only looked at
	machine   *vm.Machine
	view      packet.View
	meta      packet.Meta
	ct        conntrack.Attachment
	buffer    rewrite.Buffer
	pkt       vm.Packet
	track     conntrack.Packet
	out       *Outcome
	in        *Input
	sink      trace.Sink
	now       int64
	tables    *iptables.Machine // nil until it is needed
	legacy    iptables.Packet
	emitted   ring  // packets that left, to recognise them when seen again
	serial    int64 // of the packet: how many came before it
	pinned    bool  // stays with its rules
	recent    recentDevice
	recentOut recentDevice

	manip          conntrack.Manip // that nat chains decide now
	way            way             // the routing decision
	rerouted       bool
	recordAt       int                   // where the IPv4 header has the address that the host recorded
	stampAt        int                   // and the one beside its time
	optionsWritten bool                  // the IPv4 options were changed, and the header's checksum is wrong meanwhile
	hopRead        bool                  // hop-by-hop options were read on arrival
	optionsRead    bool                  // the IPv4 options were acted on
	verified       bool                  // tracking verified the transport checksum
	reassembly     *conntrack.Reassembly // of a datagram that came in fragments
	boundTo        uint32                // device that link-local destinations belong to
	onDevice       bool                  // made on its device
	cameBy         packet.Device         // by which the packet came that this one is a clone of
	device         string                // of the netdev hook
	// Packets that the host makes have workers of their own, nested in the one
	// whose packet is under way.
	journey *journey
	nested  *Worker
	traffic *traffic // nil until traffic control has something to do
	depth   int
	// firstSent is how many frames had left when a nested worker began.
	firstSent int
	reply     Outcome
	numbered  numbered
}

// Worker makes a worker.
func (e *Engine) Worker() *Worker {
	w := &Worker{engine: e, conns: e.conns, machine: vm.NewMachine(e.Program(), e.options.Seed), journey: &journey{}}
	w.follow(e.present.Load())
	w.machine.Conns = e.conns
	w.machine.Routes = routes{e.host}
	w.machine.HashSeed = uint32(e.options.Seed)
	w.machine.Before71 = e.options.Conntrack.Before71
	w.connect()
	return w
}

// connect makes the parts of a worker know each other.
func (w *Worker) connect() {
	w.pkt.View, w.pkt.Meta, w.pkt.CT, w.pkt.Rewriter = &w.view, &w.meta, &w.ct, &w.buffer
	w.track.View, w.track.Attachment, w.track.Buffer = &w.view, &w.ct, &w.buffer
	w.machine.Act = w.act
}

// Machine gives access to hit counts and effects.
func (w *Worker) Machine() *vm.Machine { return w.machine }

// Trace sends the steps of the following packets to a sink; nil switches
// tracing off.
func (w *Worker) Trace(sink trace.Sink) { w.sink, w.journey.sink = sink, sink }

// Now is the time of the packet evaluated last, in nanoseconds since the
// epoch; it never runs backwards.
func (w *Worker) Now() int64 { return w.now }

// View is the packet evaluated last, as rules left it.
func (w *Worker) View() *packet.View { return &w.view }

// Meta is the metadata of the packet evaluated last.
func (w *Worker) Meta() *packet.Meta { return &w.meta }

// Attachment is the connection of the packet evaluated last.
func (w *Worker) Attachment() *conntrack.Attachment { return &w.ct }

// Evaluate runs one packet and fills the outcome, whose slices are reused.
// The packet's bytes are read during the call only and never changed. Cost:
// decoding, and the rules of the hooks that the packet passes; no allocation
// once warm, but for new connections.
func (w *Worker) Evaluate(in *Input, out *Outcome) {
	if now := w.engine.present.Load(); now != w.rules && !w.pinned {
		w.follow(now)
	}
	w.serial++
	w.start(in, out)
	only := in.Hook
	if only == WholeWay {
		only = w.engine.only
	}
	switch {
	case only != WholeWay:
		w.runOnly(only.key())
	case w.sent():
		w.send()
	default:
		w.receive()
	}
	if w.engine.tellsMade() {
		w.conclude()
	}
	if w.buffer.Changed() {
		out.Changed, out.Data = true, w.view.Data
	}
	if out.Fate == Accepted && (w.engine.options.Forwarded || w.engine.options.Replies) {
		out.Out = w.meta.OIF.Name
	}
}

// tellsMade reports whether outcomes tell of other packets than the one that
// was evaluated.
func (e *Engine) tellsMade() bool { return e.options.Replies || e.options.TC != nil }

// conclude receives what the host sent to itself, and gives all that it made.
func (w *Worker) conclude() {
	w.receiveLooped()
	w.out.Made, w.out.Sent = w.journey.made, w.journey.sent
}

func (w *Worker) start(in *Input, out *Outcome) {
	hooks := out.Hooks[:0]
	if w.engine.tellsMade() {
		w.begin(out)
	}
	w.recordAt, w.stampAt, w.optionsWritten, w.hopRead = 0, 0, false, false
	w.reassembly, w.boundTo, w.verified, w.optionsRead = nil, 0, false, false
	if w.engine.options.KnownRoutes {
		w.way = way{}
	}
	*out = Outcome{}
	out.Hooks, out.Data = hooks, in.Data
	w.in, w.out = in, out
	w.buffer.Start()
	if w.ct != untouched {
		w.ct.Reset()
	}
	w.meta.Reset()
	w.machine.Effects.Reset()
	w.view.Decode(in.LinkType, in.Data, in.OrigLen)
	w.now = max(w.now, in.Time)
	w.machine.Now = w.now
	w.machine.CPU = 0
	if in.Facts != nil {
		w.learn(in.Facts)
	}
	w.meta.Time = w.now
	if w.meta.Has&packet.HasPktType == 0 {
		w.meta.PktType = w.view.PktType
	}
}

// untouched is the attachment of a packet that nothing was hung on.
var untouched = conntrack.Attachment{Info: conntrack.InfoNone}

// begin forgets what the packet before made the host do.
func (w *Worker) begin(out *Outcome) {
	w.journey.made, w.journey.sent = out.Made[:0], out.Sent[:0]
	w.journey.buffers, w.journey.cloning = 0, false
	w.sink = w.journey.sink
}

// learn takes over facts; the interfaces are looked up by name later.
func (w *Worker) learn(facts *packet.Meta) {
	w.meta = *facts
	w.meta.IIF, w.meta.OIF = packet.Device{}, packet.Device{}
	w.machine.CPU = facts.CPU
}

// arrive sets the incoming interface.
func (w *Worker) arrive(d *device) {
	w.meta.IIF = d.meta
	if w.in.Facts != nil && w.in.Facts.IIF.Group != 0 {
		w.meta.IIF.Group = w.in.Facts.IIF.Group
	}
}

// depart sets the outgoing interface.
func (w *Worker) depart(d *device) {
	w.meta.OIF = d.meta
	if w.in.Facts != nil && w.in.Facts.OIF.Group != 0 {
		w.meta.OIF.Group = w.in.Facts.OIF.Group
	}
}

// sent decides whether the frame leaves the host or comes to it.
func (w *Worker) sent() bool {
	in := w.in
	switch {
	case in.Local:
		return true
	case w.engine.options.Replies && in.In != "":
		return false // the host is known: what an interface receives is received
	case in.Direction == capture.Outbound, w.view.PktType == packet.PktOutgoing:
		return true
	case in.Direction == capture.Inbound, in.In != "" && in.Out == "" && w.loopsBack():
		return false
	case w.view.PktType == packet.PktHost && w.view.Link != packet.LinkEthernet:
		return false
	}
	if s, _, ok := w.view.Addresses4(); ok {
		return w.engine.isLocal4(s)
	}
	return w.engine.isLocal(w.view.SrcAddr())
}

// isLocal4 is isLocal for an IPv4 address as a number.
func (e *Engine) isLocal4(a uint32) bool {
	if slices.Contains(e.local4, a) {
		return true
	}
	kind := e.host.LocalType4(a)
	return kind == host.RouteLocal || kind == host.RouteAnycast
}

// loopsBack is true for frames of the loopback device, which are seen once for
// both ways.
func (w *Worker) loopsBack() bool { return w.deviceOf(w.in.In).loopback }

// isLocal reports whether an address is the host's own.
func (e *Engine) isLocal(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	for _, l := range e.options.Local {
		if l == a {
			return true
		}
	}
	return e.host.IsLocal(a)
}

// family is the packet's address family in the IP hooks; FamilyUnspec for
// packets of other protocols.
func (w *Worker) family() catalog.Family {
	switch w.view.EtherType {
	case packet.TypeIPv4:
		return catalog.FamilyIP
	case packet.TypeIPv6:
		return catalog.FamilyIP6
	case packet.TypeARP:
		return catalog.FamilyARP
	}
	return catalog.FamilyUnspec
}
