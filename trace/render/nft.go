package render

import (
	"fmt"
	"io"

	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/nft/decompile"
	"verdict/packet"
	"verdict/trace"
)

// Nft prints events as `nft monitor trace` does: a packet line for each base
// chain, the rules that matched, and the policy.
type Nft struct {
	W       io.Writer
	Program *vm.Program
	Options decompile.Options
	View    *packet.View // the packet, as rules leave it
	Meta    *packet.Meta
	ID      uint32
	Err     error
}

func (n *Nft) printf(format string, args ...any) {
	if n.Err == nil {
		_, n.Err = fmt.Fprintf(n.W, format, args...)
	}
}

// Event prints one event.
func (n *Nft) Event(e *trace.Event) {
	switch e.Kind {
	case trace.EnterBase:
		n.head(&n.Program.Chains[e.Chain])
		n.printf("packet: %s\n", describe(n.View, n.Meta))
	case trace.RuleDone:
		c, r, _ := n.Program.Rule(e.Rule)
		n.head(c)
		verdict := e.Verdict.String()
		if e.Verdict == catalog.VerdictJump || e.Verdict == catalog.VerdictGoto {
			verdict += " " + n.Program.Chains[e.Target].Chain.Name
		}
		n.printf("rule %s (verdict %s)\n", ruleText(c.Table, r, &n.Options), verdict)
	case trace.Policy:
		n.head(&n.Program.Chains[e.Chain])
		n.printf("policy %s \n", e.Verdict)
	}
}

func (n *Nft) head(c *vm.Chain) {
	n.printf("trace id %08x %s %s %s ", n.ID, c.Table.Family, c.Table.Name, c.Chain.Name)
}
