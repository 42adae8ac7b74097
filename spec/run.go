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
	options, sets, err := c.options()
	if err != nil {
		return Result{}, err
	}
	r, err := c.start()
	if err != nil {
		return Result{}, err
	}
	batches := 0
	for _, s := range c.Steps {
		if s.Batch == nil {
			err = r.send(s.Packets, options, x)
		} else if err = r.load(s.Batch); err != nil {
			err = fmt.Errorf("batch %d: %w", batches+1, err)
		}
		if err != nil {
			return Result{}, err
		}
		if s.Batch != nil {
			batches++
		}
	}
	// Without packets, too, the rules must link.
	if err := r.send(nil, options, x); err != nil {
		return Result{}, err
	}
	lines := append(r.lines, r.stateLines(sets)...)
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	return Result{Text: text, Hits: slices.Clone(r.sender.engine.Worker().Machine().Hits())}, nil
}

// options reads the options of a case; sets says that all named sets are
// listed.
func (c *Case) options() (options verdict.EngineOptions, sets bool, err error) {
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
		case "sets":
			sets = true
		default:
			return options, sets, fmt.Errorf("unknown option %q", o)
		}
	}
	return options, sets, nil
}

// send sends packets; the first ones start the engine.
func (r *run) send(packets []Packet, options verdict.EngineOptions, x Executor) error {
	if r.sender.engine == nil {
		e, err := r.rules.NewEngine(options)
		if err != nil {
			return err
		}
		x.Prepare(e)
		r.sender.engine = e
	}
	for _, p := range packets {
		results, err := r.sender.send(p)
		if err != nil {
			return err
		}
		r.lines = append(r.lines, results...)
	}
	return nil
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
