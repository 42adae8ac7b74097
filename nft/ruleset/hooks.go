package ruleset

import (
	"fmt"
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
			return noChainType(f, b.Type)
		}
		if b.Hook != catalog.HookOutput {
			return refuse(syscall.EOPNOTSUPP, "chains of type route belong to the hook output")
		}
	case "nat":
		if !ip {
			return noChainType(f, b.Type)
		}
		if b.Hook == catalog.HookForward || b.Hook == catalog.HookInetIngress {
			return refuse(syscall.EOPNOTSUPP, "there is no nat at the hook %s", catalog.HookName(f, b.Hook))
		}
		if b.Priority <= natPriority {
			return refuse(syscall.EOPNOTSUPP, "nat needs a priority above %d", natPriority)
		}
	default:
		return noChainType(f, b.Type)
	}
	return checkHookDevices(f, b)
}

func noChainType(f catalog.Family, typ string) *refusal {
	r := refuse(syscall.ENOENT, "family %v has no chains of type %s", f, typ)
	r.message = fmt.Sprintf("Chain of type %q is not supported, perhaps kernel support is missing?", typ)
	return r
}

func checkHookDevices(f catalog.Family, b *BaseChain) *refusal {
	devices := f == catalog.FamilyNetdev || f == catalog.FamilyInet && b.Hook == catalog.HookInetIngress
	if !devices && len(b.Devices) > 0 {
		return refuse(syscall.EOPNOTSUPP, "the hook %s has no devices", catalog.HookName(f, b.Hook))
	}
	return checkDevices(b.Devices)
}
