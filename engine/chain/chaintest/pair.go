// Package chaintest runs packets through a ruleset twice, rule by rule and
// compiled, and compares everything that packets leave behind.
package chaintest

import (
	"bytes"
	"fmt"
	"slices"

	"verdict/engine"
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/host"
	"verdict/nft/expr"
	"verdict/nft/ruleset"
)

// Pair is one ruleset in two engines, loaded twice, since packets change
// dynamic sets.
type Pair struct{ sides [2]side }

// side is one engine with its only worker.
type side struct {
	rules  *ruleset.Ruleset
	engine *engine.Engine
	worker *engine.Worker
	out    engine.Outcome
}

// New makes the engines. load gives the ruleset, each time anew; mode is that
// of the compiled one.
func New(load func() (*ruleset.Ruleset, *host.Host, error), options engine.Options, mode chain.Mode) (*Pair, error) {
	p := &Pair{}
	for i, m := range []chain.Mode{chain.VM, mode} {
		options.Executor = m
		rules, h, err := load()
		if err != nil {
			return nil, err
		}
		e, err := engine.New(rules, h, options)
		if err != nil {
			return nil, err
		}
		p.sides[i].rules, p.sides[i].engine, p.sides[i].worker = rules, e, e.Worker()
	}
	return p, nil
}

// Plan tells how the chains were compiled.
func (p *Pair) Plan() *chain.Plan { return p.sides[1].engine.Plan() }

// Run runs a packet on both sides and says what differs.
func (p *Pair) Run(in *engine.Input) error {
	for i := range p.sides {
		s := &p.sides[i]
		s.worker.Evaluate(in, &s.out)
	}
	a, b := &p.sides[0], &p.sides[1]
	if err := differ(&a.out, &b.out); err != nil {
		return err
	}
	if *a.worker.Meta() != *b.worker.Meta() {
		return fmt.Errorf("metadata %+v, compiled %+v", a.worker.Meta(), b.worker.Meta())
	}
	return p.effects()
}

// differ says in what two outcomes differ.
func differ(x, y *engine.Outcome) error {
	switch {
	case x.Fate != y.Fate, x.Decided != y.Decided, x.Verdict != y.Verdict, x.Reason != y.Reason, x.Copy != y.Copy, x.CutAt != y.CutAt:
		return fmt.Errorf("fate %v %+v (%s), other %v %+v (%s)", x.Fate, x.Verdict, x.Reason, y.Fate, y.Verdict, y.Reason)
	case x.Changed != y.Changed, !bytes.Equal(x.Data, y.Data):
		return fmt.Errorf("bytes %x, other %x", x.Data, y.Data)
	case !slices.Equal(x.Hooks, y.Hooks):
		return fmt.Errorf("hooks %+v, other %+v", x.Hooks, y.Hooks)
	}
	return nil
}

// effects compares what rules asked for besides the verdict.
func (p *Pair) effects() error {
	x, y := p.sides[0].worker.Machine().Effects.List, p.sides[1].worker.Machine().Effects.List
	same := slices.EqualFunc(x, y, func(a, b vm.Effect) bool {
		sameText := bytes.Equal(a.Expr.AppendText(nil), b.Expr.AppendText(nil))
		a.Expr, b.Expr = nil, nil
		return sameText && a == b
	})
	if !same {
		return fmt.Errorf("effects %+v, compiled %+v", x, y)
	}
	return nil
}

// Check compares hits, counters and other state of all rules.
func (p *Pair) Check() error {
	x, y := p.sides[0].worker.Machine(), p.sides[1].worker.Machine()
	for i, h := range x.Hits() {
		if g := y.Hits()[i]; g != h {
			c, _, at := x.Program().Rule(uint32(i))
			return fmt.Errorf("chain %s rule %d: %+v hits, other %+v", c.Chain.Name, at, h, g)
		}
	}
	for i, t := range p.sides[0].rules.Tables {
		other := p.sides[1].rules.Tables[i]
		for j, c := range t.Chains {
			for k, r := range c.Rules {
				if err := p.state(r.Exprs, other.Chains[j].Rules[k].Exprs); err != nil {
					return fmt.Errorf("chain %s rule %d: %w", c.Name, k, err)
				}
			}
		}
		for j, s := range t.Sets {
			if x, y := p.size(s), p.size(other.Sets[j]); x != y {
				return fmt.Errorf("set %s: %d elements, other %d", s.Name, x, y)
			}
		}
	}
	return nil
}

// size is the number of elements of a set, those that packets added included.
func (p *Pair) size(s *ruleset.Set) int {
	if s.Elements == nil {
		return 0
	}
	n := 0
	for range s.Elements.Alive(p.sides[0].worker.Now()) {
		n++
	}
	return n
}

func (p *Pair) state(list ...[]expr.Expr) error {
	for i := range list[0] {
		var text [2]string
		for j := range p.sides {
			s := &p.sides[j]
			text[j] = string(s.engine.State().Present(list[j][i], s.worker.Now()).AppendText(nil))
		}
		if text[0] != text[1] {
			return fmt.Errorf("%s, other %s", text[0], text[1])
		}
	}
	return nil
}
