package cli

import (
	"fmt"
	"slices"
	"strings"

	"verdict"
	"verdict/catalog"
	"verdict/engine/vm"
	"verdict/iptables"
	"verdict/tc"
)

// allAssumptions lists what the result depends on and nobody said: made-up
// interfaces, the guess about the host, and facts that no packet carries.
func (r *replay) allAssumptions() []string {
	list := append(r.rules.Assumptions(), r.assumptions...)
	uses := factsRead(r.rules, r.engine)
	if r.interfaceAssumed && r.unplaced > 0 && uses.Interfaces {
		list = append(list, fmt.Sprintf("all packets come and go through %q: the capture names no interface and rules ask for it; --interface NAME says otherwise", r.options.Interface))
	}
	if r.options.TC != nil {
		if slices.ContainsFunc(r.options.TC.Devices(), (*tc.Device).Transmits) {
			list = append(list, "a routed packet meets tc at egress with the link addresses that it came with")
		}
		if len(r.options.TC.Assumed) > 0 {
			list = append(list, "interfaces that only tc commands name: "+strings.Join(r.options.TC.Assumed, ", "))
		}
	}
	if r.forwards() && uses.Interfaces && guessesOutput(r.rules, &r.options) {
		list = append(list, leavesUnknown)
	}
	return append(list, unknownFacts(&uses, r.rules.HostGiven())...)
}

// leavesUnknown is what holds where packets are forwarded without routes.
const leavesUnknown = "where forwarded packets leave is not known: through the only other interface, or through none that oif and oifname match; --host FILE tells the routes"

func guessesOutput(rules *verdict.Ruleset, o *verdict.EngineOptions) bool {
	return !rules.HostGiven() && !o.KnownRoutes && !o.Replies
}

// forwards tells whether packets met a chain behind the routing of forwarded
// ones.
func (r *replay) forwards() bool {
	for name := range r.hooks {
		if name.hook == catalog.HookForward && (name.family == catalog.FamilyIP || name.family == catalog.FamilyIP6) {
			return true
		}
	}
	return false
}

// factsRead says which outside facts the rules and the tables of iptables read.
func factsRead(rules *verdict.Ruleset, e *verdict.Engine) vm.Uses {
	uses := e.Program().Uses
	addTableFacts(&uses, rules.Tables())
	return uses
}

// addTableFacts adds what tables of iptables read, if there are any.
func addTableFacts(uses *vm.Uses, t *iptables.Program) {
	if t == nil {
		return
	}
	uses.SKUID = uses.SKUID || t.Uses.Owner
	uses.Fib = uses.Fib || t.Uses.Routes
	uses.Random = uses.Random || t.Uses.Random
	uses.CPU = uses.CPU || t.Uses.CPU
	uses.Socket = uses.Socket || t.Uses.Sockets
}

// unknownFacts says for each outside fact that rules read what was taken for
// it. hostKnown says that a host file gave interfaces and routes.
func unknownFacts(u *vm.Uses, hostKnown bool) []string {
	var list []string
	add := func(used bool, text string) {
		if used {
			list = append(list, text)
		}
	}
	add(u.SKUID, "no packet has an owning user or group: meta skuid and skgid match nothing")
	add(u.Socket, "no socket is open: socket expressions match nothing")
	add(u.Fib && !hostKnown, "routes are not known beyond the host's own addresses (fib); --host FILE tells them")
	add(u.RT, "no route data besides the next hop is known (rt classid, rt mtu)")
	add(u.CPU, "every packet is handled by processor 0 (meta cpu)")
	add(u.Random, "random numbers are drawn from --seed")
	add(u.Hash, "the kernel's secret seed of symhash is not known; --seed stands for it")
	add(u.OSF, "no operating system is recognised (osf)")
	add(u.XFRM, "no packet came through IPsec")
	add(u.Cgroup, "no packet belongs to a cgroup")
	add(len(u.Helpers) > 0, "no connection is expected by the helpers "+strings.Join(u.Helpers, ", ")+" (ct helper): ftp and tftp are known")
	return list
}
