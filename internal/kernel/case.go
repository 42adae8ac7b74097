package kernel

import (
	"fmt"
	"strings"

	"verdict/catalog"
	"verdict/diag"
	"verdict/nft/ruleset"
)

// Case is a ruleset with the packets that go through it, in order.
type Case struct {
	Seed    uint64
	Ruleset string
	Packets []Injection
}

// Injection is a frame that an interface receives.
type Injection struct {
	Interface string
	Data      []byte
	// Answers makes it the answer to the frame that left last, if there is one.
	Answers bool
}

// Frame is a frame on an interface.
type Frame struct {
	Interface string
	Data      []byte
}

// Step is one line of a packet's trace: a rule whose statements all ran, or
// the policy of a base chain.
type Step struct {
	Family  catalog.Family
	Table   string
	Chain   string
	Handle  uint64 // 0: the policy
	Verdict catalog.VerdictKind
	Target  string
}

func (s Step) String() string {
	where := fmt.Sprintf("%s %s %s", s.Family, s.Table, s.Chain)
	verdict := s.Verdict.String()
	if s.Target != "" {
		verdict += " " + s.Target
	}
	if s.Handle == 0 {
		return where + " policy " + verdict
	}
	return fmt.Sprintf("%s rule %d %s", where, s.Handle, verdict)
}

// Difference is something in which kernel and engine do not agree.
type Difference struct {
	// Packet is the index of the packet, -1 for what concerns the ruleset.
	Packet int
	What   string // load, read back, trace, counters, …
	Kernel string
	Engine string
}

func (d Difference) String() string {
	where := "ruleset"
	if d.Packet >= 0 {
		where = fmt.Sprintf("packet %d", d.Packet)
	}
	return fmt.Sprintf("%s: %s:\n  kernel: %s\n  engine: %s", where, d.What, d.Kernel, d.Engine)
}

// Result is what came of a case.
type Result struct {
	// Compared is the number of packets that both judged.
	Compared int
	// Refused says that both refused the ruleset.
	Refused     bool
	Differences []Difference
	// Left are the frames that the kernel let out because of each packet.
	Left     [][]Frame
	rules    *ruleset.Ruleset
	injected []Injection
	// Free says that the kernel chose something that cannot be foreseen, within
	// its bounds; from there on the two go different ways.
	Free bool
}

func (r *Result) differ(packet int, what, kernel, engine string) {
	r.Differences = append(r.Differences, Difference{packet, what, kernel, engine})
}

// stepsText prints a trace on one line.
func stepsText(steps []Step) string {
	if len(steps) == 0 {
		return "no step"
	}
	list := make([]string, len(steps))
	for i, s := range steps {
		list[i] = s.String()
	}
	return strings.Join(list, " | ")
}

// chainKey is a chain by its kernel's name.
type chainKey struct {
	family       catalog.Family
	table, chain string
}

// The router's own link addresses. Stations behind an interface have the same
// address but for the last byte.
const (
	lanMAC = "02:00:00:00:01:01"
	wanMAC = "02:00:00:00:02:01"
)

// dropRules takes the rules that findings mark out of the ruleset; false if
// there are none. Rules stand on lines of their own, with two tabs.
func (c *Case) dropRules(found *diag.List) bool {
	lines := strings.Split(c.Ruleset, "\n")
	dropped := false
	for _, d := range found.All() {
		at := d.Span.Pos().Line - 1
		if at < 0 || at >= len(lines) || !strings.HasPrefix(lines[at], "\t\t") || strings.HasPrefix(lines[at], "\t\ttype ") {
			continue
		}
		lines[at], dropped = "", true
	}
	c.Ruleset = strings.Join(lines, "\n")
	return dropped
}
