package engine

import (
	"cmp"
	"math"
	"slices"

	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/iptables"
)

// The priorities of what the kernel itself does at the hooks.
// Ref: include/uapi/linux/netfilter_ipv4.h, enum nf_ip_hook_priorities.
const (
	priorityDefrag  = -400
	priorityTrack   = -200
	priorityDstNAT  = -100
	prioritySrcNAT  = 100
	priorityConfirm = math.MaxInt32
)

// stepKind says what a step of a hook does.
type stepKind uint8

const (
	stepChain stepKind = iota
	stepDefrag
	stepTrack
	stepNAT
	stepConfirm
	stepTable
)

// step is one function registered at a hook.
type step struct {
	kind     stepKind
	priority int32
	base     *vm.Base
	table    *iptables.Base // stepTable
	source   bool           // stepNAT: source manipulation
	order    int            // of registration; of equal priorities the later runs first
}

// hookKey names a list of steps. Device is for netdev and inet ingress only.
type hookKey struct {
	family catalog.Family // ip, ip6, arp, bridge, netdev
	hook   catalog.HookNum
}

// hookList is what runs at a hook, in order.
type hookList struct {
	steps []step
	nat   []*vm.Base // nat chains by priority, run by the NAT step
	// natTables are the built-in chains of the table nat, which that runs too.
	natTables []*iptables.Base
}

// hookTable holds the lists of all hooks. Lists of the inet family are merged
// into those of ip and ip6.
type hookTable struct {
	// The lists of the IP hooks, by family (0 ip, 1 ip6) and hook number.
	ip      [2][5]*hookList
	arp     [2]*hookList
	bridge  [5]*hookList
	ingress []*vm.Base // netdev ingress chains and inet ingress, by priority
	egress  []*vm.Base
	anyNAT  [2]bool
	// natOrder is when the first nat chain of a family was registered.
	natOrder [2]int
	tracks   [2]bool
}

// buildHooks orders the base chains of a program, and beside them the tables of
// iptables, nil if there are none. Base chains come sorted by priority, of
// equals the newest first.
func buildHooks(p *vm.Program, tables *iptables.Program) *hookTable {
	t := &hookTable{}
	t.tracks = [2]bool{p.NeedsCT, p.NeedsCT6}
	for i := range t.ip {
		for h := range t.ip[i] {
			t.ip[i][h] = &hookList{}
		}
	}
	for i := range t.arp {
		t.arp[i] = &hookList{}
	}
	for i := range t.bridge {
		t.bridge[i] = &hookList{}
	}
	for _, b := range p.Bases {
		t.add(b)
	}
	if tables != nil {
		t.addTables(tables)
	}
	for i, tracks := range t.tracks {
		if tracks {
			t.addTracking(i, p.CTOrder[i])
		}
	}
	return t
}

func (t *hookTable) add(b *vm.Base) {
	switch b.Family {
	case catalog.FamilyIP:
		t.addIP(0, b)
	case catalog.FamilyIP6:
		t.addIP(1, b)
	case catalog.FamilyInet:
		if b.Hook == catalog.HookInetIngress {
			t.ingress = append(t.ingress, b)
			return
		}
		t.addIP(0, b)
		t.addIP(1, b)
	case catalog.FamilyARP:
		t.arp[b.Hook&1].chain(b)
	case catalog.FamilyBridge:
		if int(b.Hook) < len(t.bridge) {
			t.bridge[b.Hook].chain(b)
		}
	case catalog.FamilyNetdev:
		if b.Hook == catalog.HookNetdevEgress {
			t.egress = append(t.egress, b)
			return
		}
		t.ingress = append(t.ingress, b)
	}
}

func (t *hookTable) addIP(i int, b *vm.Base) {
	if int(b.Hook) >= len(t.ip[i]) {
		return
	}
	if b.NAT {
		t.ip[i][b.Hook].nat = append(t.ip[i][b.Hook].nat, b)
		if !t.anyNAT[i] || b.Order < t.natOrder[i] {
			t.natOrder[i] = b.Order
		}
		t.anyNAT[i] = true
		return
	}
	t.ip[i][b.Hook].chain(b)
}

func (l *hookList) chain(b *vm.Base) {
	l.steps = append(l.steps, step{kind: stepChain, priority: b.Priority, base: b, order: 2 * b.Order})
}

// addTracking registers defragmentation, connection tracking and, where nat chains exist,
// their dispatcher, in a family's hooks. The dispatcher is registered with the
// first nat chain.
// Ref: nf_conntrack_proto.c; nf_nat_core.c, nf_nat_register_fn.
func (t *hookTable) addTracking(i, after int) {
	lists := &t.ip[i]
	order := 2*after - 1 // between chains, whose orders are even
	for _, h := range []catalog.HookNum{catalog.HookPrerouting, catalog.HookOutput} {
		lists[h].add(step{kind: stepDefrag, priority: priorityDefrag, order: order})
		lists[h].add(step{kind: stepTrack, priority: priorityTrack, order: order})
		if t.anyNAT[i] {
			lists[h].add(step{kind: stepNAT, priority: priorityDstNAT, order: 2 * t.natOrder[i]})
		}
	}
	for _, h := range []catalog.HookNum{catalog.HookPostrouting, catalog.HookInput} {
		if t.anyNAT[i] {
			lists[h].add(step{kind: stepNAT, priority: prioritySrcNAT, source: true, order: 2 * t.natOrder[i]})
		}
		lists[h].add(step{kind: stepConfirm, priority: priorityConfirm, order: order})
	}
}

// add puts a step of the kernel itself into place.
// Ref: core.c, nf_hook_entries_grow.
func (l *hookList) add(s step) {
	l.steps = append(l.steps, s)
	slices.SortStableFunc(l.steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.order, a.order))
	})
}
