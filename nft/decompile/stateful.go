package decompile

import (
	"verdict/nft/expr"
	"verdict/nft/syntax"
)

// defaultBurst is the burst of packets that a limit has if none is given.
const defaultBurst = 5

// stateful writes an expression that keeps state as it is now.
func (o *Options) stateful(e expr.Expr) statement {
	if o.State != nil {
		e = o.State(e)
	}
	return o.statefulAs(e, o.Stateless)
}

// statefulAs writes an expression that keeps state: in rules, in elements, and
// in the declarations of sets. Without state it shows no counts. It is nil for
// other expressions.
func (o *Options) statefulAs(e expr.Expr, stateless bool) statement {
	switch e := e.(type) {
	case *expr.Counter:
		if stateless {
			return &syntax.Counter{}
		}
		return &syntax.Counter{Given: true, Packets: e.Packets, Bytes: e.Bytes}
	case *expr.Limit:
		return limit(e)
	case *expr.Quota:
		return quota(e, stateless)
	case *expr.ConnLimit:
		return &syntax.ConnLimit{Over: e.Over, Count: e.Count}
	case *expr.Last:
		s := &syntax.Last{}
		switch {
		case stateless:
		case e.Set:
			s.Used = o.span(e.Msecs)
		default:
			s.Never = true
		}
		return s
	}
	return nil
}

func limit(e *expr.Limit) *syntax.Limit {
	return &syntax.Limit{
		Over: e.Over, ByBytes: e.Bytes, Rate: e.Rate, Unit: e.Unit, Burst: uint64(e.Burst),
		BurstGiven: !e.Bytes || e.Burst != 0,
	}
}

func quota(e *expr.Quota, stateless bool) *syntax.Quota {
	s := &syntax.Quota{Over: e.Over, Bytes: e.Bytes}
	if !stateless {
		s.Used = e.Consumed
	}
	return s
}
