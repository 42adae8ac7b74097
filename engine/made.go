package engine

import (
	"verdict/conntrack"
	"verdict/engine/vm"
	"verdict/nft/expr"
	"verdict/packet"
	"verdict/packet/rewrite"
	"verdict/trace"
)

// MadeKind says why the host made a packet.
type MadeKind uint8

// The kinds.
const (
	// MadeReject answers a packet that a reject statement refused.
	MadeReject MadeKind = iota
	// MadeError is an ICMP or ICMPv6 error of the host itself.
	MadeError
	// MadeReply answers a query: echo, timestamp, ARP.
	MadeReply
	// MadeReset refuses a segment to a closed TCP port.
	MadeReset
	// MadeClone is what dup, or a bridge that floods, made of a packet.
	MadeClone
	// MadeForward is a packet that fwd sent out by another device.
	MadeForward
	// MadeFragment is a piece of a packet that left in pieces.
	MadeFragment
	// MadeLooped is what the host sent to itself, being received.
	MadeLooped
	madeKinds
)

var madeNames = [madeKinds]string{"reject", "error", "reply", "reset", "clone", "forward", "fragment", "looped"}

func (k MadeKind) String() string {
	if k < madeKinds {
		return madeNames[k]
	}
	return "invalid"
}

// MadeKinds lists all of them.
func MadeKinds() []MadeKind {
	return []MadeKind{MadeReject, MadeError, MadeReply, MadeReset, MadeClone, MadeForward, MadeFragment, MadeLooped}
}

// MadePacket is a packet that the host made because of the one evaluated, and
// what became of it.
type MadePacket struct {
	Kind   MadeKind
	Fate   Fate
	Reason string // as Outcome.Reason
	// Device is the interface by which it leaves, empty where it stays.
	Device string
	// Data is the packet as the host left it, with an Ethernet header that is
	// zero where it never reached a device.
	Data []byte
}

// SentFrame is a frame that left the host.
type SentFrame struct {
	Device string
	Data   []byte // complete, from the link header on
	// Made says that it is not the packet evaluated itself; Kind then tells
	// what it is.
	Made bool
	Kind MadeKind
}

// looped is a packet on the loopback device's way back into the host.
type looped struct {
	frame []byte
	ct    conntrack.Attachment
	meta  packet.Meta
	way   way // as the sending half knows the destination
}

// journey is what the packets of one evaluation share.
type journey struct {
	sink    trace.Sink
	buffers int // socket buffers so far
	made    []MadePacket
	sent    []SentFrame
	waiting []looped
	// icmpBusy and icmp6Busy say that an ICMP message is being sent.
	icmpBusy, icmp6Busy bool
	duplicating         int // clones to devices that are under way, one in the other
	// cloning says that a dup statement's clone is under way: those of its
	// rules do not clone again.
	cloning bool
}

// maxNested bounds how many packets may be made while another is under way:
// the kernel's limit on nested transmissions.
// Ref: include/linux/netdevice.h, XMIT_RECURSION_LIMIT.
const maxNested = 8

// numbered tells the events of one socket buffer from those of others.
type numbered struct {
	sink   trace.Sink
	buffer int
}

// Event passes an event on.
func (n *numbered) Event(e *trace.Event) {
	e.Buffer = n.buffer
	n.sink.Event(e)
}

// newBuffer begins the way of another socket buffer, as far as traces tell.
func (w *Worker) newBuffer() {
	if w.sink == nil {
		return
	}
	w.journey.buffers++
	w.numbered = numbered{w.journey.sink, w.journey.buffers}
	w.sink = &w.numbered
	w.sink.Event(&trace.Event{Kind: trace.NewBuffer})
}

// fork gives the worker for a packet that the host makes now, nil where too
// many are under way. Its frame starts with a link header.
func (w *Worker) fork(frame []byte, ct conntrack.Attachment) *Worker {
	if w.depth == maxNested {
		ct.Reset()
		return nil
	}
	c := w.nested
	if c == nil {
		c = &Worker{engine: w.engine, conns: w.conns, journey: w.journey, depth: w.depth + 1, in: &Input{}}
		if t := w.Tables(); t != nil {
			c.tables = t.Fork()
		}
		w.nested = c
	}
	if c.rules != w.rules {
		c.rules, c.program, c.hooks, c.machine = w.rules, w.program, w.hooks, w.machine.Fork()
		c.connect()
	}
	c.firstSent = len(w.journey.sent)
	c.reply = Outcome{Hooks: c.reply.Hooks[:0]}
	c.out = &c.reply
	c.buffer = rewrite.Buffer{}
	c.ct.Reset()
	c.ct = ct
	c.meta.Reset()
	c.cameBy = packet.Device{}
	c.reassembly, c.verified, c.rerouted, c.boundTo = nil, false, false, 0
	c.optionsRead, c.hopRead, c.onDevice = false, false, false
	c.recordAt, c.stampAt, c.optionsWritten = 0, 0, false
	c.machine.Effects.Reset()
	c.view.Decode(packet.LinkEthernet, frame, len(frame))
	c.now, c.machine.Now, c.meta.Time = w.now, w.now, w.now
	c.sink = nil
	if w.sink != nil {
		c.sink = w.sink
		c.newBuffer()
	}
	return c
}

// finish notes what became of a made packet.
func (w *Worker) finish(c *Worker, kind MadeKind) {
	if c.out.Fate == Accepted && c.out.Reason == "" && kind == MadeLooped {
		c.out.Decided = false
	}
	w.journey.made = append(w.journey.made, MadePacket{
		Kind: kind, Fate: c.out.Fate, Reason: c.out.Reason, Device: c.meta.OIF.Name.String(), Data: append([]byte(nil), c.view.Data...),
	})
	for i := range w.journey.sent[c.firstSent:] {
		if s := &w.journey.sent[c.firstSent+i]; s.Made && s.Kind == madeKinds {
			s.Kind = kind
		}
	}
	c.ct.Reset()
}

// act carries out at once what a rule asks for in the middle of a chain:
// translations are set up, answers and clones pass their hooks before the rule's next expression.
func (w *Worker) act(e *vm.Effect) {
	switch e.Expr.(type) {
	case *expr.NAT, *expr.Masq, *expr.Redir:
		e.Refused = !w.setupNAT(e)
		return
	}
	if w.engine.options.Replies {
		w.actOn(e)
	}
}

// receiveLooped receives what the host sent to itself.
func (w *Worker) receiveLooped() {
	for n := 0; len(w.journey.waiting) > 0 && n < maxLooped; n++ {
		next := w.journey.waiting[0]
		w.journey.waiting = w.journey.waiting[1:]
		c := w.fork(next.frame, next.ct)
		if c == nil {
			return
		}
		c.meta.Mark, c.meta.Priority = next.meta.Mark, next.meta.Priority
		c.meta.IIF, c.meta.OIF = next.meta.OIF, packet.Device{}
		c.meta.PktType = packet.PktHost
		c.way = way{kind: wayDeliver, route: next.way.route}
		c.deliverLooped()
		w.finish(c, MadeLooped)
	}
	w.journey.waiting = w.journey.waiting[:0]
}

// maxLooped bounds a conversation of the host with itself.
const maxLooped = 64
