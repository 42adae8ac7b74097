package kernel

import (
	"bytes"
	"fmt"
	"strings"

	"verdict/nft/decompile"
	"verdict/nft/ruleset"
	"verdict/packet"
	"verdict/packet/build"
)

// shown is how many packets of a case are shown whole.
const shown = 6

// Text describes a difference with the packet and the rules that it names;
// injected are the packets as they were.
func (c *Case) Text(d *Difference, injected []Injection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %s\n", c.Seed, d)
	for n := range injected {
		// Those before it matter where there are few, as after shrinking.
		if p := &injected[n]; n == d.Packet || len(c.Packets) <= shown {
			fmt.Fprintf(&b, "  packet %d: iifname %s %s\n    hex %x\n", n, p.Interface, frameText(p.Data), p.Data)
		}
	}
	return b.String()
}

func frameText(data []byte) string {
	var v packet.View
	v.Decode(packet.LinkEthernet, data, len(data))
	return build.Text(&v)
}

// Listing lists the rules with their handles.
func Listing(rs *ruleset.Ruleset) string {
	var b bytes.Buffer
	if err := decompile.List(&b, rs, decompile.Options{Handles: true}); err != nil {
		return err.Error()
	}
	return b.String()
}
