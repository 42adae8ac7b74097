package netlink

import (
	"verdict/nft/expr"
)

// Expressions with state, and those that refer to it: counter, limit, quota,
// connlimit, last, objref, dynset; and inner, which holds another one.

func (w *encoder) counting(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Counter:
		w.counter(e)
	case *expr.Limit:
		w.limit(e)
	case *expr.Quota:
		w.quota(e)
	case *expr.ConnLimit:
		w.connLimit(e)
	case *expr.Last:
		w.u32(1, bit(e.Set))
		w.u64(2, e.Msecs)
	case *expr.Objref:
		if e.IsMap {
			w.reg(3, e.Src)
			w.str(4, e.Set)
			w.setID(5, e.SetID)
		} else {
			w.u32(1, uint32(e.Type))
			w.str(2, e.Name)
		}
	default:
		return false
	}
	return true
}

func (w *builder) counter(e *expr.Counter) {
	w.u64(1, e.Bytes)
	w.u64(2, e.Packets)
}

func readCounter(f *fields) expr.Expr {
	f.skip(3) // padding
	return &expr.Counter{Bytes: f.u64(1), Packets: f.u64(2)}
}

func (w *builder) limit(e *expr.Limit) {
	w.u64(1, e.Rate)
	w.u64(2, e.Unit)
	w.u32(3, e.Burst)
	w.u32(4, bit(e.Bytes))
	w.u32(5, bit(e.Over))
}

func readLimit(f *fields) expr.Expr {
	f.skip(6) // padding
	return &expr.Limit{Rate: f.u64(1), Unit: f.u64(2), Burst: f.u32(3), Bytes: f.flag(4), Over: f.flag(5)}
}

func (w *builder) quota(e *expr.Quota) {
	w.u64(1, e.Bytes)
	w.u32(2, bit(e.Over))
	if e.Consumed != 0 {
		w.u64(4, e.Consumed)
	}
}

// The second flag of a quota says that its owner was told that it is used up.
// Ref: nft_quota.c, NFT_QUOTA_F_DEPLETED.
const quotaDepleted = 2

func readQuota(f *fields) expr.Expr {
	f.skip(3) // padding
	flags := f.small(2, 1|quotaDepleted)
	return &expr.Quota{Bytes: f.u64(1), Over: flags&1 != 0, Consumed: f.u64(4)}
}

func (w *builder) connLimit(e *expr.ConnLimit) {
	w.u32(1, e.Count)
	w.u32(2, bit(e.Over))
}

func readConnLimit(f *fields) expr.Expr { return &expr.ConnLimit{Count: f.u32(1), Over: f.flag(2)} }

func readLast(f *fields) expr.Expr {
	f.skip(3) // padding
	return &expr.Last{Set: f.flag(1), Msecs: f.u64(2)}
}

func readObjref(f *fields) expr.Expr {
	e := &expr.Objref{Type: expr.ObjectType(f.u32(1)), Name: f.str(2), Set: f.str(4), SetID: f.u32(5)}
	e.Src, e.IsMap = f.present(3)
	return e
}

// Numbers of dynset.
const (
	dynsetName    = 1
	dynsetID      = 2
	dynsetOp      = 3
	dynsetKey     = 4
	dynsetData    = 5
	dynsetTimeout = 6
	dynsetExpr    = 7
	dynsetPad     = 8
	dynsetFlags   = 9
	dynsetExprs   = 10

	dynsetInvert  = 1
	dynsetHasExpr = 2
)

func (w *encoder) dynset(e *expr.Dynset) error {
	w.str(dynsetName, e.Set)
	w.setID(dynsetID, e.SetID)
	w.u32(dynsetOp, uint32(e.Op))
	w.reg(dynsetKey, e.Key)
	w.regIf(dynsetData, e.Data, e.HasData)
	if e.Timeout != 0 {
		w.u64(dynsetTimeout, e.Timeout)
	}
	flags := uint32(0)
	if e.Invert {
		flags |= dynsetInvert
	}
	if len(e.Exprs) > 1 {
		flags |= dynsetHasExpr // without it the kernel refuses a list
	}
	if flags != 0 {
		w.u32(dynsetFlags, flags)
	}
	return w.state(dynsetExpr, dynsetExprs, e.Exprs)
}

func readDynset(f *fields) expr.Expr {
	f.skip(dynsetPad)
	e := &expr.Dynset{
		Set: f.str(dynsetName), SetID: f.u32(dynsetID), Op: expr.DynsetOp(f.small(dynsetOp, uint32(expr.DynsetDelete))),
		Key: f.reg(dynsetKey), Timeout: f.u64(dynsetTimeout),
	}
	e.Data, e.HasData = f.present(dynsetData)
	e.Invert = f.small(dynsetFlags, dynsetInvert|dynsetHasExpr)&dynsetInvert != 0
	list, err := f.readState(dynsetExpr, dynsetExprs)
	if err != nil {
		return nil
	}
	e.Exprs = list
	return e
}

// Numbers of inner.
const (
	innerNum     = 1
	innerType    = 2
	innerFlags   = 3
	innerHdrSize = 4
	innerExpr    = 5
)

func (w *encoder) inner(e *expr.Inner) error {
	w.u32(innerNum, 0)
	w.u32(innerType, e.Type)
	w.u32(innerFlags, e.Flags)
	w.u32(innerHdrSize, e.HdrSize)
	mark := w.begin(innerExpr)
	if err := w.expression(e.Expr); err != nil {
		return err
	}
	w.end(mark)
	return w.err
}

func readInner(f *fields) expr.Expr {
	f.small(innerNum, 0)
	e := &expr.Inner{Type: f.u32(innerType), Flags: f.u32(innerFlags), HdrSize: f.u32(innerHdrSize)}
	inside, err := readExpression(f.take(innerExpr), f.depth+1)
	if err != nil {
		return nil
	}
	e.Expr = inside
	return e
}
