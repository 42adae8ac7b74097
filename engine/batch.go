package engine

import (
	"verdict/catalog"
	"verdict/engine/chain"
	"verdict/packet"
)

// batchSize is how many packets are looked ahead at a time.
const batchSize = 64

// EvaluateBatch runs packets in order, with the outcomes of so many calls of
// Evaluate: out has at least as many elements as in. Where the packets meet a
// large table of rules, their first look-ups are done together, which hides
// the time that memory takes. Changed packets stay valid until the next batch.
// 32 to 256 packets are a good size.
func (w *Worker) EvaluateBatch(in []Input, out []Outcome) {
	w.changed = w.changed[:0]
	for len(in) > 0 {
		n := min(len(in), batchSize)
		w.block(in, out, all[:n], nil)
		in, out = in[n:], out[n:]
	}
}

// all picks every packet of a block.
var all = func() (list [batchSize]uint32) {
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}()

// block evaluates some packets, at most batchSize. Where others run beside this
// worker, order says when each comes.
func (w *Worker) block(in []Input, out []Outcome, picks []uint32, order *order) {
	if now := w.engine.present.Load(); now != w.rules && !w.pinned {
		w.follow(now)
	}
	ahead := w.selectors.Last()
	if ahead != nil && w.sink == nil {
		w.foresee(ahead, in, picks)
	} else {
		ahead = nil
	}
	for k, i := range picks {
		if ahead != nil {
			ahead.Expect(k)
		}
		if order != nil {
			w.now, w.serial = order.times[i], order.first+int64(i)
		}
		w.Evaluate(&in[i], &out[i])
		w.keep(&out[i])
	}
	if ahead != nil {
		ahead.Expect(-1)
	}
}

// keep copies a changed packet out of the buffer that the next one uses.
func (w *Worker) keep(out *Outcome) {
	if !out.Changed {
		return
	}
	start := len(w.changed)
	w.changed = append(w.changed, out.Data...)
	out.Data = w.changed[start:len(w.changed):len(w.changed)]
}

// foresee reads what a table of rules looks at from packets that are yet to
// come. What it cannot know then, such as a connection, makes the look-up
// useless but never wrong: it counts only for the same fields.
func (w *Worker) foresee(s *chain.Selector, in []Input, picks []uint32) {
	now := w.now // does not pass yet
	for k, i := range picks {
		w.start(&in[i], &w.ahead)
		w.foreseeDevice()
		w.pkt.Family = w.family()
		if w.pkt.Family == catalog.FamilyUnspec {
			w.pkt.Family = catalog.FamilyIP
		}
		w.pkt.Length = w.view.NetLen
		if w.meta.PktType == packet.PktUnicast {
			w.meta.PktType = packet.PktHost
		}
		w.machine.Attach(&w.pkt)
		s.Foresee(w.machine, k)
	}
	w.now = now
	s.Resolve(len(picks))
}

// foreseeDevice sets the interface that a packet arrives by, unless that would
// make one up: the packet may turn out to need none.
func (w *Worker) foreseeDevice() {
	name := w.in.In
	if name == "" {
		name = w.engine.options.Interface
	}
	if d, ok := w.engine.knownDevice(name); ok {
		w.arrive(d)
	}
}
