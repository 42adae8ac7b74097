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
		if now := w.engine.present.Load(); now != w.rules {
			w.follow(now)
		}
		n := min(len(in), batchSize)
		ahead := w.selectors.Last()
		if ahead != nil && w.sink == nil {
			w.foresee(ahead, in[:n])
		} else {
			ahead = nil
		}
		for i := range n {
			if ahead != nil {
				ahead.Expect(i)
			}
			w.Evaluate(&in[i], &out[i])
			w.keep(&out[i])
		}
		if ahead != nil {
			ahead.Expect(-1)
		}
		in, out = in[n:], out[n:]
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
func (w *Worker) foresee(s *chain.Selector, in []Input) {
	now := w.now // does not pass yet
	for i := range in {
		w.start(&in[i], &w.ahead)
		w.arrive(w.inputDevice())
		w.pkt.Family = w.family()
		if w.pkt.Family == catalog.FamilyUnspec {
			w.pkt.Family = catalog.FamilyIP
		}
		w.pkt.Length = w.view.NetLen
		if w.meta.PktType == packet.PktUnicast {
			w.meta.PktType = packet.PktHost
		}
		w.machine.Attach(&w.pkt)
		s.Foresee(w.machine, i)
	}
	w.now = now
	s.Resolve(len(in))
}
