package verdict

import (
	"io"
	"time"

	"verdict/nft/decompile"
	"verdict/nft/expr"
	"verdict/nft/nftjson"
)

// ListOptions are the options of a listing that belong to the ruleset's host:
// names of interfaces and users, the time zone.
func (r *Ruleset) ListOptions() decompile.Options {
	return decompile.Options{
		Location:      r.zone,
		Now:           time.Now(),
		InterfaceName: r.interfaceName,
	}
}

// List prints the engine's ruleset as it is now: with the counts, used quotas
// and elements that packets left behind.
func (e *Engine) List(w io.Writer) error {
	return decompile.List(w, e.rules.rules, e.ListOptions())
}

// ListJSON prints the engine's ruleset as List does, as `nft -j list ruleset`
// does, on one line.
func (e *Engine) ListJSON(w io.Writer) error {
	_, err := w.Write(nftjson.Append(nil, decompile.Ruleset(e.rules.rules, e.ListOptions().JSON()), nftjson.Reference))
	return err
}

// ListOptions are those of the ruleset, with the state of the engine.
func (e *Engine) ListOptions() decompile.Options {
	o := e.rules.ListOptions()
	now := e.worker.Now()
	o.Clock = now
	o.State = func(x expr.Expr) expr.Expr { return e.engine.State().Present(x, now) }
	return o
}

func (r *Ruleset) interfaceName(index uint32) string {
	if i, ok := r.host.ByIndex(int(index)); ok {
		return i.Name
	}
	return ""
}

// List prints the ruleset as `nft list ruleset` does, from the bytecode and
// the sets alone.
func (r *Ruleset) List(w io.Writer) error {
	return decompile.List(w, r.rules, r.ListOptions())
}

// ListJSON prints the ruleset as `nft -j list ruleset` does, on one line.
func (r *Ruleset) ListJSON(w io.Writer) error {
	_, err := w.Write(nftjson.Append(nil, decompile.Ruleset(r.rules, r.ListOptions().JSON()), nftjson.Reference))
	return err
}
