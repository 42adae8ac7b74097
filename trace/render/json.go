package render

import (
	"strings"

	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/nft/decompile"
	"verdict/trace"
)

// JSON collects events as a document; see docs/json.md.
type JSON struct {
	Program *vm.Program
	Options decompile.Options
	steps   []Step
}

// Document is a traced packet.
type Document struct {
	Schema  int    `json:"schema"`
	Packet  string `json:"packet"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Steps   []Step `json:"steps"`
	Sent    []Sent `json:"sent,omitempty"`
}

// Sent is a frame that left because of the packet.
type Sent struct {
	Device string `json:"device"`
	Kind   string `json:"kind"`          // packet: the packet itself; else why the host made it
	Packet string `json:"packet"`        // in one line
	Hex    string `json:"hex,omitempty"` // the whole frame
	Reason string `json:"reason,omitempty"`
}

// Step is one event of a traced packet.
type Step struct {
	Event   string `json:"event"` // hook, chain, match, no match, unknown, return, policy, note; of iptables tables rule, result; of tc tc, filter, result, tc result
	Family  string `json:"family,omitempty"`
	Hook    string `json:"hook,omitempty"`
	Table   string `json:"table,omitempty"`
	Chain   string `json:"chain,omitempty"`
	Handle  uint64 `json:"handle,omitempty"`
	Place   string `json:"place,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Failed  string `json:"failed,omitempty"`
	Got     string `json:"got,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	Text    string `json:"text,omitempty"`
}

// Event collects one event.
func (j *JSON) Event(e *trace.Event) {
	s := Step{}
	switch e.Kind {
	case trace.EnterHook:
		s.Event, s.Family, s.Hook = "hook", e.Family.String(), catalog.HookName(e.Family, e.Hook)
	case trace.EnterBase:
		s.Event = "chain"
		j.chain(&s, &j.Program.Chains[e.Chain])
	case trace.RuleDone:
		s.Event = "match"
		j.rule(&s, e)
		s.Verdict = e.Verdict.String()
		if e.Verdict == catalog.VerdictJump || e.Verdict == catalog.VerdictGoto {
			s.Verdict += " " + j.Program.Chains[e.Target].Chain.Name
		}
	case trace.RuleBreak, trace.RuleUnknown:
		s.Event = "no match"
		if e.Kind == trace.RuleUnknown {
			s.Event = "unknown"
		}
		j.rule(&s, e)
		t := Text{Program: j.Program, Options: j.Options}
		s.Failed, s.Got = t.failing(e), t.got(e)
	case trace.ReturnFromChain:
		s.Event = "return"
	case trace.Policy:
		s.Event, s.Verdict = "policy", e.Verdict.String()
		j.chain(&s, &j.Program.Chains[e.Chain])
	case trace.Note:
		s.Event, s.Text = "note", e.Text
	case trace.EnterTable:
		s.Event, s.Text = "chain", e.Text
	case trace.TableRule:
		s.Event, s.Place, s.Rule = "rule", e.Label, e.Text
	case trace.TableDetail:
		s.Event, s.Text = "result", e.Text
	case trace.TablePolicy:
		s.Event, s.Verdict = "policy", strings.ToLower(e.Text)
	case trace.EnterTC:
		s.Event, s.Text = "tc", e.Text
	case trace.TCFilter:
		s.Event, s.Place, s.Rule = "filter", e.Label, e.Text
	case trace.TCDetail:
		s.Event, s.Text = "result", e.Text
	case trace.LeaveTC:
		s.Event, s.Verdict = "tc result", e.Text
	default:
		return
	}
	j.steps = append(j.steps, s)
}

func (j *JSON) chain(s *Step, c *vm.Chain) {
	s.Family, s.Table, s.Chain = c.Table.Family.String(), c.Table.Name, c.Chain.Name
}

func (j *JSON) rule(s *Step, e *trace.Event) {
	c, r, _ := j.Program.Rule(e.Rule)
	j.chain(s, c)
	s.Handle, s.Place, s.Rule = r.Handle, where(r.Place), ruleText(c.Table, r, &j.Options)
}

// Document gives the collected steps with the packet's fate.
func (j *JSON) Document(verdict, reason, packet string) *Document {
	if j.steps == nil {
		j.steps = []Step{}
	}
	return &Document{Schema: 1, Packet: packet, Verdict: verdict, Reason: reason, Steps: j.steps}
}
