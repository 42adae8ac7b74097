package ruleset

import (
	"syscall"

	"verdict/catalog"
	"verdict/nft/expr"
)

// checkObject makes the kernel's checks of an object's definition.
//
// Ref: nft_counter.c, nft_quota.c, nft_limit.c, nft_connlimit.c, nft_ct.c, nft_synproxy.c, nft_tunnel.c
func (tx *transaction) checkObject(t *Table, o *Object) error {
	var e expr.Expr
	given := false
	switch o.Type {
	case expr.ObjectCounter:
		if o.Counter == nil {
			o.Counter = &expr.Counter{}
		}
		given = true
	case expr.ObjectQuota:
		if given = o.Quota != nil; given {
			e, _ = any(o.Quota).(expr.Expr)
		}
	case expr.ObjectLimit:
		if given = o.Limit != nil; given {
			e, _ = any(o.Limit).(expr.Expr)
		}
	case expr.ObjectConnLimit:
		given = o.ConnLimit != nil
	case expr.ObjectSynproxy:
		if given = o.Synproxy != nil; given {
			e, _ = any(o.Synproxy).(expr.Expr)
		}
	case expr.ObjectSecmark:
		given = o.Secmark != ""
	case expr.ObjectCTHelper:
		given = o.Helper != nil
	case expr.ObjectCTTimeout:
		given = o.TimeoutPol != nil
	case expr.ObjectCTExpectation:
		given = o.Expectation != nil
	case expr.ObjectTunnel:
		given = o.Tunnel != nil
	default:
		return refuse(syscall.EOPNOTSUPP, "object type %d", o.Type)
	}
	if !given {
		return refuse(syscall.EINVAL, "an object of type %d without its definition", o.Type)
	}
	if e == nil {
		return nil
	}
	c := expr.Checker{Place: tx.place(t)}
	return e.Check(&c)
}

func hasFlowtables(f catalog.Family) bool {
	return f == catalog.FamilyIP || f == catalog.FamilyIP6 || f == catalog.FamilyInet
}

func checkDevices(devices []string) *refusal {
	for i, d := range devices {
		if len(missing([]string{d}, devices[:i])) == 0 {
			return refuse(syscall.EEXIST, "device %q is named twice", d)
		}
	}
	return nil
}
