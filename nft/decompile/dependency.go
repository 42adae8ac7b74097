package decompile

import (
	"slices"

	"verdict/catalog"
)

// A compiler puts tests of protocols before the expressions that need them:
// `tcp dport 22` becomes `meta l4proto tcp` and a load. The listing leaves out
// such tests again, whether they were written or not, as long as reading the
// text back creates them.

// slot is the layer whose expressions make a test superfluous.
type slot uint8

const (
	slotLink slot = iota
	slotNetwork
	slotTransport
	slotICMP // tests of the ICMP type
	slots
)

func slotOf(base catalog.Base) slot {
	switch base {
	case catalog.BaseLink:
		return slotLink
	case catalog.BaseNetwork:
		return slotNetwork
	}
	return slotTransport
}

// dependency is a test that a later expression may make superfluous.
type dependency struct {
	statement int // its place among the rule's statements, -1: none
	protocol  *catalog.Protocol
	field     *catalog.Field // nil for meta keys
	meta      string
	value     uint64
}

type dependencies [slots]dependency

func (d *dependencies) reset() {
	for i := range d {
		d[i].statement = -1
	}
}

// drop removes the test of a slot from the rule.
func (r *rule) drop(l *layers, s slot) {
	if at := l.deps[s].statement; at >= 0 {
		r.out[at] = nil
		l.deps[s].statement = -1
	}
}

// dropForField removes the test that a header field implies.
func (r *rule) dropForField(l *layers, p *catalog.Protocol, f *catalog.Field) {
	s := slotOf(p.Base)
	if l.deps[s].statement >= 0 && l.impliedBy(s, p, f) {
		r.drop(l, s)
	}
	if icmp := &l.deps[slotICMP]; icmp.statement >= 0 && len(f.IcmpTypes) == 1 && uint64(f.IcmpTypes[0]) == icmp.value {
		r.drop(l, slotICMP)
	}
}

// dropForRaw removes the test that an unnamed load of a layer implies.
func (r *rule) dropForRaw(l *layers, base catalog.Base) {
	if base == catalog.BaseInner || base == catalog.BaseTunnel {
		return
	}
	s := slotOf(base)
	if l.deps[s].statement >= 0 && l.impliedBy(s, nil, nil) {
		r.drop(l, s)
	}
}

// restrictsFamily says that in this family a test of a protocol inside the
// network header also restricts the network protocol.
func (l *layers) restrictsFamily() bool {
	switch l.family {
	case catalog.FamilyInet, catalog.FamilyBridge, catalog.FamilyNetdev:
		return true
	}
	return false
}

// impliedBy reports whether the field p f (nil: an unnamed load) implies the
// test in its layer's slot.
func (l *layers) impliedBy(s slot, p *catalog.Protocol, f *catalog.Field) bool {
	dep := &l.deps[s]
	switch s {
	case slotTransport:
		if dep.field != nil && (dep.protocol == catalog.IP || dep.protocol == catalog.IP6) && l.restrictsFamily() {
			return false
		}
	case slotLink:
		if dep.protocol == catalog.VLAN {
			return false // `vlan type` is never added by itself
		}
		if dep.protocol == catalog.Ether {
			// `vlan id` adds `ether type 8021q` and no other type.
			return dep.value == 0x8100 && (p != catalog.VLAN || f != &p.Fields[p.Selector])
		}
	}
	return true
}

// remember stores a test of which protocol comes next.
func (l *layers) remember(s slot, dep dependency) { l.deps[s] = dep }

// dropForTransport removes the test of the network layer that a test of the
// transport protocol implies: one for the table's own family, or that for
// IPv4 before ICMP and for IPv6 before ICMPv6.
func (r *rule) dropForTransport(l *layers, number uint64) {
	dep := &l.deps[slotNetwork]
	if dep.statement < 0 {
		return
	}
	network := dep.network()
	if network == catalog.FamilyUnspec || network == l.family ||
		network == catalog.FamilyIP && number == 1 || network == catalog.FamilyIP6 && number == 58 {
		r.drop(l, slotNetwork)
	}
}

// network is the network protocol that a test asks for.
func (d *dependency) network() catalog.Family {
	switch {
	case d.meta == "nfproto":
		return catalog.Family(d.value)
	case d.meta == "protocol", d.field != nil && d.protocol.Base == catalog.BaseLink:
		switch d.value {
		case 0x0800:
			return catalog.FamilyIP
		case 0x86dd:
			return catalog.FamilyIP6
		}
		return 255
	}
	return catalog.FamilyUnspec
}

// compact closes the gaps that dropped statements left.
func (r *rule) compact() {
	r.out = slices.DeleteFunc(r.out, func(s statement) bool { return s == nil })
}
