package render

import (
	"fmt"
	"io"
	"strings"

	"verdict/catalog"
	"verdict/diag"
	"verdict/engine/vm"
	"verdict/nft/decompile"
	"verdict/trace"
)

// Text prints events step by step, with the place of each rule and, for rules
// that did not match, the comparison that failed with both values. It is used
// by one goroutine.
type Text struct {
	W       io.Writer
	Program *vm.Program
	Options decompile.Options
	Color   bool
	// Err is the first error of writing.
	Err error

	depth int
	place int // width of the places
}

const (
	green = "\x1b[32m"
	red   = "\x1b[31m"
	faint = "\x1b[2m"
	bold  = "\x1b[1m"
	off   = "\x1b[0m"
)

func (t *Text) paint(color, text string) string {
	if !t.Color {
		return text
	}
	return color + text + off
}

func (t *Text) printf(format string, args ...any) {
	if t.Err == nil {
		_, t.Err = fmt.Fprintf(t.W, format, args...)
	}
}

// Event prints one event.
func (t *Text) Event(e *trace.Event) {
	switch e.Kind {
	case trace.EnterHook:
		t.printf("%s\n", t.paint(bold, fmt.Sprintf("%s %s", e.Family, catalog.HookName(e.Family, e.Hook))))
	case trace.LeaveHook:
		if e.Text != "accept" {
			t.printf("  %s at %s\n", t.verdict(e.Text), catalog.HookName(e.Family, e.Hook))
		}
	case trace.EnterBase:
		t.depth = 0
		t.enterBase(e)
	case trace.RuleDone:
		t.done(e)
	case trace.RuleBreak:
		t.broke(e)
	case trace.RuleUnknown:
		t.rule(e.Rule)
		t.detail("unknown: the capture ends before the bytes that " + diag.Printable(t.failing(e)) + " needs")
	case trace.ReturnFromChain:
		t.depth = max(t.depth-1, 0)
		t.printf("%send of chain, back to the caller\n", t.indent())
	case trace.Policy:
		t.printf("    end of chain: policy %s\n", t.verdict(e.Verdict.String()))
	case trace.Note:
		t.printf("  %s\n", diag.Printable(e.Text))
	case trace.EnterTable:
		t.place = 0
		t.printf("  %s\n", diag.Printable(e.Text))
	case trace.TableRule:
		t.place = max(t.place, len(e.Label))
		t.printf("    %-*s  %s\n", t.place, diag.Printable(e.Label), diag.Printable(e.Text))
	case trace.TableDetail:
		t.printf("    %-*s    %s\n", t.place, "", t.tableDetail(diag.Printable(e.Text)))
	case trace.TablePolicy:
		t.printf("    end of chain: policy %s\n", t.verdict(strings.ToLower(e.Text)))
	case trace.EnterTC:
		t.place = 0
		t.printf("%s\n", t.paint(bold, diag.Printable(e.Text)))
	case trace.TCFilter:
		t.place = max(t.place, len(e.Label))
		t.printf("    %-*s  %s\n", t.place, diag.Printable(e.Label), diag.Printable(e.Text))
	case trace.TCDetail:
		t.printf("    %-*s    %s\n", t.place, "", t.filterDetail(diag.Printable(e.Text)))
	case trace.LeaveTC:
		t.printf("  %s\n", diag.Printable(e.Text))
	}
}

// filterDetail paints what came of a filter of tc.
func (t *Text) filterDetail(text string) string {
	switch {
	case strings.HasPrefix(text, "matches"):
		return t.paint(green, "matches") + strings.TrimPrefix(text, "matches")
	case strings.HasPrefix(text, "no match"):
		return t.paint(faint, text)
	}
	return text
}

// tableDetail paints what came of a rule of an iptables table.
func (t *Text) tableDetail(text string) string {
	what, ok := strings.CutPrefix(text, "matches, ")
	if !ok {
		return t.paint(faint, text)
	}
	return t.paint(green, "matches") + ", " + t.verdict(what)
}

func (t *Text) enterBase(e *trace.Event) {
	c := &t.Program.Chains[e.Chain]
	b := c.Chain.Base
	t.place = 0
	for _, r := range c.Chain.Rules {
		t.place = max(t.place, len(diag.Printable(where(r.Place))))
	}
	t.printf("  table %s %s, chain %s (priority %d, policy %s)\n", c.Table.Family, c.Table.Name, c.Chain.Name, b.Priority, b.Policy)
}

func (t *Text) indent() string { return "    " + strings.Repeat("  ", t.depth) }

// rule prints a rule's place and text.
func (t *Text) rule(number uint32) {
	c, r, _ := t.Program.Rule(number)
	t.printf("%s%-*s  %s\n", t.indent(), t.place, diag.Printable(where(r.Place)), diag.Printable(ruleText(c.Table, r, &t.Options)))
}

// detail prints a line below a rule.
func (t *Text) detail(text string) {
	t.printf("%s%-*s    %s\n", t.indent(), t.place, "", text)
}

func (t *Text) done(e *trace.Event) {
	t.rule(e.Rule)
	switch e.Verdict {
	case catalog.VerdictContinue:
		t.detail(t.paint(green, "matches") + ", goes on")
	case catalog.VerdictJump, catalog.VerdictGoto:
		t.detail(fmt.Sprintf("%s, %s %s", t.paint(green, "matches"), e.Verdict, t.Program.Chains[e.Target].Chain.Name))
		if e.Verdict == catalog.VerdictJump {
			t.depth++
		}
	case catalog.VerdictReturn:
		t.detail(t.paint(green, "matches") + ", return")
		t.depth = max(t.depth-1, 0)
	default:
		t.detail(t.paint(green, "matches") + ": " + t.verdict(e.Verdict.String()))
	}
}

func (t *Text) broke(e *trace.Event) {
	t.rule(e.Rule)
	text := "no match: " + diag.Printable(t.failing(e))
	if t.implied(e) {
		text += " (implied)"
	}
	if got := t.got(e); got != "" {
		text += ", the packet has " + diag.Printable(got)
	}
	t.detail(t.paint(faint, text))
}

func (t *Text) verdict(word string) string {
	switch word {
	case "accept":
		return t.paint(green, word)
	case "drop":
		return t.paint(red, word)
	}
	return word
}
