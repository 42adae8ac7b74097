package compile

import (
	"slices"
	"sort"

	"verdict/nft/ruleset"
	"verdict/set"
)

// eagerIntervals is the size up to which the intervals of a snapshot's set are
// read as a whole. In larger sets only those that new ones touch are looked
// up, so that a change costs the same whatever the size.
const eagerIntervals = 1 << 12

// loadTaken brings the intervals of the snapshot's set that matter for the new
// ones into s.taken.
func (c *compiler) loadTaken(b *setBuild, s *setInfo) {
	if s.known {
		return
	}
	if s.old == nil || s.old.Elements == nil {
		s.known = true
		return
	}
	if s.old.Elements.Len() <= c.eager {
		c.loadAll(s)
		return
	}
	last := ones(s.key.bits)
	for _, k := range b.keys {
		from, to := k.from, k.to
		if s.autoMerge && !s.isMap() {
			// Neighbours are merged too.
			if !from.isZero() {
				from = from.minus1()
			}
			if to != last {
				to = to.plus1()
			}
		}
		if !c.loadRange(s, from, to) {
			c.loadAll(s)
			return
		}
	}
}

// loadRange reads the intervals of the snapshot's set that touch from to to
// and were not read yet. It returns false where the set cannot be searched.
func (c *compiler) loadRange(s *setInfo, from, to num) bool {
	key := make([]byte, s.key.bytes())
	from.put(key, false)
	var found []interval
	open := false
	last := ones(s.key.bits)
	searched := s.old.Elements.View().Ascend(key, func(e *set.Entry) bool {
		n := numFromBytes([]byte(e.Key()))
		if open {
			found[len(found)-1].to = n.minus1()
			open = false
		}
		if e.IsEnd() {
			return true
		}
		if n.cmp(to) > 0 {
			return false
		}
		if c.opts.Clock == 0 || !e.Expired(c.opts.Clock) {
			found = append(found, interval{from: n, to: last, elem: -1})
			open = true
		}
		return true
	})
	for _, iv := range found {
		if iv.to.cmp(from) < 0 || s.read[iv.from] {
			continue
		}
		if s.read == nil {
			s.read = map[num]bool{}
		}
		s.read[iv.from] = true
		at := sort.Search(len(s.taken), func(i int) bool { return s.taken[i].from.cmp(iv.from) >= 0 })
		s.taken = slices.Insert(s.taken, at, iv)
	}
	return searched
}

// loadAll reads all intervals of the snapshot's set that were not read yet.
func (c *compiler) loadAll(s *setInfo) {
	s.known = true
	last := ones(s.key.bits)
	type edge struct {
		n   num
		end bool
	}
	edges := make([]edge, 0, s.old.Elements.Len())
	elements := s.old.Elements.All()
	if c.opts.Clock != 0 {
		elements = s.old.Elements.Alive(c.opts.Clock)
	}
	for e := range elements {
		if e.Flags&ruleset.ElemCatchAll == 0 {
			edges = append(edges, edge{numFromBytes(e.Key), e.Flags&ruleset.ElemIntervalEnd != 0})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if d := a.n.cmp(b.n); d != 0 || a.end == b.end {
			return d
		}
		if a.end {
			return -1
		}
		return 1
	})
	open := -1
	for _, e := range edges {
		if open >= 0 {
			s.taken[open].to = e.n.minus1()
			open = -1
		}
		if !e.end && !s.read[e.n] {
			s.taken = append(s.taken, interval{from: e.n, to: last, elem: -1})
			open = len(s.taken) - 1
		}
	}
	if len(s.read) > 0 {
		sortIntervals(s.taken)
	}
}
