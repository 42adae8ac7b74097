package verdict

import (
	"net/netip"
	"time"

	"verdict/capture"
	"verdict/conntrack"
	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/packet"
	"verdict/packet/build"
	"verdict/tc"
	"verdict/trace"
)

// EngineOptions say how an Engine runs packets. The zero value takes packets
// through the hooks as a host would.
type EngineOptions struct {
	// Hook sends every packet through one hook alone: "ingress", "prerouting",
	// "input", "forward", "output", "postrouting" or "egress".
	Hook string
	// Local are addresses of the host, besides those of its interfaces.
	Local []netip.Addr
	// Interface is the interface of packets that name none.
	Interface string
	// Seed decides what random expressions draw.
	Seed uint64
	// KnownRoutes says that the host's routes are complete: packets without
	// route are lost.
	KnownRoutes bool
	// Executor says how chains run: by default those are compiled for which it
	// pays. What packets meet and leave behind is the same.
	Executor chain.Mode
	// Replies makes the host answer, clone and fragment as a Linux host would
	// with these interfaces, routes and neighbours, and no socket open; Outcome
	// tells of it. It implies KnownRoutes.
	Replies bool
	// Forwarded makes Outcome.Data the packet as it leaves, its time to live
	// counted down where it is forwarded; without it that is left out unless
	// rules look at it.
	Forwarded bool
	// Before71 follows Linux as it was before 7.1, where connection tracking and
	// loads from fragments differ.
	Before71 bool
	// Accounting counts packets and bytes per connection, as with
	// nf_conntrack_acct.
	Accounting bool
	// TC is the host's traffic control, which packets pass ahead of the rules
	// and behind them. An engine takes it over: nobody else may use it
	// meanwhile.
	TC *tc.System
}

// Engine evaluates packets against a ruleset. It keeps connections, counters
// and limits from packet to packet and is used by one goroutine at a time.
type Engine struct {
	rules  *Ruleset
	engine *engine.Engine
	worker *engine.Worker
	now    int64
}

// NewEngine makes an engine that runs the ruleset. Counters, limits and
// connections are the engine's own. Sets that packets change (flag dynamic)
// belong to the ruleset: for engines that must not see each other's elements,
// load it once for each. The error is an *engine.HookError where Hook names no
// hook, else that of linking the rules. Cost: linear in the rules.
func (r *Ruleset) NewEngine(o EngineOptions) (*Engine, error) {
	e, err := engine.New(r.rules, r.host, engine.Options{
		Hook: o.Hook, Local: o.Local, Interface: o.Interface, Seed: o.Seed, Zone: r.zone,
		KnownRoutes: o.KnownRoutes, Replies: o.Replies, Forwarded: o.Forwarded, Tables: r.tables, Executor: o.Executor, TC: o.TC,
		Conntrack: conntrack.Config{Accounting: o.Accounting, Before71: o.Before71, Seed: o.Seed},
	})
	if err != nil {
		return nil, err
	}
	return &Engine{rules: r, engine: e, worker: e.Worker()}, nil
}

// Evaluate runs one packet, written as text in nft's own field names:
//
//	iifname eth0 ip saddr 10.0.0.1 ip daddr 10.0.0.2 tcp dport 22
//	hook input tcp dport 22
//
// Fields that are not given have sensible defaults, see packet/build. With a
// hook the packet goes through that hook alone, else the way of a host: to
// input if its destination is one of the host's addresses, to forward if not.
// It comes one millisecond after the one before, unless it says meta time. The
// error is a *build.Error with the place of the mistake in the text.
func (e *Engine) Evaluate(text string) (Outcome, error) {
	p, err := build.Parse(text)
	if err != nil {
		return Outcome{}, err
	}
	return e.EvaluatePacket(p), nil
}

// Update goes on with a later state of the ruleset, such as LoadSources makes
// with LoadOptions.Base: from the next packet on it is the one that counts.
// Connections, counters and limits of rules that stay go on. Adding a rule to a
// long chain takes well under a millisecond.
func (e *Engine) Update(r *Ruleset) error {
	if err := e.engine.Update(r.rules); err != nil {
		return err
	}
	e.rules = r
	return nil
}

// Advance lets time pass before the next packet: limits refill, elements and
// connections expire.
func (e *Engine) Advance(d time.Duration) { e.now += int64(d) }

// EvaluatePacket runs a packet that was built from text, as Evaluate does.
func (e *Engine) EvaluatePacket(p *build.Packet) Outcome {
	in := PacketInput(p)
	e.now = max(e.now, e.worker.Now()) + int64(time.Millisecond)
	if p.Meta.Time != 0 {
		e.now = p.Meta.Time
	}
	in.Time = e.now
	return e.EvaluateInput(&in)
}

// EvaluateInput runs one frame with what is known about it, at its own time. The
// bytes are read during the call only. The outcome's Data, where a rule changed
// the packet, is valid until the next packet. Cost: see engine.Worker.Evaluate.
func (e *Engine) EvaluateInput(in *engine.Input) Outcome {
	o := Outcome{run: e}
	e.worker.Evaluate(in, &o.Outcome)
	return o
}

// Trace sends the steps of the following packets to a sink; nil switches it
// off.
func (e *Engine) Trace(sink trace.Sink) { e.worker.Trace(sink) }

// Program is the linked ruleset, which renderers of traces need.
func (e *Engine) Program() *vm.Program { return e.engine.Program() }

// Engine gives access to the engine beneath: state, connections, host.
func (e *Engine) Engine() *engine.Engine { return e.engine }

// Worker gives access to the worker beneath: hit counts and effects.
func (e *Engine) Worker() *engine.Worker { return e.worker }

// Workers spreads packets over n processors, as far as their order does not
// matter; what the engine's own worker knows goes on, and comes back with
// Collect.
func (e *Engine) Workers(n int) *engine.Workers { return e.worker.Workers(n) }

// PacketInput turns a packet built from text into an input.
func PacketInput(p *build.Packet) engine.Input {
	in := engine.Input{
		Data: p.Data, OrigLen: len(p.Data), LinkType: p.Link,
		In: p.Meta.IIF.Name.String(), Out: p.Meta.OIF.Name.String(),
		Facts: &p.Meta,
	}
	if p.NoStation && p.Meta.Has&packet.HasPktType == 0 {
		meta := p.Meta
		meta.PktType = packet.PktHost
		meta.Has |= packet.HasPktType
		in.Facts = &meta
	}
	in.Hook, _ = engine.HookByName(p.Hook) // WholeWay where the text names none
	if in.In != "" && in.Out == "" {
		in.Direction = capture.Inbound
	}
	if in.Out != "" && in.In == "" {
		in.Direction = capture.Outbound
	}
	return in
}

// FrameInput turns a captured frame into an input.
func FrameInput(f *capture.Frame) engine.Input {
	in := engine.Input{
		Data: f.Data, OrigLen: f.OrigLen, LinkType: packet.LinkType(f.LinkType),
		Time: f.Time, Direction: f.Direction,
	}
	if f.Direction == capture.Outbound {
		in.Out = f.InterfaceName
	} else {
		in.In = f.InterfaceName
	}
	return in
}
