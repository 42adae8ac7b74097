package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"

	"verdict"
	"verdict/capture"
	"verdict/catalog"
	"verdict/engine"
)

// replay runs captures through a ruleset and keeps the totals.
type replay struct {
	rules   *verdict.Ruleset
	options verdict.EngineOptions
	engine  *verdict.Engine
	clock   capture.Clock
	jobs    int // workers at most, 0: as many as are useful
	workers *engine.Workers
	// workersOrdered is why there was only one in the end.
	workersOrdered []engine.Reason

	totals   [8]fateCount // by engine.Fate
	reasons  map[reason]uint64
	made     [8]uint64 // by engine.MadeKind: what the host made and let out
	hooks    map[hookName]*hookCount
	order    []hookName
	hookOf   []hookNumbers // hooks, to find them quickly
	packets  uint64
	bytes    uint64
	copies   uint64
	untimed  uint64
	unplaced uint64                // frames of captures that name no interface
	links    map[uint16]uint64     // frames of link types that are not decoded
	sent     map[string]*fateCount // frames that tc sent out, by interface
	seconds  float64
	damaged  error
	accepted capture.Sink
	dropped  capture.Sink

	assumptions []string
	// interfaceAssumed says that nobody named the interface of packets whose
	// capture names none.
	interfaceAssumed bool
}

type fateCount struct{ packets, bytes uint64 }

// reason is why packets met a fate that no rule decided.
type reason struct {
	fate engine.Fate
	text string
}

// sortedReasons lists the reasons, the most frequent first.
func (r *replay) sortedReasons() []reason {
	return slices.SortedFunc(maps.Keys(r.reasons), func(a, b reason) int {
		return cmp.Or(cmp.Compare(r.reasons[b], r.reasons[a]), cmp.Compare(a.fate, b.fate), cmp.Compare(a.text, b.text))
	})
}

// hookName is a hook of a family.
type hookName struct {
	family  catalog.Family
	hook    catalog.HookNum
	traffic engine.Traffic
}

// words are the hook's family and name; traffic control counts as a family.
func (h hookName) words() (family, hook string) {
	if h.traffic != engine.NoTraffic {
		return "tc", h.traffic.String()
	}
	return h.family.String(), catalog.HookName(h.family, h.hook)
}

func (h hookName) String() string {
	family, hook := h.words()
	return family + " " + hook
}

// hookCount counts what base chains decided at a hook.
type hookCount struct{ fates [8]uint64 }

// hookNumbers is a hook with its counts.
type hookNumbers struct {
	name  hookName
	count *hookCount
}

// progress is told how far a replay is.
type progress interface {
	step(packets uint64, offset int64)
}

func (r *replay) count(o *engine.Outcome, length int) {
	t := &r.totals[o.Fate]
	t.packets++
	t.bytes += uint64(length)
	if o.Reason != "" {
		r.reasons[reason{o.Fate, o.Reason}]++
	}
	for i := range o.Made {
		if m := &o.Made[i]; m.Fate == engine.Accepted && m.Kind != engine.MadeLooped {
			r.made[m.Kind]++
		}
	}
	if r.options.TC != nil {
		r.countSent(o.Sent)
	}
	for i := range o.Hooks {
		h := &o.Hooks[i]
		if !h.Ran {
			continue
		}
		r.hookCount(h.Family, h.Hook, h.Traffic).fates[h.Fate]++
	}
}

// countSent counts the frames that tc sent elsewhere.
func (r *replay) countSent(list []engine.SentFrame) {
	for i := range list {
		f := &list[i]
		if !f.Made || f.Kind != engine.MadeClone && f.Kind != engine.MadeForward {
			continue
		}
		c := r.sent[f.Device]
		if c == nil {
			c = &fateCount{}
			r.sent[f.Device] = c
		}
		c.packets++
		c.bytes += uint64(len(f.Data))
	}
}

// hookCount finds the counts of a hook.
func (r *replay) hookCount(family catalog.Family, hook catalog.HookNum, traffic engine.Traffic) *hookCount {
	const families, hooks = 16, 8
	at := int(family)%families*hooks + int(hook+catalog.HookNum(traffic))%hooks
	if at >= len(r.hookOf) {
		r.hookOf = make([]hookNumbers, families*hooks)
	}
	known := &r.hookOf[at]
	name := hookName{family, hook, traffic}
	if known.count == nil || known.name != name {
		c := r.hooks[name]
		if c == nil {
			c = &hookCount{}
			r.hooks[name] = c
			r.order = append(r.order, name)
		}
		*known = hookNumbers{name, c}
	}
	return known.count
}

// comment says in one line what became of a packet and why.
func (r *replay) comment(o *engine.Outcome) string {
	text := "verdict: " + o.Fate.String()
	switch {
	case o.Reason != "":
		text += ", " + o.Reason
	case !o.Decided:
	case o.Table != nil:
		text += fmt.Sprintf(", %s", r.rules.TableBy(o.Table, &o.Verdict))
	case o.Verdict.Policy:
		text += fmt.Sprintf(", policy of %s %s %s", o.Base.Family, o.Base.Table.Name, o.Base.Chain.Name)
	default:
		chain, rule, _ := r.engine.Engine().Program().Rule(o.Verdict.Rule)
		text += fmt.Sprintf(", %s %s %s handle %d", chain.Table.Family, chain.Table.Name, chain.Chain.Name, rule.Handle)
	}
	return text
}

func newReplay(rules *verdict.Ruleset, options verdict.EngineOptions) (*replay, error) {
	e, err := rules.NewEngine(options)
	if err != nil {
		return nil, failed(err)
	}
	return &replay{
		rules: rules, options: options, engine: e,
		hooks: map[hookName]*hookCount{}, links: map[uint16]uint64{}, sent: map[string]*fateCount{}, reasons: map[reason]uint64{},
	}, nil
}

// openCapture opens a capture file; "-" is standard input.
func openCapture(s *Streams, name string) (*capture.Reader, int64, error) {
	if name == "-" {
		r, err := capture.NewReader(s.In, capture.Options{})
		if err != nil {
			return nil, 0, failedf("stdin: %w", err)
		}
		return r, 0, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0, failed(readable(err))
	}
	if info.IsDir() {
		return nil, 0, failedf("%s is a directory; name the captures in it", name)
	}
	r, err := capture.Open(name, capture.Options{})
	if err != nil {
		return nil, 0, failed(readable(err))
	}
	return r, info.Size(), nil
}

// parseAddresses reads --local.
func parseAddresses(words []string) ([]netip.Addr, error) {
	var list []netip.Addr
	for _, w := range words {
		a, err := netip.ParseAddr(w)
		if err != nil {
			return nil, failedf("--local %s: not an IP address", w)
		}
		list = append(list, a)
	}
	return list, nil
}
