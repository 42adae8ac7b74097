package compile

import (
	"slices"

	"verdict/diag"
)

// interval is a closed interval of keys, with the place where it was written
// and the index of the element it belongs to.
type interval struct {
	from, to num
	at       diag.Span
	elem     int32
}

func byStart(a, b interval) int {
	if d := a.from.cmp(b.from); d != 0 {
		return d
	}
	return b.to.cmp(a.to)
}

// sortIntervals orders by start, wider intervals first. Sorted input, which
// generated lists often are, costs one pass.
func sortIntervals(list []interval) {
	if !slices.IsSortedFunc(list, byStart) {
		slices.SortStableFunc(list, byStart)
	}
}

// mergeIntervals joins overlapping and adjacent intervals of a sorted list.
func mergeIntervals(list []interval) []interval {
	out := list[:0]
	for _, iv := range list {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if iv.from.cmp(last.to) <= 0 || iv.from.cmp(last.to.plus1()) == 0 {
				if iv.to.cmp(last.to) > 0 {
					last.to = iv.to
				}
				continue
			}
		}
		out = append(out, iv)
	}
	return out
}

// checkIntervals drops repeated intervals of a sorted list and reports those
// that overlap.
func (c *compiler) checkIntervals(list []interval, isMap bool) []interval {
	out := list[:0]
	for _, iv := range list {
		if n := len(out); n > 0 && iv.from.cmp(out[n-1].to) <= 0 {
			last := out[n-1]
			if !isMap && last.from == iv.from && last.to == iv.to {
				continue
			}
			c.diags.Errorf(iv.at, "compile/interval-overlap", "conflicting intervals specified").Related = []diag.Span{last.at}
			continue
		}
		out = append(out, iv)
	}
	return out
}
