package cli

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"verdict/catalog"
	"verdict/engine"
	"verdict/nft/ruleset"
)

// The JSON report; docs/json.md describes it. Fields are added, never changed.
type runReport struct {
	Schema      int               `json:"schema"`
	Packets     uint64            `json:"packets"`
	Bytes       uint64            `json:"bytes"`
	Seconds     float64           `json:"seconds"`
	Verdicts    map[string]uint64 `json:"verdicts"`
	Reasons     []reasonReport    `json:"reasons"`
	Made        map[string]uint64 `json:"made,omitempty"`
	Copies      uint64            `json:"copies"`
	Undecoded   uint64            `json:"undecoded"`
	Untimed     uint64            `json:"untimed"`
	Backwards   int               `json:"backwards"`
	Hooks       []hookReport      `json:"hooks"`
	Chains      []chainReport     `json:"chains"`
	Rules       []ruleReport      `json:"rules"`
	Sets        []setReport       `json:"sets"`
	Sent        []sentReport      `json:"sent,omitempty"`
	Assumptions []string          `json:"assumptions"`
	Error       string            `json:"error,omitempty"`
}

type reasonReport struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Packets uint64 `json:"packets"`
}

type hookReport struct {
	Family   string            `json:"family"`
	Hook     string            `json:"hook"`
	Verdicts map[string]uint64 `json:"verdicts"`
}

type sentReport struct {
	Interface string `json:"interface"`
	Frames    uint64 `json:"frames"`
	Bytes     uint64 `json:"bytes"`
}

type chainReport struct {
	Family string `json:"family"`
	Table  string `json:"table"`
	Chain  string `json:"chain"`
	Hook   string `json:"hook,omitempty"`
	Policy string `json:"policy,omitempty"`
}

type ruleReport struct {
	Family  string `json:"family"`
	Table   string `json:"table"`
	Chain   string `json:"chain"`
	Handle  uint64 `json:"handle"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

type setReport struct {
	Family   string `json:"family"`
	Table    string `json:"table"`
	Name     string `json:"name"`
	Elements int    `json:"elements"`
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// report collects everything a replay found.
func (r *replay) report() *runReport {
	out := &runReport{
		Schema: 1, Packets: r.packets, Bytes: r.bytes, Seconds: r.seconds, Copies: r.copies,
		Untimed: r.untimed, Backwards: r.clock.Backwards(),
		Verdicts: map[string]uint64{}, Reasons: []reasonReport{}, Hooks: []hookReport{}, Chains: []chainReport{},
		Rules: []ruleReport{}, Sets: []setReport{}, Assumptions: r.allAssumptions(),
	}
	for _, n := range r.links {
		out.Undecoded += n
	}
	for _, fate := range engine.Fates() {
		if n := r.totals[fate].packets; n > 0 {
			out.Verdicts[fate.String()] = n
		}
	}
	for _, kind := range engine.MadeKinds() {
		if n := r.made[kind]; n > 0 {
			if out.Made == nil {
				out.Made = map[string]uint64{}
			}
			out.Made[kind.String()] = n
		}
	}
	for _, k := range r.sortedReasons() {
		out.Reasons = append(out.Reasons, reasonReport{k.fate.String(), k.text, r.reasons[k]})
	}
	for _, name := range r.order {
		h := hookReport{Verdicts: map[string]uint64{}}
		h.Family, h.Hook = name.words()
		for _, fate := range engine.Fates() {
			if n := r.hooks[name].fates[fate]; n > 0 {
				h.Verdicts[fate.String()] = n
			}
		}
		out.Hooks = append(out.Hooks, h)
	}
	for _, name := range slices.Sorted(maps.Keys(r.sent)) {
		out.Sent = append(out.Sent, sentReport{name, r.sent[name].packets, r.sent[name].bytes})
	}
	r.addRules(out)
	if r.damaged != nil {
		out.Error = r.damaged.Error()
	}
	return out
}

func (r *replay) addRules(out *runReport) {
	for _, t := range r.rules.Rules().Tables {
		for _, s := range t.Sets {
			if s.Flags&ruleset.SetAnonymous == 0 {
				out.Sets = append(out.Sets, setReport{Family: t.Family.String(), Table: t.Name, Name: s.Name, Elements: s.Elements.Count()})
			}
		}
	}
	for _, c := range r.chains() {
		entry := chainReport{Family: c.table.Family.String(), Table: c.table.Name, Chain: c.chain.Name}
		if b := c.chain.Base; b != nil {
			entry.Hook, entry.Policy = catalog.HookName(c.table.Family, b.Hook), b.Policy.String()
		}
		out.Chains = append(out.Chains, entry)
		for _, h := range c.rules {
			out.Rules = append(out.Rules, ruleReport{
				Family: entry.Family, Table: entry.Table, Chain: entry.Chain, Handle: h.rule.Handle,
				File: h.file(), Line: h.line(), Text: h.text, Packets: h.packets, Bytes: h.bytes,
			})
		}
	}
	r.addTables(out)
}

// addTables adds the rules of iptables tables; their handle is the place in
// the chain, counted from 1.
func (r *replay) addTables(out *runReport) {
	for _, c := range r.tables() {
		entry := chainReport{Family: c.table.Family.String(), Table: c.table.Name, Chain: c.chain.Name}
		if c.chain.BuiltIn() {
			entry.Hook, entry.Policy = catalog.HookName(c.table.Family, c.chain.Hook), strings.ToLower(c.chain.Policy.String())
		}
		out.Chains = append(out.Chains, entry)
		for i, h := range c.rules {
			out.Rules = append(out.Rules, ruleReport{
				Family: entry.Family, Table: entry.Table, Chain: entry.Chain, Handle: uint64(i + 1),
				File: h.rule.Place.Source.Name, Line: h.rule.Place.Pos().Line, Text: h.rule.Text(), Packets: h.hits.Packets, Bytes: h.hits.Bytes,
			})
		}
	}
}
