package tc

import (
	"errors"
	"fmt"

	"verdict/offload"
)

// Explanation says of one filter whether hardware has it, and why not.
type Explanation struct {
	Where    string // the hook or block
	Filter   string // kind, chain, preference, protocol, handle
	Devices  []DeviceExplanation
	Software string // why software needs it or not
}

// DeviceExplanation is what one device says to a filter.
type DeviceExplanation struct {
	Device string
	InHW   bool
	Reason string // "" where the device has the filter
}

// Explain lists the filters of all blocks with what each device says to them.
func (s *System) Explain() []Explanation {
	var out []Explanation
	for _, b := range s.all {
		for _, c := range b.chains {
			for _, i := range c.instances {
				for _, f := range i.bases() {
					out = append(out, s.explain(b, f))
				}
			}
		}
	}
	return out
}

// bases lists what the filters of an instance have in common, with their
// rules.
func (i *Instance) bases() []explained {
	var l []explained
	switch c := i.classifier.(type) {
	case *flower:
		for _, h := range c.order.sorted() {
			f := c.byHandle.get(h)
			l = append(l, explained{&f.filterBase, f.flowRule()})
		}
	case *matchall:
		if c.filter != nil {
			l = append(l, explained{&c.filter.filterBase, c.filter.rule(offload.Matchall)})
		}
	case *u32:
		c.nodes(func(_ *u32Table, n *u32Node) {
			if n != nil && n.instance == i {
				l = append(l, explained{&n.filterBase, n.rule(offload.U32)})
			}
		})
	default:
		for _, f := range c.counters() {
			l = append(l, explained{base: &filterBase{handle: f.Handle, instance: i}})
		}
	}
	return l
}

type explained struct {
	base *filterBase
	rule offload.Rule
}

func (s *System) explain(b *Block, x explained) Explanation {
	f, i := x.base, x.base.instance
	e := Explanation{Where: b.name(), Filter: fmt.Sprintf("%s chain %d pref %d protocol %s handle 0x%x", i.Kind, i.chain.Index, i.Priority, protocolName(i.Protocol), f.handle)}
	for _, n := range b.bindings {
		e.Devices = append(e.Devices, n.explain(x))
	}
	switch {
	case f.flags&flagSkipSW == 0:
		e.Software = "needed: the filter is not skip_sw"
	case f.flags&flagInHW == 0:
		e.Software = "needed: the filter is not in hardware"
	default:
		e.Software = "not needed"
	}
	return e
}

// explain says what one device says to a filter.
func (n *binding) explain(x explained) DeviceExplanation {
	d := DeviceExplanation{Device: n.qdisc.Dev.Name}
	switch {
	case n.hardware == nil && n.qdisc.Dev.Hardware == nil:
		d.Reason = "the device offloads nothing"
	case n.hardware == nil:
		d.Reason = "the device offloads nothing at egress"
	case n.hardware.Has(x.base.cookie):
		d.InHW = true
	case x.rule.Kind == "":
		d.Reason = "filters of this kind are never offloaded"
	case x.base.flags&flagSkipHW != 0:
		d.Reason = "the filter is skip_hw"
	default:
		d.Reason = n.refusal(x)
	}
	return d
}

func (n *binding) refusal(x explained) string {
	actions, kerr := x.base.flowActions()
	if kerr != nil {
		return kerr.Message
	}
	x.rule.Actions = actions
	var r *offload.Refusal
	if err := n.hardware.Check(&x.rule); errors.As(err, &r) {
		return r.Reason
	}
	return "the device refused it when it was added"
}

// name is how people call a block.
func (b *Block) name() string {
	if b.index != 0 {
		return fmt.Sprintf("block %d", b.index)
	}
	n := b.bindings[0] // a block without users is gone
	switch {
	case n.qdisc.block != nil:
		return fmt.Sprintf("dev %s parent %s", n.qdisc.Dev.Name, classText(n.qdisc.Handle))
	case n.egress:
		return "dev " + n.qdisc.Dev.Name + " egress"
	}
	return "dev " + n.qdisc.Dev.Name + " ingress"
}

// BypassState is what decides whether a block's filters are asked.
type BypassState struct {
	Where string
	// Of the refined generation: instances that need software.
	UseSW int
	// Of the first: instances, and filters that are skip_sw and in hardware.
	Filters, SkipSW int
	WantsBypass     bool
	Bypassed        bool
}

// BypassReport tells the counts of every block, and the counts of the system:
// blocks that need software, and blocks that want the bypass.
func (s *System) BypassReport() (blocks []BypassState, needSW, wantBypass int) {
	for _, b := range s.all {
		blocks = append(blocks, BypassState{
			Where: b.name(), UseSW: b.useSWCount, Filters: b.filterCount, SkipSW: b.skipSWCount,
			WantsBypass: b.wantsBypass, Bypassed: s.bypassed(b),
		})
	}
	return blocks, s.needSW, s.wantBypass
}
