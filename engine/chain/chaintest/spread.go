package chaintest

import (
	"fmt"
	"slices"
	"strings"

	"verdict/conntrack"
	"verdict/engine"
	"verdict/host"
	"verdict/nft/ruleset"
)

// Spread is one ruleset in two engines: one evaluates packets in order, the
// other with several workers.
type Spread struct {
	pair    Pair
	workers *engine.Workers
	outs    [2][]engine.Outcome
}

// NewSpread makes the engines, with n workers for the second one. load gives the
// ruleset, each time anew.
func NewSpread(load func() (*ruleset.Ruleset, *host.Host, error), options engine.Options, n int) (*Spread, error) {
	s := &Spread{}
	for i := range s.pair.sides {
		rules, h, err := load()
		if err != nil {
			return nil, err
		}
		e, err := engine.New(rules, h, options)
		if err != nil {
			return nil, err
		}
		s.pair.sides[i].rules, s.pair.sides[i].engine, s.pair.sides[i].worker = rules, e, e.Worker()
	}
	s.workers = s.pair.sides[1].worker.Workers(n)
	return s, nil
}

// Workers are those of the second engine.
func (s *Spread) Workers() *engine.Workers { return s.workers }

// Run runs packets on both sides and says what differs.
func (s *Spread) Run(in []engine.Input) error {
	for i := range s.outs {
		s.outs[i] = slices.Grow(s.outs[i], len(in))[:len(in)]
	}
	s.pair.sides[0].worker.EvaluateBatch(in, s.outs[0])
	s.workers.EvaluateBatch(in, s.outs[1])
	for i := range in {
		if err := differ(&s.outs[0][i], &s.outs[1][i]); err != nil {
			return fmt.Errorf("packet %d: %w", i, err)
		}
	}
	return nil
}

// Check collects what the workers counted and compares hits, counters, sets,
// connections and assumptions.
func (s *Spread) Check() error {
	s.workers.Collect()
	if err := s.pair.Check(); err != nil {
		return err
	}
	a, b := &s.pair.sides[0], &s.pair.sides[1]
	if t := a.engine.Tables(); t != nil {
		for _, table := range t.Tables {
			for _, c := range table.Chains {
				for i := range c.Rules {
					n := t.FirstRule(c) + uint32(i)
					if x, y := a.worker.Tables().Counter(n), b.worker.Tables().Counter(n); x != y {
						return fmt.Errorf("table %s chain %s rule %d: %+v, other %+v", table.Name, c.Name, i, x, y)
					}
				}
			}
		}
	}
	if x, y := connections(a), connections(b); x != y {
		return fmt.Errorf("connections:\n%s\nother:\n%s", x, y)
	}
	if x, y := a.engine.Host().Assumptions(), b.engine.Host().Assumptions(); !slices.Equal(x, y) {
		return fmt.Errorf("assumptions %v, other %v", x, y)
	}
	return nil
}

// connections lists what is known of each connection.
func connections(s *side) string {
	var list []string
	for c := range s.engine.Connections().All(s.worker.Now()) {
		list = append(list, fmt.Sprintf("%v zone %v status %x mark %x left %d packets %v bytes %v created %d labels %x",
			[2]conntrack.Tuple(c.Tuples), c.Zone, c.Status, c.Mark, c.Remaining(s.worker.Now()), c.Packets, c.Bytes, c.Created, c.Labels))
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
