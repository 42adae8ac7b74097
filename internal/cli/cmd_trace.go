package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"verdict"
	"verdict/capture"
	"verdict/diag"
	"verdict/engine"
	"verdict/packet/build"
	"verdict/trace"
	"verdict/trace/render"
)

func newTrace(s *Streams) *cobra.Command {
	c := &traceCommand{s: s}
	cmd := &cobra.Command{
		Use:   "trace RULES PACKET|CAPTURE",
		Short: "Follow one packet step by step: each rule, and why it did not match",
		Long: `Follow one packet through a ruleset and print each rule that was visited, with
its place, whether it matched, and if not, which comparison failed.

PACKET is written in nft's own field names; what is not said has a sensible
value. With --frame N it is the Nth frame (from 1) of a capture; the frames
before it run too, untraced, so that connections and limits are as they were.
Exit status: 0, or with --expect 1 if the packet's fate is another.`,
		Example: `  verdict trace firewall.nft 'iifname eth0 ip saddr 192.0.2.1 tcp dport 22'
  verdict trace --hook input firewall.nft 'ip6 saddr 2001:db8::1 icmpv6 type echo-request'
  verdict trace --frame 17 firewall.nft capture.pcap
  verdict trace --expect drop firewall.nft 'iifname eth0 tcp dport 23'
  verdict trace --tc offload.tc firewall.nft 'iifname eth0 udp dport 53'
  verdict trace -o nft firewall.nft 'udp dport 53'`,
		Args: takes("RULES", "PACKET"),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args[0], args[1]) },
	}
	c.rules.add(cmd)
	c.packets.add(cmd)
	flags := cmd.Flags()
	flags.IntVar(&c.frame, "frame", 0, "trace frame `N` of a capture, counted from 1")
	flags.StringVarP(&c.output, "output", "o", "text", "form: text, nft (as nft monitor trace) or json")
	flags.StringVar(&c.expect, "expect", "", "fail unless the packet meets this fate: accept or drop")
	return cmd
}

type traceCommand struct {
	s       *Streams
	rules   rulesFlags
	packets runFlags
	frame   int
	output  string
	expect  string
	visited *visited
}

func (c *traceCommand) run(rulesName, subject string) error {
	if err := c.check(); err != nil {
		return err
	}
	rules, err := c.rules.load(c.s, rulesName)
	if err != nil {
		return err
	}
	if err := c.packets.hostKnown(&c.rules); err != nil {
		return err
	}
	options, err := c.packets.options()
	if err != nil {
		return err
	}
	outcome, err := c.trace(rules, options, subject)
	if err != nil {
		return err
	}
	return c.verdict(outcome)
}

func (c *traceCommand) check() error {
	if c.frame < 0 {
		return failedf("--frame %d: frames count from 1", c.frame)
	}
	switch c.output {
	case "text", "nft", "json":
	default:
		return failedf("-o %s: the trace is text, nft or json", c.output)
	}
	switch c.expect {
	case "", "accept", "drop":
		return nil
	}
	return failedf("--expect %s: expect accept or drop", c.expect)
}

// trace runs the packet with a renderer attached.
func (c *traceCommand) trace(rules *verdict.Ruleset, options verdict.EngineOptions, subject string) (*verdict.Outcome, error) {
	if c.frame > 0 {
		return c.traceFrame(rules, options, subject)
	}
	p, err := build.Parse(subject)
	if err != nil {
		return nil, c.badPacket(subject, err)
	}
	if p.Hook != "" && options.Hook == "" {
		options.Hook = p.Hook
	}
	in := verdict.PacketInput(p)
	c.rules.takeTraffic(&options)
	options = c.localSide(rules, options, &in)
	e, err := rules.NewEngine(options)
	if err != nil {
		return nil, failed(err)
	}
	finish := c.attach(rules, e)
	outcome := e.EvaluateInput(&in)
	c.assume(rules, e, &options, &in, &outcome)
	return &outcome, finish(&outcome)
}

// localSide makes the packet's own end local where nothing else says where the
// host is: a packet that comes in through an interface is for the host unless
// it also says where it leaves.
func (c *traceCommand) localSide(rules *verdict.Ruleset, o verdict.EngineOptions, in *engine.Input) verdict.EngineOptions {
	if len(o.Local) > 0 || o.Hook != "" || rules.HostGiven() || (in.In != "" && in.Out != "") {
		return o
	}
	source, destination := addresses(in)
	switch {
	case in.Out != "" && source.IsValid():
		o.Local = append(o.Local, source)
	case destination.IsValid():
		o.Local = append(o.Local, destination)
		fmt.Fprintf(c.s.Err, "assumed: the packet is for the host itself (%s); give oifname for a forwarded one, or --local, --host, --hook\n", destination)
	}
	return o
}

// badPacket prints a mistake in the packet's text with a caret.
func (c *traceCommand) badPacket(text string, err error) error {
	var mistake *build.Error
	if _, statErr := os.Stat(text); statErr == nil {
		return failedf("%s is a file; to trace a frame of a capture, say which: --frame N", text)
	}
	if !errors.As(err, &mistake) {
		return failed(err)
	}
	var list diag.List
	src := diag.NewSource("packet", []byte(text))
	d := list.Errorf(diag.Span{Source: src, Start: int32(mistake.Offset), End: int32(mistake.Offset + mistake.Length)}, "packet/text", "%s", mistake.Message)
	if mistake.Suggestion != "" {
		d.Hint = "did you mean " + mistake.Suggestion + "?"
	}
	if err := (diag.Renderer{Color: c.s.color(c.s.ErrTerminal)}).Render(c.s.Err, &list); err != nil {
		return failed(err)
	}
	return &exitError{status: exitFailed}
}

// traceFrame runs a capture up to a frame and traces that one.
func (c *traceCommand) traceFrame(rules *verdict.Ruleset, options verdict.EngineOptions, name string) (*verdict.Outcome, error) {
	run := &runCommand{s: c.s, rules: c.rules, packets: c.packets}
	r, err := run.prepare(rules, []string{name})
	if err != nil {
		return nil, err
	}
	src, _, err := run.open(name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var frame capture.Frame
	var before engine.Outcome
	for n := 1; ; n++ {
		err := src.Next(&frame)
		switch {
		case errors.Is(err, io.EOF):
			return nil, failedf("%s holds %s, there is no frame %d", name, count(n-1, "frame"), c.frame)
		case err != nil:
			return nil, failed(err)
		}
		if n == c.frame {
			break
		}
		if err := r.frame(&frame, &before); err != nil {
			return nil, failed(err)
		}
	}
	for _, a := range r.assumptions {
		fmt.Fprintf(c.s.Err, "assumed: %s\n", a)
	}
	finish := c.attach(rules, r.engine)
	in := verdict.FrameInput(&frame)
	if frame.HasTime {
		in.Time = r.clock.Advance(&frame)
	}
	outcome := r.engine.EvaluateInput(&in)
	c.assume(rules, r.engine, &r.options, &in, &outcome)
	return &outcome, finish(&outcome)
}

// attach connects the renderer; the returned function ends the output.
func (c *traceCommand) attach(rules *verdict.Ruleset, e *verdict.Engine) func(*verdict.Outcome) error {
	options := rules.ListOptions()
	options.Stateless = true
	program := e.Engine().Program()
	switch c.output {
	case "nft":
		n := &render.Nft{W: c.s.plain(), Program: program, Options: options, View: e.Worker().View(), Meta: e.Worker().Meta(), ID: rand.Uint32()}
		c.follow(e, n)
		return func(*verdict.Outcome) error { return n.Err }
	case "json":
		j := &render.JSON{Program: program, Options: options}
		c.follow(e, j)
		return func(o *verdict.Outcome) error {
			d := j.Document(o.Fate.String(), o.Reason, build.Summary(e.Worker().View()))
			d.Sent = sentFrames(&o.Outcome)
			return writeJSON(c.s.Out, d)
		}
	}
	t := &render.Text{W: c.s.Out, Program: program, Options: options, Color: c.s.color(c.s.OutTerminal)}
	c.follow(e, &headed{sink: t, start: func() {
		fmt.Fprintf(c.s.Out, "%s\n", build.Summary(e.Worker().View()))
	}})
	return func(o *verdict.Outcome) error {
		c.conclusion(o)
		c.sent(&o.Outcome)
		return t.Err
	}
}

// follow attaches a renderer and remembers what it is told of.
func (c *traceCommand) follow(e *verdict.Engine, sink trace.Sink) {
	c.visited = &visited{Sink: sink, rules: map[uint32]struct{}{}}
	e.Trace(c.visited)
}

// headed prints a heading before the first event.
type headed struct {
	sink  trace.Sink
	start func()
}

// Event passes an event on.
func (h *headed) Event(e *trace.Event) {
	if h.start != nil {
		h.start()
		h.start = nil
	}
	h.sink.Event(e)
}

// conclusion prints what became of the packet and who decided.
func (c *traceCommand) conclusion(o *verdict.Outcome) {
	text := o.Fate.String()
	chain, rule := o.Rule()
	switch {
	case o.Reason != "":
		text += ": " + o.Reason
	case rule != nil && rule.Place.IsValid():
		text += fmt.Sprintf(", decided by %s:%d (%s handle %d)", rule.Place.Source.Name, rule.Place.Pos().Line, chain.Name, rule.Handle)
	case o.Decided && o.Table != nil:
		text += ", " + tableReason(o)
	case o.Decided && o.Verdict.Policy:
		text += fmt.Sprintf(", the policy of chain %s in table %s %s", o.Base.Chain.Name, o.Base.Table.Family, o.Base.Table.Name)
	case !o.Decided:
		text += ": no base chain saw it"
	}
	fmt.Fprintln(c.s.Out, diag.Printable(text))
	for _, f := range o.Sent {
		fmt.Fprintf(c.s.Out, "%s, %s, left by %s\n", f.Kind, count(len(f.Data), "byte"), diag.Printable(f.Device))
	}
	for _, m := range o.Made {
		fmt.Fprintf(c.s.Out, "%s, received: %s\n", m.Kind, diag.Printable(strings.TrimSuffix(m.Fate.String()+": "+m.Reason, ": ")))
	}
}

// verdict compares with --expect.
func (c *traceCommand) verdict(o *verdict.Outcome) error {
	if c.expect == "" || o.Fate.String() == c.expect || (c.expect == "drop" && o.Fate == engine.Lost) {
		return nil
	}
	fmt.Fprintf(c.s.Err, "expected %s, got %s\n", c.expect, o.Fate)
	return answerNo()
}

// tableReason says which rule or policy of an iptables table decided.
func tableReason(o *verdict.Outcome) string {
	chain, rule, _ := o.TableRule()
	t := o.Table.Table
	if rule == nil {
		return fmt.Sprintf("the policy of chain %s in table %s of iptables", o.Table.Chain.Name, t.Name)
	}
	return fmt.Sprintf("decided by %s:%d (chain %s in table %s of iptables)", rule.Place.Source.Name, rule.Place.Pos().Line, chain.Name, t.Name)
}
