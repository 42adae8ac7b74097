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
	flows   flows
	busy    sync.WaitGroup
}

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

// Workers makes n workers, this one among them, which goes on as it was after
// Collect. It is for packets that are not traced.
func (w *Worker) Workers(n int) *Workers {
	x := &Workers{engine: w.engine, list: []*Worker{w}}
	w.emitted.begin()
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
// not. It may change with the ruleset, and with packets whose flow cannot be
// told: fragments, and connections that could fill the table.
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
	if len(x.list) > 1 && len(x.reasons) == 0 {
		x.arrange(in)
	}
	for len(in) > 0 {
		if len(x.list) == 1 || len(x.reasons) > 0 {
			x.inOrder(in, out)
			return
		}
		n := x.aside(in, out)
		in, out = in[n:], out[n:]
		x.order.times = x.order.times[n:]
		x.order.first += int64(n)
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

// arrange finds when each packet comes.
func (x *Workers) arrange(in []Input) {
	w := x.list[0]
	now := w.now
	x.order.times = x.flows.times[:0]
	for i := range in {
		now = max(now, in[i].Time)
		x.order.times = append(x.order.times, now)
	}
	x.flows.times = x.order.times
	x.order.first = w.serial
}

// aside evaluates as many packets as may be evaluated side by side, and returns
// how many.
func (x *Workers) aside(in []Input, out []Outcome) int {
	n := x.namesKnown(in)
	if n == 0 { // the first packet makes up an interface
		n = 1
	}
	if x.split && x.room() < n {
		x.inOrderFromNow("so many connections may fill the table")
		return 0
	}
	x.sort(in[:n])
	if x.split && x.flows.odd < n {
		if n = x.flows.odd; n == 0 {
			x.inOrderFromNow("packets whose connection only order tells: fragments and the like")
			return 0
		}
		x.sort(in[:n])
	}
	if n == 1 {
		for i, w := range x.list {
			x.part(w, x.flows.picks[i], in, out)
		}
	} else {
		x.pin(true)
		for i, w := range x.list[1:] {
			x.busy.Go(func() { x.part(w, x.flows.picks[i+1], in, out) })
		}
		x.part(x.list[0], x.flows.picks[0], in, out)
		x.busy.Wait()
		x.pin(false)
	}
	for _, w := range x.list {
		w.now, w.serial = x.order.times[n-1], x.order.first+int64(n)
	}
	return n
}

// pin makes all workers stay with the rules of the batch, even if others come.
func (x *Workers) pin(on bool) {
	for _, w := range x.list {
		w.pinned = on
	}
}

// part evaluates the packets of one worker.
func (x *Workers) part(w *Worker, picks []uint32, in []Input, out []Outcome) {
	for len(picks) > 0 {
		n := min(len(picks), batchSize)
		w.block(in, out, picks[:n], &x.order)
		picks = picks[n:]
	}
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

// namesKnown counts the packets before the first one that may make up an
// interface: what is known of interfaces decides about packets, in order.
func (x *Workers) namesKnown(in []Input) int {
	e := x.engine
	for _, i := range e.host.Interfaces() {
		e.device(i.Name)
	}
	known := func(name string) bool {
		_, ok := e.devices[name]
		return ok
	}
	fallback := known(e.options.Interface)
	lastIn, lastOut := "", ""
	for i := range in {
		p := &in[i]
		if p.In != lastIn && p.In != "" {
			if !known(p.In) {
				return i
			}
			lastIn = p.In
		}
		if p.Out != lastOut && p.Out != "" {
			if !known(p.Out) {
				return i
			}
			lastOut = p.Out
		}
		if p.In == "" && !fallback && !(p.Out != "" && p.leaves() && p.Hook == WholeWay && e.only == WholeWay) {
			return i
		}
	}
	return len(in)
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
