package ruleset

import (
	"syscall"

	"verdict/nft/expr"
)

const (
	maxKeyLen   = 64 // bytes, as many as the registers hold
	maxDataLen  = 64
	maxSetExprs = 2
	maxObject   = expr.ObjectSynproxy
)

// checkSetDef makes the kernel's checks of a set's definition that need
// nothing else, in the kernel's order.
//
// Ref: nf_tables_api.c, nf_tables_newset
func checkSetDef(d *SetDef) *refusal {
	has := func(f uint32) bool { return d.Flags&f == f }
	const known = SetAnonymous | SetConstant | SetInterval | SetMap | SetTimeout | SetEval | SetObject | SetConcat | SetExpr
	switch {
	case d.KeyLen == 0 || d.KeyLen > maxKeyLen:
		return refuse(syscall.EINVAL, "key of %d bytes, 1 to %d are possible", d.KeyLen, maxKeyLen)
	case d.Flags&^known != 0:
		return refuse(syscall.EOPNOTSUPP, "set flags %#x", d.Flags&^known)
	case has(SetMap | SetObject):
		return refuse(syscall.EOPNOTSUPP, "a map of objects has no data of its own")
	case has(SetEval | SetObject):
		return refuse(syscall.EOPNOTSUPP, "packets cannot add to a map of objects")
	case has(SetAnonymous|SetTimeout) && !has(SetEval):
		return refuse(syscall.EOPNOTSUPP, "an anonymous set has no timeouts")
	case has(SetConstant | SetTimeout):
		return refuse(syscall.EOPNOTSUPP, "a constant set has no timeouts")
	case d.DataType != 0 && !has(SetMap):
		return refuse(syscall.EINVAL, "data without the flag map")
	case d.DataType == 0 && d.DataLen == 0 && has(SetMap):
		return refuse(syscall.EINVAL, "a map without a data type")
	case has(SetMap) && d.DataType != TypeVerdict && (d.DataLen == 0 || d.DataLen > maxDataLen):
		return refuse(syscall.EINVAL, "data of %d bytes, 1 to %d are possible", d.DataLen, maxDataLen)
	case d.ObjType != 0 && !has(SetObject), d.ObjType == 0 && has(SetObject):
		return refuse(syscall.EINVAL, "the object type and the flag object need each other")
	case d.ObjType > maxObject:
		return refuse(syscall.EOPNOTSUPP, "object type %d", d.ObjType)
	case !has(SetTimeout) && (d.Timeout != 0 || d.GC != 0):
		return refuse(syscall.EINVAL, "times without the flag timeout")
	case has(SetAnonymous) && (d.Timeout != 0 || d.GC != 0):
		return refuse(syscall.EOPNOTSUPP, "an anonymous set has no timeouts")
	case d.Timeout > maxTimeout:
		return refuse(syscall.ERANGE, "timeout of %d ms", d.Timeout)
	case len(d.Exprs) > maxSetExprs:
		return refuse(syscall.E2BIG, "a set has at most %d expressions", maxSetExprs)
	}
	return nil
}

// maxTimeout is the longest timeout in milliseconds that still counts in
// nanoseconds, some 292 years.
const maxTimeout = (1<<63 - 1) / millisecond

// checkSetExprs checks the expressions that every element gets.
//
// Ref: nf_tables_api.c, nft_set_elem_expr_alloc
func checkSetExprs(place expr.Place, exprs []expr.Expr) error {
	c := expr.Checker{Place: place}
	for _, e := range exprs {
		if !stateful(e) {
			return refuse(syscall.EOPNOTSUPP, "%s has no state to keep in elements", e.Kind())
		}
		if err := e.Check(&c); err != nil {
			return err
		}
	}
	return nil
}

// stateful tells whether an expression may be part of an element.
//
// Ref: nf_tables.h, NFT_EXPR_STATEFUL
func stateful(e expr.Expr) bool {
	switch any(e).(type) {
	case *expr.Counter, *expr.Quota, *expr.Limit, *expr.ConnLimit, *expr.Last:
		return true
	}
	return false
}
