package ruleset

import (
	"syscall"
)

// checkElement makes the kernel's checks of an element against its set, in
// the kernel's order, up to the timeouts.
//
// Ref: nf_tables_api.c, nft_add_set_elem, nft_setelem_parse_flags
func (s *Set) checkElement(el *Element) *refusal {
	end, all := el.Flags&ElemIntervalEnd != 0, el.Flags&ElemCatchAll != 0
	ranges := s.Flags&(SetConcat|SetInterval) == SetConcat|SetInterval
	isMap, hasData := s.Flags&SetMap != 0, el.Data != nil
	isObject, hasObject := s.Flags&SetObject != 0, el.Object != ""
	switch {
	case el.Flags&^(ElemIntervalEnd|ElemCatchAll) != 0:
		return refuse(syscall.EOPNOTSUPP, "element flags %#x", el.Flags)
	case end && (s.Flags&SetInterval == 0 || ranges):
		return refuse(syscall.EINVAL, "the end of an interval in set %q", s.Name)
	case end && all:
		return refuse(syscall.EINVAL, "the catch-all element cannot end an interval")
	case all == (len(el.Key) > 0):
		return refuse(syscall.EINVAL, "an element has a key or is the catch-all element")
	case isMap && !hasData && !end:
		return refuse(syscall.EINVAL, "an element of map %q needs data", s.Name)
	case !isMap && hasData:
		return refuse(syscall.EINVAL, "set %q is no map", s.Name)
	case isObject && !hasObject && !end:
		return refuse(syscall.EINVAL, "an element of map %q needs an object", s.Name)
	case !isObject && hasObject:
		return refuse(syscall.EINVAL, "set %q is no map of objects", s.Name)
	case len(el.KeyEnd) > 0 && (!ranges || all || end):
		return refuse(syscall.EINVAL, "set %q has no ranges with two keys", s.Name)
	case end && (hasData || hasObject || el.HasTimeout || el.Expires != 0 || len(el.Exprs) > 0 || el.Comment != "" || el.OpenInterval):
		return refuse(syscall.EINVAL, "the end of an interval carries nothing")
	}
	return nil
}

// times gives an element's lifetime and expiration in nanoseconds.
func (s *Set) times(el *Element, now int64) (timeout, expires int64, r *refusal) {
	timed := s.Flags&SetTimeout != 0
	ms := s.Timeout
	if el.HasTimeout {
		if ms = el.Timeout; !timed {
			return 0, 0, refuse(syscall.EINVAL, "set %q has no timeouts", s.Name)
		}
	}
	switch {
	case el.Flags&ElemIntervalEnd != 0:
		return 0, 0, nil
	case !timed && el.Expires != 0:
		return 0, 0, refuse(syscall.EINVAL, "set %q has no timeouts", s.Name)
	case !timed:
		return 0, 0, nil
	case ms > maxTimeout:
		return 0, 0, refuse(syscall.ERANGE, "timeout of %d ms", ms)
	case ms == 0 && el.Expires != 0:
		return 0, 0, refuse(syscall.EOPNOTSUPP, "an expiration without timeout")
	case el.Expires > ms:
		return 0, 0, refuse(syscall.ERANGE, "the expiration is beyond the timeout")
	}
	ms = wholeTicks(ms)
	left := ms
	if el.Expires != 0 {
		left = min(ms, wholeTicks(el.Expires))
	}
	return int64(ms) * millisecond, now + int64(left)*millisecond, nil
}

// checkKey checks the lengths of an element's key.
func (s *Set) checkKey(el *Element) *refusal {
	if el.Flags&ElemCatchAll != 0 {
		return nil
	}
	if len(el.Key) != int(s.KeyLen) || len(el.KeyEnd) > 0 && len(el.KeyEnd) != int(s.KeyLen) {
		return refuse(syscall.EINVAL, "key of %d bytes in set %q, whose keys have %d", len(el.Key), s.Name, s.KeyLen)
	}
	return nil
}

// checkExprs checks the expressions of an element against those of its set.
func (a *adder) checkExprs(el *Element) error {
	if len(el.Exprs) == 0 {
		return nil
	}
	want := a.set.Exprs
	switch {
	case len(el.Exprs) > maxSetExprs || len(want) > 0 && len(el.Exprs) > len(want):
		return refuse(syscall.E2BIG, "%d expressions in an element", len(el.Exprs))
	case len(want) > 0 && len(el.Exprs) < len(want):
		return refuse(syscall.EOPNOTSUPP, "an element has all expressions of its set")
	}
	for i, e := range el.Exprs {
		if len(want) > 0 && e.Kind() != want[i].Kind() {
			return refuse(syscall.EOPNOTSUPP, "%s in an element of set %q, whose elements have %s", e.Kind(), a.set.Name, want[i].Kind())
		}
	}
	return checkSetExprs(a.place, el.Exprs)
}
