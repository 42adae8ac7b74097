package engine

import (
	"sync"

	"verdict/conntrack"
)

// Workers evaluate packets on several processors, each packet of a flow on the
// same one, where outcomes cannot depend on the order of packets of different
// flows; else one of them evaluates all packets in order, and Ordered says why.
// Verdicts, counters, sets and changed packets are those of one worker. (Only
// if more connections live at once than the table holds, it may be others that
// make room: which ones depends on a secret of each kernel, too.)
//
// Each worker counts hits and counters of rules, and follows the connections of
// its flows, apart; Collect puts everything together. It belongs to one
// goroutine.
type Workers struct {
	engine  *Engine
	list    []*Worker
	rules   *rules // that reasons are about
	reasons []Reason
	order   order
	split   bool // the workers follow connections of their own
	// anyOrder says that nothing that packets leave behind matters to others.
	anyOrder bool
	dealing  dealing
	busy     sync.WaitGroup
	named    int   // interfaces of the host that the engine met
	began    int64 // serial of the first packet
	odd      int64 // packets so far that had none beside them
}

// oddShare is how many packets there must be for each that has none beside it,
// for several workers to be of use.
const oddShare = 64

// order is when each packet of a batch comes.
type order struct {
	times []int64 // packet time, which never runs backwards
	first int64   // serial of the first packet
}

// Reason is why packets are evaluated in order by one worker.
type Reason struct {
	What string // in words
	// Rule is the number of the first rule that it is about, in the program or,
	// if Tables, in the tables of iptables; without meaning if Host.
	Rule   uint32
	Tables bool
	Host   bool // no rule is the reason
}

// maxWorkers is how many workers there are at most.
const maxWorkers = 256

// Workers makes n workers, this one among them, which goes on as it was after
// Collect. It is for packets that are not traced.
func (w *Worker) Workers(n int) *Workers {
	if w.engine.options.TC != nil {
		n = 1 // traffic control sees one packet after the other
	}
	n = min(max(n, 1), maxWorkers)
	x := &Workers{engine: w.engine, list: []*Worker{w}}
	w.emitted.begin()
	x.began = w.serial
	for range n - 1 {
		x.list = append(x.list, w.beside())
	}
	x.decide()
	return x
}

// beside makes a worker that may run at the same time as this one.
func (w *Worker) beside() *Worker {
	b := w.engine.Worker()
	b.conns = conntrack.NewTable(w.engine.options.Conntrack)
	b.conns.RoomForLabels(b.program.NeedsCTLabels)
	b.machine.Conns = b.conns
	b.machine.CountApart()
	b.emitted.seed, b.emitted.ready = w.emitted.seed, true
	return b
}

// Count is how many workers the next packets have: 1 where order matters.
func (x *Workers) Count() int {
	if len(x.reasons) > 0 {
		return 1
	}
	return len(x.list)
}

// Ordered tells why one worker evaluates all packets in order; none if it does
// not. It may change with the ruleset, with packets whose connection cannot be
// told ahead, such as many fragments, and when there could be more connections
// than the table holds.
func (x *Workers) Ordered() []Reason { return x.reasons }

// Worker is the first worker, which has everything after Collect.
func (x *Workers) Worker() *Worker { return x.list[0] }

// decide finds out whether packets may be evaluated side by side.
func (x *Workers) decide() {
	e := x.engine
	x.rules = e.present.Load()
	x.reasons = nil
	host := func(what string) { x.reasons = append(x.reasons, Reason{What: what, Host: true}) }
	if e.options.Replies {
		host("the host answers")
	}
	for _, o := range x.rules.program.Ordered() {
		x.reasons = append(x.reasons, Reason{What: o.What, Rule: o.Rule})
	}
	if t := e.options.Tables; t != nil {
		for _, o := range t.Ordered() {
			x.reasons = append(x.reasons, Reason{What: o.What, Rule: o.Rule, Tables: true})
		}
	}
	hooks := x.rules.hooks
	x.split = hooks.tracks[0] || hooks.tracks[1]
	x.anyOrder = !x.split && e.only != WholeWay
	if x.rules.program.NeedsCTBridge {
		host("bridges track connections")
	}
	if x.split && e.conns.Len() > 0 {
		host("there are connections already")
	}
}

// EvaluateBatch runs packets, with the outcomes that Worker.EvaluateBatch would
// have: out has at least as many elements as in. Changed packets stay valid
// until the next batch. Some thousand packets are a good size.
func (x *Workers) EvaluateBatch(in []Input, out []Outcome) {
	if x.engine.present.Load() != x.rules {
		x.Collect()
		for _, w := range x.list {
			w.follow(x.engine.present.Load())
		}
		x.decide()
	}
	for _, w := range x.list {
		w.changed = w.changed[:0]
	}
	for len(in) > 0 {
		if len(x.list) == 1 || len(x.reasons) > 0 {
			x.inOrder(in, out)
			return
		}
		n := x.aside(in, out)
		in, out = in[n:], out[n:]
	}
}

// inOrder evaluates packets with one worker.
func (x *Workers) inOrder(in []Input, out []Outcome) {
	for len(in) > 0 {
		n := min(len(in), batchSize)
		x.list[0].block(in, out, all[:n], nil)
		in, out = in[n:], out[n:]
	}
}

// aside evaluates as many packets as may be evaluated side by side, and returns
// how many.
func (x *Workers) aside(in []Input, out []Outcome) int {
	n, list := x.deal(in)
	if x.split && x.room() < n {
		x.inOrderFromNow("so many connections may fill the table")
		return 0
	}
	x.order = order{x.dealing.times, x.list[0].serial}
	at := 0
	for _, odd := range list {
		if odd.at >= n {
			break
		}
		x.evaluate(in, out, at, odd.at)
		at = odd.at
		if x.odd++; odd.how == flowHidden || x.odd*oddShare > x.order.first+int64(at)-x.began+oddShare*oddShare {
			x.inOrderFromNow("fragments and other packets whose connection only what came before tells")
			return at
		}
		x.evaluate(in, out, at, at+1)
		at++
	}
	x.evaluate(in, out, at, n)
	return n
}

// evaluate runs packets that were dealt out, those from one on up to another.
func (x *Workers) evaluate(in []Input, out []Outcome, from, to int) {
	switch to - from {
	case 0:
		return
	case 1:
		i := x.dealing.to[from]
		x.part(x.list[i], i, in, out, from, to)
	default:
		x.pin(true)
		for i := 1; i < len(x.list); i++ {
			x.busy.Go(func() { x.part(x.list[i], uint8(i), in, out, from, to) })
		}
		x.part(x.list[0], 0, in, out, from, to)
		x.busy.Wait()
		x.pin(false)
	}
	for _, w := range x.list {
		w.now, w.serial = x.order.times[to-1], x.order.first+int64(to)
	}
}

// pin makes all workers stay with the rules of the batch, even if others come.
func (x *Workers) pin(on bool) {
	for _, w := range x.list {
		w.pinned = on
	}
}

// part evaluates the packets of one worker.
func (x *Workers) part(w *Worker, number uint8, in []Input, out []Outcome, from, to int) {
	if x.anyOrder { // its share is in one piece
		n, k := len(x.dealing.to), len(x.list)
		from, to = max(from, (int(number)*n+k-1)/k), min(to, ((int(number)+1)*n+k-1)/k)
	}
	var picks [batchSize]uint32
	n := 0
	for i := from; i < to; i++ {
		picks[n] = uint32(i)
		if x.dealing.to[i] == number {
			n++
		}
		if n == batchSize {
			w.block(in, out, picks[:], &x.order)
			n = 0
		}
	}
	w.block(in, out, picks[:n], &x.order)
}

// room is how many connections may still come before a table with all of them
// could be full.
func (x *Workers) room() int {
	total := 0
	for _, w := range x.list {
		total += int(w.conns.Stats().New)
	}
	return x.engine.conns.MaxEntries() - total
}

// inOrderFromNow goes on with one worker.
func (x *Workers) inOrderFromNow(why string) {
	x.Collect()
	x.reasons = append(x.reasons, Reason{What: why, Host: true})
}

// Collect puts together what the workers hold apart: hits, counters of rules,
// connections. All of it is in the first worker and its engine then. Evaluation
// may go on, by one worker alone where there are connections. Cost: a visit to
// every rule, and to every connection of the other workers.
func (x *Workers) Collect() {
	first := x.list[0]
	for _, w := range x.list[1:] {
		w.machine.Collect()
		first.machine.TakeHits(w.machine)
		if w.tables != nil {
			first.Tables().TakeCounters(w.tables)
		}
		w.ct.Reset()
		first.conns.Absorb(w.conns)
		first.emitted.merge(&w.emitted)
	}
	for _, w := range x.list[1:] {
		w.emitted = first.emitted
	}
	if len(x.list) > 1 && x.split && len(x.reasons) == 0 && first.conns.Len() > 0 {
		x.reasons = append(x.reasons, Reason{What: "there are connections already", Host: true})
	}
}
