package bench

import (
	"math"
	"strconv"
	"strings"
)

// Bound is what is promised of a figure.
type Bound struct {
	// Most is the largest value, 0 for none.
	Most float64 `json:"most,omitempty"`
	// Ratio is how many times faster than the peer it is at least, 0 for none.
	Ratio float64 `json:"ratio,omitempty"`
}

func (b *Bound) holds(f *Figure) bool {
	return (b.Most == 0 || f.Value <= b.Most) && (b.Ratio == 0 || f.Peer == 0 || f.Ratio() >= b.Ratio)
}

// Text is the bound for people.
func (b *Bound) Text(unit Unit) string {
	var parts []string
	if b.Most != 0 {
		parts = append(parts, "≤ "+unit.format(b.Most))
	}
	if b.Ratio != 0 {
		parts = append(parts, "≥ "+strconv.FormatFloat(math.Round(100*b.Ratio)/100, 'f', -1, 64)+"×")
	}
	return strings.Join(parts, ", ")
}

const (
	microsecond = 1e3
	millisecond = 1e6
)

// bounds of the figures, by shape, size and what was measured. The reference
// is 800,000 elements in the kernel: 47,600 ns a lookup, 34 s a load.
var bounds = map[string]map[int]map[What]Bound{
	"disjoint":    concatenations,
	"shared":      concatenations,
	"overlapping": {100_000: {HitSingle: {Most: 600}, MissSingle: {Most: 600}}},
	"addresses":   {1_000_000: {LoadMemory: {Most: 500 * millisecond}, HitBurst: {Most: 60}, MissBurst: {Most: 60}}},
	"ranges": {500_000: {
		LoadMemory: {Most: 500 * millisecond}, AddOne: {Most: millisecond}, DeleteOne: {Most: millisecond},
	}},
}

var concatenations = map[int]map[What]Bound{
	1000: {
		LoadMemory: {Most: millisecond},
		HitSingle:  {Most: 30, Ratio: 10}, MissSingle: {Most: 30},
	},
	30_000: {HitSingle: {Most: 40, Ratio: 25}, MissSingle: {Most: 40}},
	800_000: {
		LoadMemory: {Most: 600 * millisecond}, LoadText: {Ratio: 40}, HeapElement: {Most: 250},
		HitSingle: {Most: 110, Ratio: 400}, MissSingle: {Most: 110},
		HitBurst: {Most: 45, Ratio: 1000}, MissBurst: {Most: 45},
		AddOne: {Most: 40 * microsecond}, DeleteOne: {Most: 40 * microsecond},
		ReadersPaced: {Most: 10},
	},
}

// kernelRatio is how much faster than the kernel the shapes of its own script
// are: on single lookups with two fields, else in bursts.
const kernelRatio = 8

// boundOf finds the bound of a figure of a set.
func boundOf(s *Shape, n int, what What) *Bound {
	if b, ok := bounds[s.Name][n][what]; ok {
		return &b
	}
	burst := len(s.Desc.Fields) > 2
	if s.kernelShape && (burst && (what == HitBurst || what == MissBurst) || !burst && (what == HitSingle || what == MissSingle)) {
		return &Bound{Ratio: kernelRatio}
	}
	return nil
}

// classifyBound finds the bound of a figure of a classifier. The reference is
// rte_acl with its best algorithm, which does not build fw at 100,000 rules.
func classifyBound(family string, n int, what What) *Bound {
	const within = 1 / 1.5 // at most 1.5 times the peer's
	switch {
	case what == LookupSingle && n <= 100_000:
		return &Bound{Ratio: 2}
	case what == LookupBurst && n == 100_000:
		return &Bound{Most: 130}
	case what == LookupBurst && n == 10_000 && family != "acl":
		return &Bound{Ratio: 1}
	case what == LookupBurst && n <= 10_000:
		return &Bound{Ratio: within}
	case what == BuildTable && n == 100_000:
		return &Bound{Ratio: 10}
	case what == TableMemory && n == 100_000 && family == "fw":
		return &Bound{Most: 500 << 20}
	case what == TableMemory && n == 100_000:
		return &Bound{Ratio: 1}
	case (what == TableMemory || what == PeakMemory) && n == 500_000:
		return &Bound{Most: 2 << 30}
	}
	return nil
}
