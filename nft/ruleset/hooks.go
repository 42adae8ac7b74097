package ruleset

import (
	"syscall"

	"verdict/catalog"
)

// natPriority is the priority of connection tracking: nat chains come after.
const natPriority = -200

// checkHook checks type, hook, priority and devices of a base chain.
//
// Ref: nf_tables_api.c, nft_chain_parse_hook; nft_chain_filter.c, nft_chain_nat.c, nft_chain_route.c
func checkHook(f catalog.Family, b *BaseChain) *refusal {
	if catalog.HookName(f, b.Hook) == "" {
		return refuse(syscall.EOPNOTSUPP, "family %v has no hook %d", f, b.Hook)
	}
	ip := f == catalog.FamilyIP || f == catalog.FamilyIP6 || f == catalog.FamilyInet
	switch b.Type {
	case "filter":
	case "route":
		if !ip {
			return refuse(syscall.ENOENT, "family %v has no chains of type route", f)
		}
		if b.Hook != catalog.HookOutput {
			return refuse(syscall.EOPNOTSUPP, "chains of type route belong to the hook output")
		}
	case "nat":
		if !ip {
			return refuse(syscall.ENOENT, "family %v has no chains of type nat", f)
		}
		if b.Hook == catalog.HookForward || b.Hook == catalog.HookInetIngress {
			return refuse(syscall.EOPNOTSUPP, "there is no nat at the hook %s", catalog.HookName(f, b.Hook))
		}
		if b.Priority <= natPriority {
			return refuse(syscall.EOPNOTSUPP, "nat needs a priority above %d", natPriority)
		}
	default:
		return refuse(syscall.ENOENT, "no chain type %q", b.Type)
	}
	devices := f == catalog.FamilyNetdev || f == catalog.FamilyInet && b.Hook == catalog.HookInetIngress
	if !devices && len(b.Devices) > 0 {
		return refuse(syscall.EOPNOTSUPP, "the hook %s has no devices", catalog.HookName(f, b.Hook))
	}
	for i, d := range b.Devices {
		if len(missing([]string{d}, b.Devices[:i])) == 0 {
			return refuse(syscall.EEXIST, "device %q is named twice", d)
		}
	}
	return nil
}
