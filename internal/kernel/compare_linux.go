package kernel

import (
	"bytes"
	"fmt"
	"slices"

	"verdict"
	"verdict/capture"
	"verdict/conntrack"
	"verdict/diag"
	"verdict/engine"
	"verdict/nft/netlink"
	"verdict/nft/ruleset"
	"verdict/packet"
)

// start is the time of the first packet; spacing the time between packets.
// The kernel has its own clock: cases must not depend on either.
const (
	start   = int64(1_767_225_600_000_000_000)
	spacing = int64(100_000)
)

// loading is a case's ruleset on its way into both.
type loading struct {
	rules *ruleset.Ruleset // as we have it
	// again is the same once more: packets add elements to the sets of a
	// ruleset, and two engines must not see each other's.
	again *ruleset.Ruleset
	names map[chainKey]string
}

// Compare runs one case through the kernel and the engine.
func (l *Lab) Compare(c *Case) (*Result, error) {
	result := &Result{}
	loaded, err := l.load(c, result)
	if err != nil || loaded == nil {
		return result, err
	}
	defer l.unload(loaded)
	l.left = Frame{}
	if _, err := l.Drain(); err != nil {
		return result, err
	}
	if err := l.readBack(loaded, result); err != nil {
		return result, err
	}
	runs, err := newRuns(loaded, l)
	if err != nil {
		result.differ(-1, "engine", "takes the ruleset", err.Error())
		return result, nil
	}
	l.settleTracking(c, runs.traced.engine)
	for n := range c.Packets {
		if err := l.packet(loaded, runs, c, n, result); err != nil {
			return result, err
		}
		if result.Compared++; result.Free {
			break
		}
	}
	if result.Free { // what rules do with a port that was drawn is not known
		return result, nil
	}
	if err := l.state(runs, result); err != nil {
		return result, err
	}
	return result, l.connections(runs, result)
}

// compiled is a ruleset's only batch with what it changes.
type compiled struct {
	base  *ruleset.Ruleset
	batch []ruleset.Change
}

// compile compiles the case's ruleset. Rules that contradict themselves, or
// that the language has no form for, are taken out of the case.
func (l *Lab) compile(c *Case) (*compiled, error) {
	for {
		var got []compiled
		_, found := verdict.LoadSources(verdict.LoadOptions{
			Base: l.base, Host: l.Host, Strict: true, Now: start, MaxErrors: 1000,
			Batch: func(base *ruleset.Ruleset, batch []ruleset.Change) { got = append(got, compiled{base, batch}) },
		}, diag.NewSource("case", []byte(c.Ruleset)))
		if len(got) == 1 {
			return &got[0], nil
		}
		if !c.dropRules(found) {
			return nil, fmt.Errorf("case %d is no ruleset: %w", c.Seed, found.Err())
		}
	}
}

// load compiles the ruleset and applies it here and in the kernel. nil without
// error: both refused it, or they differ.
func (l *Lab) load(c *Case, result *Result) (*loading, error) {
	made, err := l.compile(c)
	if err != nil {
		return nil, err
	}
	rules, errs := ruleset.Apply(made.base, made.batch, ruleset.Options{Now: start})
	again, _ := ruleset.Apply(made.base, made.batch, ruleset.Options{Now: start})
	refused, err := l.Load(made.batch, made.base)
	if err != nil {
		return nil, err
	}
	if len(errs) > 0 || len(refused) > 0 {
		return nil, l.refusals(errs, refused, rules, result)
	}
	result.rules = rules
	return &loading{rules: rules, again: again, names: map[chainKey]string{}}, nil
}

// refusals compares what the two refused.
func (l *Lab) refusals(errs []*ruleset.ChangeError, refused []Refusal, rules *ruleset.Ruleset, result *Result) error {
	var here, there []string
	for _, e := range errs {
		here = append(here, fmt.Sprintf("change %d: %s", e.Index, e.Errno))
	}
	for _, r := range refused {
		there = append(there, fmt.Sprintf("change %d: %s", r.Change, r.Errno))
	}
	if slices.Equal(here, there) {
		result.Refused = true
	} else {
		result.differ(-1, "load", fmt.Sprint(there), fmt.Sprint(here))
	}
	if len(refused) > 0 {
		return nil
	}
	return l.unload(&loading{rules: rules})
}

// unload deletes the case's tables and forgets connections.
func (l *Lab) unload(loaded *loading) error {
	var batch []ruleset.Change
	for _, t := range withoutTracer(loaded.rules.Tables) {
		batch = append(batch, ruleset.Change{Op: ruleset.OpDelete, Kind: ruleset.KindTable, Family: t.Family, Table: t.Name})
	}
	refused, err := l.Load(batch, nil)
	if err == nil && len(refused) > 0 {
		err = fmt.Errorf("delete tables: %w", refused[0].Errno)
	}
	if err != nil {
		return err
	}
	return l.control.flushConnections()
}

// readBack compares the kernel's ruleset with ours.
func (l *Lab) readBack(loaded *loading, result *Result) error {
	dump, err := l.ReadBack(start)
	if err != nil {
		return err
	}
	for _, u := range dump.Unknown {
		result.differ(-1, "read back", u.String(), "not known")
	}
	own := &ruleset.Ruleset{Tables: withoutTracer(loaded.rules.Tables)}
	for i, t := range dump.Rules.Tables {
		if i >= len(own.Tables) {
			break
		}
		t.Handle = own.Tables[i].Handle // counted since the namespace began
		for _, c := range t.Chains {
			name := c.Name
			if own := own.Tables[i].ChainByHandle(c.Handle); own != nil {
				name = own.Name
			}
			loaded.names[chainKey{t.Family, t.Name, c.Name}] = name
		}
	}
	renameChains(dump.Rules, loaded.names)
	if d := netlink.Difference(asKernel(own), dump.Rules, start); d != "" {
		result.differ(-1, "read back", d, "")
	}
	return nil
}

// runs are the ways in which the engine evaluates: step by step with a trace,
// and with the compiled chains.
type runs struct {
	traced, fast *run
}

// drew tells whether the engine ever drew a port at random.
func (r *runs) drew() bool { return r.traced.engine.Connections().Stats().Drawn > 0 }

type run struct {
	rules  *ruleset.Ruleset
	engine *engine.Engine
	worker *engine.Worker
	out    engine.Outcome
	walk   walk
}

func newRuns(loaded *loading, l *Lab) (*runs, error) {
	var pair [2]*run
	for i, rules := range []*ruleset.Ruleset{loaded.rules, loaded.again} {
		e, err := engine.New(rules, l.Host, engine.Options{
			Replies:   true,
			Conntrack: conntrack.Config{Accounting: true, Before71: true},
		})
		if err != nil {
			return nil, err
		}
		pair[i] = &run{rules: rules, engine: e, worker: e.Worker()}
		pair[i].walk.program = e.Program()
	}
	pair[0].worker.Trace(&pair[0].walk)
	return &runs{pair[0], pair[1]}, nil
}

// packet runs one packet through all and compares.
func (l *Lab) packet(loaded *loading, runs *runs, c *Case, n int, result *Result) error {
	p := l.injection(&c.Packets[n])
	result.injected = append(result.injected, p)
	if err := l.Inject(&Frame{p.Interface, p.Data}); err != nil {
		return fmt.Errorf("packet %d: %w", n, err)
	}
	events, err := l.tracer.drain(nil)
	if err != nil {
		return fmt.Errorf("packet %d: trace: %w", n, err)
	}
	frames, err := l.Drain()
	if err != nil {
		return err
	}
	result.Left = append(result.Left, frames)
	if len(frames) > 0 {
		l.left = frames[len(frames)-1]
	}
	in := engine.Input{Data: p.Data, OrigLen: len(p.Data), LinkType: packet.LinkEthernet, In: p.Interface, Direction: capture.Inbound, Time: start + int64(n)*spacing}
	runs.traced.walk.steps = runs.traced.walk.steps[:0]
	runs.traced.worker.Evaluate(&in, &runs.traced.out)
	runs.fast.worker.Evaluate(&in, &runs.fast.out)
	if runs.drew() {
		result.Free = true
		result.chosen(&runs.traced.out, frames, &p, c.Ruleset, n)
		return nil
	}
	steps := loaded.steps(events)
	if !slices.Equal(steps, runs.traced.walk.steps) && !untraceable(p.Data, events) {
		result.differ(n, "trace", stepsText(steps), stepsText(runs.traced.walk.steps))
	}
	if a, b := &runs.traced.out, &runs.fast.out; !sameOutcome(a, b) {
		result.differ(n, "compiled chains", outcomeText(a), outcomeText(b))
	}
	result.leaving(&runs.traced.out, frames, n)
	return nil
}

// injection is a case's packet, or where it asks for one the answer to the
// frame that left last.
func (l *Lab) injection(p *Injection) Injection {
	if p.Answers && l.left.Data != nil {
		return reply(Injection{Interface: l.left.Interface, Data: l.left.Data})
	}
	return *p
}

// untraceable packets have extension headers that are longer than the packet:
// the kernel evaluates rules on them, but fails to build the trace events,
// which quote the transport header. Their effect shows in the counters.
// Ref: nf_tables_trace.c, nf_trace_fill_pkt_info.
func untraceable(data []byte, events []netlink.Trace) bool {
	if len(events) > 0 {
		return false
	}
	var v packet.View
	v.Decode(packet.LinkEthernet, data, len(data))
	return v.EtherType == packet.TypeIPv6 && v.ThOff > len(data)
}

// steps turns the kernel's events into steps.
func (l *loading) steps(events []netlink.Trace) []Step {
	var list []Step
	for i := range events {
		e := &events[i]
		s := Step{Family: e.Family, Table: e.Table, Verdict: e.Verdict}
		s.Chain, s.Target = l.chain(e, e.Chain), l.chain(e, e.Target)
		if e.Kind == netlink.TraceRule {
			s.Handle = e.Handle
		}
		list = append(list, s)
	}
	return list
}

func (l *loading) chain(e *netlink.Trace, name string) string {
	if own, ok := l.names[chainKey{e.Family, e.Table, name}]; ok {
		return own
	}
	return name
}

// sameOutcome tells whether the two ways of the engine agree.
func sameOutcome(a, b *engine.Outcome) bool {
	return a.Fate == b.Fate && slices.Equal(a.Hooks, b.Hooks) && bytes.Equal(a.Data, b.Data) &&
		slices.EqualFunc(a.Sent, b.Sent, func(a, b engine.SentFrame) bool {
			return a.Device == b.Device && a.Made == b.Made && a.Kind == b.Kind && bytes.Equal(a.Data, b.Data)
		})
}

func outcomeText(o *engine.Outcome) string {
	text := fmt.Sprintf("%s %v %x", o.Fate, o.Hooks, o.Data)
	for i := range o.Sent {
		text += fmt.Sprintf(" %s %x", o.Sent[i].Device, o.Sent[i].Data)
	}
	return text
}
