package catalog

// HookNum is a hook's number within its family.
// Ref: include/uapi/linux/netfilter.h, enum nf_inet_hooks.
type HookNum uint8

// The hooks of ip, ip6, inet and bridge; ingress for inet is 5. ARP has input
// 0 and output 1; netdev has ingress 0 and egress 1.
const (
	HookPrerouting  HookNum = 0
	HookInput       HookNum = 1
	HookForward     HookNum = 2
	HookOutput      HookNum = 3
	HookPostrouting HookNum = 4
	HookInetIngress HookNum = 5

	HookARPInput  HookNum = 0
	HookARPOutput HookNum = 1

	HookNetdevIngress HookNum = 0
	HookNetdevEgress  HookNum = 1
)

var hookNames = map[Family][]string{
	FamilyIP:     {"prerouting", "input", "forward", "output", "postrouting"},
	FamilyIP6:    {"prerouting", "input", "forward", "output", "postrouting"},
	FamilyInet:   {"prerouting", "input", "forward", "output", "postrouting", "ingress"},
	FamilyBridge: {"prerouting", "input", "forward", "output", "postrouting"},
	FamilyARP:    {"input", "output"},
	FamilyNetdev: {"ingress", "egress"},
}

// HookNames lists the hooks of a family; the index is the hook number.
func HookNames(f Family) []string { return hookNames[f] }

// HookByName finds a hook of a family.
func HookByName(f Family, name string) (HookNum, bool) {
	for i, n := range hookNames[f] {
		if n == name {
			return HookNum(i), true
		}
	}
	return 0, false
}

// HookName is the name of a hook, or "" for numbers the family lacks.
func HookName(f Family, h HookNum) string {
	if names := hookNames[f]; int(h) < len(names) {
		return names[h]
	}
	return ""
}

// ChainTypes are the types of base chains.
var ChainTypes = []string{"filter", "nat", "route"}

// NamedPriority is a symbolic chain priority.
type NamedPriority struct {
	Name  string
	Value int
}

var (
	inetPriorities = []NamedPriority{
		{"raw", -300}, {"mangle", -150}, {"dstnat", -100}, {"filter", 0}, {"security", 50}, {"srcnat", 100},
	}
	bridgePriorities = []NamedPriority{{"dstnat", -300}, {"filter", -200}, {"out", 100}, {"srcnat", 300}}
	filterPriority   = []NamedPriority{{"filter", 0}}
)

// Priorities lists the symbolic priorities of a family in the order in which
// listings try them.
func Priorities(f Family) []NamedPriority {
	switch f {
	case FamilyIP, FamilyIP6, FamilyInet:
		return inetPriorities
	case FamilyBridge:
		return bridgePriorities
	}
	return filterPriority
}

// PriorityLegal reports whether a symbolic priority may be used at a hook:
// dstnat before, srcnat after the routing decision, out on output only.
func PriorityLegal(f Family, name, hook string) bool {
	switch {
	case name == "dstnat" && f == FamilyBridge:
		return hook == "prerouting"
	case name == "dstnat":
		return hook == "prerouting" || hook == "output"
	case name == "srcnat" && f == FamilyBridge:
		return hook == "postrouting"
	case name == "srcnat":
		return hook == "input" || hook == "postrouting"
	case name == "out":
		return hook == "output"
	case name == "raw", name == "mangle", name == "security":
		return f != FamilyARP && f != FamilyNetdev && f != FamilyBridge
	}
	return true
}
