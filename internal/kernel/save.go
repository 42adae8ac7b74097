package kernel

import (
	"bytes"
	"fmt"
	"strings"

	"verdict/host"
)

// Spec writes the case as one of package spec, with the difference in its
// text. What is expected is left to be filled in from the kernel's side.
func (c *Case) Spec(d *Difference, injected []Injection, h *host.Host) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Found by the oracle.\n-- case: seed %d --\n", c.Seed)
	for line := range strings.Lines(d.String()) {
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(line, "\n"))
	}
	var text bytes.Buffer
	if err := h.Write(&text); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "-- host.json --\n%s\n-- options --\nreplies\naccounting\nbefore 7.1\n-- ruleset.nft --\n%s-- packets --\n", strings.TrimSpace(text.String()), c.Ruleset)
	for n, p := range injected {
		fmt.Fprintf(&b, "p%d: iifname %s hex %x\n", n, p.Interface, p.Data)
	}
	b.WriteString("-- expect --\n")
	return b.String(), nil
}
