package compile

import (
	"sort"

	"verdict/nft/ruleset"
)

// addIntervals adds or deletes intervals of a named set of a single field,
// which nft checks, merges and splits before the kernel sees them.
func (c *compiler) addIntervals(b *setBuild, s *setInfo, t target, op ruleset.Op) {
	c.loadTaken(b, s)
	switch op {
	case ruleset.OpAdd, ruleset.OpCreate:
		c.insertIntervals(b, s, t, op)
	default:
		c.deleteIntervals(b, s, t, op)
	}
}

// insertIntervals adds intervals: merged where the set says auto-merge, else
// refused where they overlap.
func (c *compiler) insertIntervals(b *setBuild, s *setInfo, t target, op ruleset.Op) {
	if s.autoMerge && !s.isMap() && len(s.taken) > 0 {
		if old := s.absorb(b); len(old) > 0 {
			elems := b.boundaries(old)
			c.elementChange(s, elems, t, ruleset.OpDelete)
		}
	} else if !c.checkTaken(b, s) {
		return
	}
	elems, ok := b.finish()
	if !ok {
		return
	}
	if len(elems) > 0 {
		c.elementChange(s, elems, t, op)
		s.filled = true
	}
	if len(s.taken) == 0 {
		s.taken = b.keys
		return
	}
	s.taken = append(s.taken[:len(s.taken):len(s.taken)], b.keys...)
	sortIntervals(s.taken)
	if s.autoMerge && !s.isMap() {
		s.taken = mergeIntervals(s.taken)
	}
}

// absorb widens the new intervals by the old ones that they touch, and gives
// those, which must be deleted.
func (s *setInfo) absorb(b *setBuild) (old []interval) {
	keep := s.taken[:0:0]
	merged := b.keys
	sortIntervals(merged)
	merged = mergeIntervals(merged)
	for _, o := range s.taken {
		i := sort.Search(len(merged), func(i int) bool {
			return merged[i].to.cmp(o.from) >= 0 || merged[i].to.plus1().cmp(o.from) == 0
		})
		if i < len(merged) && (merged[i].from.cmp(o.to) <= 0 || o.to.plus1().cmp(merged[i].from) == 0) {
			if merged[i].from.cmp(o.from) <= 0 && merged[i].to.cmp(o.to) >= 0 && merged[i].from == o.from && merged[i].to == o.to {
				// Already there as it is.
				keep = append(keep, o)
				merged = append(merged[:i], merged[i+1:]...)
				continue
			}
			old = append(old, o)
			if o.from.cmp(merged[i].from) < 0 {
				merged[i].from = o.from
			}
			if o.to.cmp(merged[i].to) > 0 {
				merged[i].to = o.to
			}
			continue
		}
		keep = append(keep, o)
	}
	s.taken = keep
	b.keys = merged
	return old
}

// boundaries are the starts and ends of intervals that exist.
func (b *setBuild) boundaries(list []interval) []ruleset.Element {
	n, last := b.info.key.bytes(), ones(b.info.key.bits)
	var out []ruleset.Element
	for _, iv := range list {
		from := b.arena.take(n)
		iv.from.put(from, false)
		out = append(out, ruleset.Element{Key: from, Place: b.at})
		if iv.to.cmp(last) != 0 {
			to := b.arena.take(n)
			iv.to.plus1().put(to, false)
			out = append(out, ruleset.Element{Key: to, Flags: ruleset.ElemIntervalEnd, Place: b.at})
		}
	}
	return out
}

// checkTaken refuses new intervals that overlap old ones. The same interval
// again is fine.
func (c *compiler) checkTaken(b *setBuild, s *setInfo) bool {
	ok := true
	for _, k := range b.keys {
		i := sort.Search(len(s.taken), func(i int) bool { return s.taken[i].to.cmp(k.from) >= 0 })
		if i < len(s.taken) && s.taken[i].from.cmp(k.to) <= 0 {
			o := s.taken[i]
			if o.from == k.from && o.to == k.to {
				continue
			}
			c.diags.Errorf(k.at, "compile/interval-overlap", "interval overlaps with an existing one")
			ok = false
		}
	}
	return ok
}

// deleteIntervals deletes intervals; with auto-merge also parts of them.
func (c *compiler) deleteIntervals(b *setBuild, s *setInfo, t target, op ruleset.Op) {
	var gone, back []interval
	for _, k := range b.keys {
		i := sort.Search(len(s.taken), func(i int) bool { return s.taken[i].to.cmp(k.from) >= 0 })
		if op == ruleset.OpReset {
			// Resetting means the interval that holds the key, as getting does.
			if i < len(s.taken) && s.taken[i].from.cmp(k.from) <= 0 && s.taken[i].to.cmp(k.to) >= 0 {
				k.from, k.to = s.taken[i].from, s.taken[i].to
			}
			gone = append(gone, k)
			continue
		}
		if i == len(s.taken) || s.taken[i].from.cmp(k.from) > 0 || s.taken[i].to.cmp(k.to) < 0 {
			if op == ruleset.OpDestroy {
				continue
			}
			c.diags.Errorf(k.at, "compile/no-element", "element does not exist")
			continue
		}
		o := s.taken[i]
		if o.from == k.from && o.to == k.to {
			gone = append(gone, o)
			s.taken = append(s.taken[:i:i], s.taken[i+1:]...)
			continue
		}
		if !s.autoMerge {
			if op != ruleset.OpDestroy {
				c.diags.Errorf(k.at, "compile/no-element", "element does not exist")
			}
			continue
		}
		gone = append(gone, o)
		var parts []interval
		if o.from.cmp(k.from) < 0 {
			parts = append(parts, interval{from: o.from, to: k.from.minus1(), elem: k.elem, at: k.at})
		}
		if k.to.cmp(o.to) < 0 {
			parts = append(parts, interval{from: k.to.plus1(), to: o.to, elem: k.elem, at: k.at})
		}
		back = append(back, parts...)
		s.taken = append(append(append([]interval(nil), s.taken[:i]...), parts...), s.taken[i+1:]...)
	}
	elems := b.boundaries(gone)
	for i := range elems {
		elems[i].Place = b.at
	}
	if b.all != nil {
		elems = append(elems, *b.all)
	}
	if len(elems) > 0 {
		c.elementChange(s, elems, t, op)
	}
	if len(back) > 0 {
		c.elementChange(s, b.boundaries(back), t, ruleset.OpAdd)
	}
}
