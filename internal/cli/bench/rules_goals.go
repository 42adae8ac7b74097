package bench

import "fmt"

// Goal is what is promised of a figure, and whether it is kept.
type Goal struct {
	What   string `json:"what"`
	Figure string `json:"figure"`
	Bound  string `json:"bound"`
	OK     bool   `json:"ok"`
}

// rateGoal promises that one way is several times faster than another, at
// publishedRules rules.
type rateGoal struct {
	kind      string // "" for all
	way, than string
	least     float64
}

var rateGoals = []rateGoal{
	{"", Compiled, LinuxNft, 1000},
	{"", Compiled, LinuxLegacy, 500},
	{"same", Fused, LinuxNft, 3},
	{"same", Fused, Base, 2},
}

// flatGoal is how much more a packet costs with publishedRules rules than with
// flatRules, compiled.
const (
	flatGoal  = 1.5
	flatRules = 10
)

// judge compares a kind's figures with what is promised of them, as far as they
// were measured.
func (r *RulesReport) judge(kind string) (goals []Goal) {
	many, few := r.Row(kind, publishedRules, Compiled), r.Row(kind, flatRules, Compiled)
	if many != nil && few != nil {
		goals = append(goals, Goal{
			What:   fmt.Sprintf("%s: a packet's cost with 10,000 rules to that with 10, compiled", kind),
			Figure: fmt.Sprintf("%s / %s = %.2f", duration(many.Time), duration(few.Time), many.Time/few.Time),
			Bound:  fmt.Sprintf("at most %.1f", flatGoal),
			OK:     many.Time <= flatGoal*few.Time,
		})
	}
	for _, g := range rateGoals {
		way, than := r.Row(kind, publishedRules, g.way), r.Row(kind, publishedRules, g.than)
		if g.kind != "" && g.kind != kind || way == nil || than == nil {
			continue
		}
		goals = append(goals, Goal{
			What:   fmt.Sprintf("%s: 10,000 rules, %s to %s", kind, g.way, g.than),
			Figure: fmt.Sprintf("%s times (%s to %s packets/s)", digits(way.PPS/than.PPS), rate(way.PPS), rate(than.PPS)),
			Bound:  fmt.Sprintf("at least %s", thousands(int(g.least))),
			OK:     way.PPS >= g.least*than.PPS,
		})
	}
	return goals
}
