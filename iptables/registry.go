package iptables

import (
	"slices"

	"verdict/catalog"
)

// extension describes a match or target: how to make one, its options, and
// under which conditions the kernel takes it.
type extension struct {
	name     string
	family   catalog.Family // FamilyUnspec: both
	match    func(catalog.Family) Match
	target   func(catalog.Family) Target
	options  []option
	protocol []uint8 // the rule must ask for one of these protocols
	tables   []string
	hooks    uint8 // bits of the hooks it may be reached from, 0: all
	// finish looks at the whole once all options are read; the text is what
	// is wrong, "" if nothing is.
	finish func(x any, r *Rule, f catalog.Family) string
}

// finishing adapts a check of an extension's own type.
func finishing[T any](check func(x *T, r *Rule, f catalog.Family) string) func(any, *Rule, catalog.Family) string {
	return func(x any, r *Rule, f catalog.Family) string { return check(x.(*T), r, f) }
}

// made makes a constructor of a match.
func made[T any, M interface {
	*T
	Match
}]() func(catalog.Family) Match {
	return func(catalog.Family) Match { return M(new(T)) }
}

// madeTarget makes a constructor of a target.
func madeTarget[T any, M interface {
	*T
	Target
}]() func(catalog.Family) Target {
	return func(catalog.Family) Target { return M(new(T)) }
}

// Bits of hooks.
const (
	atPrerouting  = 1 << catalog.HookPrerouting
	atInput       = 1 << catalog.HookInput
	atForward     = 1 << catalog.HookForward
	atOutput      = 1 << catalog.HookOutput
	atPostrouting = 1 << catalog.HookPostrouting
)

// extensions holds all that are known; filled by the files of the extensions.
var extensions struct{ matches, targets []*extension }

func registerMatch(list ...*extension)  { extensions.matches = append(extensions.matches, list...) }
func registerTarget(list ...*extension) { extensions.targets = append(extensions.targets, list...) }

func matchByName(name string, f catalog.Family) *extension {
	return find(extensions.matches, name, f)
}

func targetByName(name string, f catalog.Family) *extension {
	return find(extensions.targets, name, f)
}

func find(list []*extension, name string, f catalog.Family) *extension {
	for _, e := range list {
		if e.name == name && (e.family == catalog.FamilyUnspec || e.family == f) {
			return e
		}
	}
	return nil
}

// Matches and Targets list the names of what is supported for a family,
// sorted.
func Matches(f catalog.Family) []string { return names(extensions.matches, f) }

// Targets lists the targets, see Matches.
func Targets(f catalog.Family) []string { return names(extensions.targets, f) }

func names(list []*extension, f catalog.Family) []string {
	var out []string
	for _, e := range list {
		if e.family == catalog.FamilyUnspec || e.family == f {
			out = append(out, e.name)
		}
	}
	slices.Sort(out)
	return out
}

// refusedMatches and refusedTargets are extensions of iptables that this
// package knows to exist and does not carry out; the text says why.
var (
	refusedMatches = map[string]string{
		"bpf":       "programs of classic BPF are not run",
		"cgroup":    "no packet's control group is known",
		"l2tp":      "L2TP headers are not read",
		"ipvs":      "no IPVS service is known",
		"osf":       "operating systems are not recognised",
		"rateest":   "no rate estimator runs",
		"quota2":    "it belongs to no kernel of Linux",
		"eui64":     "interface identifiers are not compared",
		"srh":       "segment routing headers are not read",
		"policy":    "IPsec policies are not known",
		"set":       "sets of ipset are not read",
		"time":      "times of day and dates are not compared",
		"udplite":   "iptables has no such match",
		"nfqueue":   "it is a target",
		"connlabel": "labels are not read",
	}
	refusedTargets = map[string]string{
		"SET": "sets of ipset are not read", "AUDIT": "there is no audit log", "HMARK": "its hash is not computed", "IDLETIMER": "no timers run", "LED": "there are no lights",
		"RATEEST": "no rate estimator runs", "CLUSTERIP": "no cluster is known", "SECMARK": "there are no security labels",
		"CONNSECMARK": "there are no security labels", "SYNPROXY": "connections are not proxied", "DNPT": "prefix translation is not done", "SNPT": "prefix translation is not done",
	}
)
