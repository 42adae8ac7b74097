package ruleset

import (
	"syscall"

	"verdict/catalog"
	"verdict/nft/expr"
)

// hookMask is a set of hooks, one bit per hook number.
type hookMask uint16

const (
	atPrerouting  hookMask = 1 << catalog.HookPrerouting
	atInput       hookMask = 1 << catalog.HookInput
	atForward     hookMask = 1 << catalog.HookForward
	atOutput      hookMask = 1 << catalog.HookOutput
	atPostrouting hookMask = 1 << catalog.HookPostrouting
	atInetIngress hookMask = 1 << catalog.HookInetIngress

	atNetdevIngress hookMask = 1 << catalog.HookNetdevIngress
	atNetdevEgress  hookMask = 1 << catalog.HookNetdevEgress

	atAny hookMask = 1<<16 - 1
)

// checkContext checks that an expression may run in the base chains from
// which its rule is reached.
//
// Ref: the validate functions of nft_*.c
func checkContext(e expr.Expr, f catalog.Family, base *BaseChain) *refusal {
	needs, natChain := hooksOf(e, f)
	if natChain && base.Type != "nat" {
		return refuse(syscall.EOPNOTSUPP, "%s belongs into chains of type nat", e.Kind())
	}
	if needs&(1<<base.Hook) == 0 {
		return refuse(syscall.EOPNOTSUPP, "%s does not work at the hook %s", e.Kind(), catalog.HookName(f, base.Hook))
	}
	return nil
}

// hooksOf gives the hooks at which an expression works, and whether it needs
// a nat chain.
func hooksOf(e expr.Expr, f catalog.Family) (hooks hookMask, nat bool) {
	switch x := any(e).(type) {
	case *expr.NAT:
		if x.Destination {
			return atPrerouting | atOutput, true
		}
		return atPostrouting | atInput, true
	case *expr.Masq:
		return atPostrouting, true
	case *expr.Redir:
		return atPrerouting | atOutput, true
	case *expr.Reject:
		return rejectHooks(f), false
	case *expr.TProxy:
		return atPrerouting, false
	case *expr.Synproxy:
		return atInput | atForward, false
	case *expr.Objref:
		if x.Type == expr.ObjectSynproxy {
			return atInput | atForward, false
		}
	case *expr.FlowOffload:
		return atForward, false
	case *expr.Socket:
		return atPrerouting | atInput | atOutput, false
	case *expr.OSF:
		return atPrerouting | atInput | atForward, false
	case *expr.XFRM:
		if x.Out {
			return atForward | atOutput | atPostrouting, false
		}
		return atPrerouting | atInput | atForward, false
	case *expr.Fib:
		return fibHooks(x, f), false
	case *expr.RT:
		if x.Key != nil && x.Key.Name == "tcpmss" {
			return atForward | atOutput | atPostrouting, false
		}
	case *expr.Meta:
		return metaHooks(x, f), false
	case *expr.Queue:
		if f != catalog.FamilyNetdev {
			return atPrerouting | atInput | atForward | atOutput | atPostrouting, false
		}
	}
	return atAny, false
}

// Ref: nft_reject.c, nft_reject_validate; nft_reject_bridge.c, nft_reject_netdev.c
func rejectHooks(f catalog.Family) hookMask {
	switch f {
	case catalog.FamilyNetdev:
		return atNetdevIngress
	case catalog.FamilyBridge:
		return atPrerouting | atInput
	case catalog.FamilyInet:
		return atPrerouting | atInput | atForward | atOutput | atInetIngress
	}
	return atPrerouting | atInput | atForward | atOutput
}

// Ref: nft_fib.c, nft_fib_validate; nft_fib_netdev.c, nft_fib_netdev_validate
func fibHooks(x *expr.Fib, f catalog.Family) hookMask {
	switch {
	case f == catalog.FamilyNetdev && (x.Result != expr.FibResultType || x.Flags&expr.FibIif != 0):
		return atNetdevIngress
	case f == catalog.FamilyNetdev && x.Flags&expr.FibOif != 0:
		return atNetdevEgress
	case f == catalog.FamilyNetdev:
		return atNetdevIngress | atNetdevEgress
	case x.Result != expr.FibResultType, x.Flags&expr.FibIif != 0:
		return atPrerouting | atInput | atForward
	case x.Flags&expr.FibOif != 0:
		return atOutput | atPostrouting | atForward
	}
	return atPrerouting | atInput | atForward | atOutput | atPostrouting
}

// Ref: nft_meta.c, nft_meta_get_validate, nft_meta_set_validate
func metaHooks(x *expr.Meta, f catalog.Family) hookMask {
	if x.Key == nil {
		return atAny
	}
	switch {
	case x.Set && x.Key.Name == "pkttype" && f == catalog.FamilyNetdev:
		return atNetdevIngress
	case x.Set && x.Key.Name == "pkttype":
		return atPrerouting
	case x.Set && x.Key.Name == "broute":
		return atPrerouting
	case !x.Set && x.Key.Name == "ipsec" && f == catalog.FamilyNetdev:
		return atNetdevIngress
	case !x.Set && x.Key.Name == "ipsec":
		return atPrerouting | atInput | atForward
	}
	return atAny
}
