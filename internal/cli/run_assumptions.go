package cli

import (
	"fmt"
	"slices"
	"strings"

	"verdict/engine/vm"
	"verdict/tc"
)

// allAssumptions lists what the result depends on and nobody said: made-up
// interfaces, the guess about the host, and facts that no packet carries.
func (r *replay) allAssumptions() []string {
	list := append(r.rules.Assumptions(), r.assumptions...)
	uses := r.engine.Engine().Program().Uses
	if t := r.rules.Tables(); t != nil {
		u := t.Uses
		uses.SKUID = uses.SKUID || u.Owner
		uses.Fib = uses.Fib || u.Routes
		uses.Random = uses.Random || u.Random
		uses.CPU = uses.CPU || u.CPU
		uses.Socket = uses.Socket || u.Sockets
	}
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
	return append(list, unknownFacts(&uses, r.rules.HostGiven())...)
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
