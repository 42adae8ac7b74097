package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"verdict"
	"verdict/engine"
	"verdict/engine/vm"
	"verdict/packet/build"
	"verdict/trace"
)

// epoch is the time at which rulesets are loaded and packets start to come.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Executor is a way to evaluate rulesets. Each must give the same result for
// every case.
type Executor struct {
	Name string
	// Prepare readies a fresh engine.
	Prepare func(*verdict.Engine)
}

// Executors are all there are.
var Executors = []Executor{
	{"plain", func(*verdict.Engine) {}},
	{"traced", func(e *verdict.Engine) { e.Trace(discard{}) }},
}

type discard struct{}

func (discard) Event(*trace.Event) {}

// Result is what came out of a case.
type Result struct {
	// Text has the form of the expect section.
	Text string
	// Hits are the packets and bytes of each rule of the program, for the
	// comparison of executors.
	Hits []vm.Hits
}

// Run evaluates a case. The error says what is wrong with the case itself.
func (c *Case) Run(x Executor) (Result, error) {
	rules, lines, err := c.load()
	if err != nil {
		return Result{}, err
	}
	options := verdict.EngineOptions{}
	for _, o := range c.Options {
		switch o {
		case "accounting":
			options.Accounting = true
		case "known routes":
			options.KnownRoutes = true
		case "replies":
			options.Replies = true
		case "before 7.1":
			options.Before71 = true
		default:
			return Result{}, fmt.Errorf("unknown option %q", o)
		}
	}
	e, err := rules.NewEngine(options)
	if err != nil {
		return Result{}, err
	}
	x.Prepare(e)
	sender := sender{engine: e, now: epoch}
	for _, p := range c.Packets {
		results, err := sender.send(p)
		if err != nil {
			return Result{}, err
		}
		lines = append(lines, results...)
	}
	lines = append(lines, stateLines(rules, e)...)
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	return Result{Text: text, Hits: slices.Clone(e.Worker().Machine().Hits())}, nil
}

// sender sends packets as time goes by.
type sender struct {
	engine *verdict.Engine
	now    time.Time
}

// send sends a packet as often as it says and renders what became of it, on
// one line where all went the same way.
func (s *sender) send(p Packet) ([]string, error) {
	built, err := build.Parse(p.Text)
	if err != nil {
		return nil, fmt.Errorf("packet %s: %w", p.Name, err)
	}
	var results []string
	for range p.Times {
		s.now = s.now.Add(p.After)
		if !p.At.IsZero() {
			s.now = p.At
		}
		results = append(results, s.once(&p, built))
	}
	if len(slices.Compact(slices.Clone(results))) == 1 {
		return []string{p.Name + ": " + results[0]}, nil
	}
	for i := range results {
		results[i] = fmt.Sprintf("%s/%d: %s", p.Name, i+1, results[i])
	}
	return results, nil
}

func (s *sender) once(p *Packet, built *build.Packet) string {
	in := verdict.PacketInput(built)
	in.Time = s.now.UnixNano()
	if p.Hook != engine.WholeWay {
		in.Hook = p.Hook
	}
	if p.Cut >= 0 && p.Cut < len(in.Data) {
		in.Data = in.Data[:p.Cut]
	}
	outcome := s.engine.EvaluateInput(&in)
	outcome.Reason = "" // words for people, which may change
	return outcome.String() + facts(s.engine, &in, &outcome)
}
