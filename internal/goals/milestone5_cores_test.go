package goals

import (
	"fmt"
	"net/netip"
	"testing"

	"verdict"
	"verdict/engine"
	"verdict/engine/chain/chaintest"
	"verdict/host"
	"verdict/nft/ruleset"
)

// spread compares several workers with one, on frames in batches, in engines of
// their own for each thousand.
type spread struct {
	t                            *testing.T
	compared, rulesets, parallel int
	differ                       int
}

func (s *spread) run(load func() (*ruleset.Ruleset, *host.Host, error), options engine.Options, frames []engine.Input, what string) {
	s.rulesets++
	aside := false
	for len(frames) > 0 {
		n := min(1000, len(frames))
		pair, err := chaintest.NewSpread(load, options, 3)
		if err != nil {
			s.t.Logf("%s: not run: %v", what, err)
			return
		}
		aside = aside || pair.Workers().Count() > 1
		for part := frames[:n]; len(part) > 0; {
			k := min(113, len(part))
			if err = pair.Run(part[:k]); err != nil {
				break
			}
			part = part[k:]
		}
		if err == nil {
			err = pair.Check()
		}
		if err != nil {
			s.differ++
			s.t.Errorf("%s: %v", what, err)
		}
		s.compared += n
		frames = frames[n:]
	}
	if aside {
		s.parallel++
	}
}

// TestGoal5Jobs runs the captures of the corpus through its rulesets with one
// and with several workers.
func TestGoal5Jobs(t *testing.T) {
	frames := corpusFrames(t, volume(5, 100))
	s := &spread{t: t}
	options := engine.Options{Seed: 1, Interface: "eth0", Local: []netip.Addr{netip.MustParseAddr("192.168.1.1")}}
	for _, e := range corpus(t) {
		if e.Accepted != "yes" {
			continue
		}
		s.run(func() (*ruleset.Ruleset, *host.Host, error) {
			rules, findings := e.load(t)
			if rules == nil {
				return nil, nil, findings.Err()
			}
			return rules.Rules(), rules.Host(), nil
		}, options, frames, e.File)
	}
	for _, f := range savedCorpus(t) {
		if f.Legacy != "yes" {
			continue
		}
		rules, findings := verdict.LoadSources(verdict.LoadOptions{TablesFamily: f.family()}, f.source(t))
		if rules == nil {
			t.Fatalf("%s: %v", f.File, findings.Err())
		}
		o := options
		o.Tables = rules.Tables()
		s.run(func() (*ruleset.Ruleset, *host.Host, error) {
			rules, findings := verdict.LoadSources(verdict.LoadOptions{TablesFamily: f.family()}, f.source(t))
			return rules.Rules(), rules.Host(), findings.Err()
		}, o, frames, f.File)
	}
	goal(t, s.differ == 0 && s.parallel > 0, "three workers against one, rulesets and captures of the corpus: verdicts, counters, sets, bytes, connections",
		fmt.Sprintf("%d packets of %d rulesets, %d of these side by side, %d differ", s.compared, s.rulesets, s.parallel, s.differ), "none differs")
}
