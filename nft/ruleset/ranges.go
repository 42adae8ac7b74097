package ruleset

import (
	"bytes"
	"slices"
)

// Range is the keys from one to another, both included. Keys of concatenations
// are ranges in each field.
type Range struct{ From, To []byte }

// Ranges lists the elements that a set has in this snapshot as ranges of keys,
// without their data. ok is false for sets that have more than a number of
// them, and for those whose elements packets or time may change, or that do
// more than to be there: stateful expressions, objects, catch-all elements.
// Cost: linear in the elements, up to a few times the limit.
func (s *Set) Ranges(limit int) (list []Range, ok bool) {
	const changes = SetEval | SetTimeout | SetExpr | SetObject
	if s.Flags&changes != 0 || len(s.Exprs) > 0 || s.Elements == nil {
		return nil, false
	}
	var ends []rangeEnd
	for x := range s.Elements.Entries() {
		if len(list)+len(ends) > 4*limit || uint32(x.Flags)&ElemCatchAll != 0 {
			return nil, false
		}
		if p := PayloadOf(x); x.Timeout() != 0 || (p != nil && len(p.Exprs) > 0) {
			return nil, false
		}
		key := []byte(x.Key())
		switch {
		case x.HasEnd():
			list = append(list, Range{key, []byte(x.KeyEnd())})
		case s.Flags&SetInterval != 0 && s.Flags&SetConcat == 0:
			ends = append(ends, rangeEnd{key, x.IsEnd()})
		default:
			list = append(list, Range{key, key})
		}
	}
	closed, ok := closeRanges(ends)
	list = append(list, closed...)
	return list, ok && len(list) <= limit
}

// rangeEnd is an element of an interval set of one field: the first key of a
// range, or the first behind one.
type rangeEnd struct {
	key   []byte
	isEnd bool
}

// closeRanges pairs the ends. A range without an end reaches to the last key.
func closeRanges(ends []rangeEnd) (list []Range, ok bool) {
	slices.SortStableFunc(ends, func(a, b rangeEnd) int {
		c := bytes.Compare(a.key, b.key)
		switch {
		case c == 0 && a.isEnd && !b.isEnd:
			return -1
		case c == 0 && b.isEnd && !a.isEnd:
			return 1
		}
		return c
	})
	var open []byte
	for _, e := range ends {
		if open != nil {
			if bytes.Equal(open, e.key) {
				return nil, false
			}
			list = append(list, Range{open, before(e.key)})
		}
		if open = nil; !e.isEnd {
			open = e.key
		}
	}
	if open != nil {
		list = append(list, Range{open, bytes.Repeat([]byte{0xff}, len(open))})
	}
	return list, true
}

// before is the number below a key.
func before(key []byte) []byte {
	b := bytes.Clone(key)
	for i := len(b) - 1; i >= 0; i-- {
		b[i]--
		if b[i] != 0xff {
			break
		}
	}
	return b
}
