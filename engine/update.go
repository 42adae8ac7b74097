package engine

import (
	"verdict/engine/chain"
	"verdict/engine/vm"
	"verdict/nft/ruleset"
)

// rules is a snapshot as packets meet it: linked and compiled. It never
// changes.
type rules struct {
	program *vm.Program
	plan    *chain.Plan
	hooks   *hookTable
}

// load links and compiles a snapshot.
func (e *Engine) load(rs *ruleset.Ruleset) (*rules, error) {
	forms := e.options.Forms
	if forms == 0 {
		forms = vm.AllForms
	}
	p, err := vm.LinkForms(rs, e.state, forms)
	if err != nil {
		return nil, err
	}
	plan := chain.Compile(p, e.options.Executor)
	p.Finish()
	return &rules{program: p, plan: plan, hooks: e.hooksOf(p)}, nil
}

// Update makes a later snapshot the one that packets meet: each worker goes on
// with it from its next packet on and never waits. Counters, limits and the
// like of rules that stay go on, too. Where the snapshots differ only in rules
// of compiled chains, that takes well under a millisecond; else the snapshot
// is linked and compiled first. Hit counts of workers start anew in that case.
// The error is a *vm.UnsupportedError; the old snapshot stays then.
func (e *Engine) Update(rs *ruleset.Ruleset) error {
	e.updates.Lock()
	defer e.updates.Unlock()
	now := e.present.Load()
	if x, ok := now.program.Extend(rs); ok {
		if plan, ok := now.plan.Extend(x); ok {
			e.present.Store(&rules{program: x.Program, plan: plan, hooks: e.hooksOf(x.Program)})
			return nil
		}
	}
	next, err := e.load(rs)
	if err != nil {
		return err
	}
	e.present.Store(next)
	return nil
}

// follow takes a worker to the present snapshot.
func (w *Worker) follow(next *rules) {
	if w.rules != nil && next.program.Extends(w.rules.program) {
		w.machine.Switch(next.program)
	} else {
		w.machine.Load(next.program)
	}
	w.rules, w.program, w.hooks = next, next.program, next.hooks
	w.selectors = next.plan.Selectors()
	w.machine.Use(w.selectors.List())
	w.conns.RoomForLabels(next.program.NeedsCTLabels)
}
