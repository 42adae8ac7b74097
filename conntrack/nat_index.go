package conntrack

// sourceIndex finds connections by their original source, the newest first.
// It holds every connection whose source translation was decided, confirmed
// or not, null bindings included.
// Ref: nf_nat_core.c, nf_nat_bysource.
type sourceIndex struct {
	heads []uint32 // place+1
	used  int
}

const minSources = 256

// hash mixes what the connections of one chain share.
func (x *sourceIndex) hash(t *Table, c *Conn) uint32 {
	source := Tuple{Src: c.Tuples[Original].Src, SrcPort: c.Tuples[Original].SrcPort, Protocol: c.Protocol()}
	return t.index.hash(&source, c.Zone.For(Original))
}

func (x *sourceIndex) insert(t *Table, c *Conn) {
	if c.sourced {
		return
	}
	if x.used >= len(x.heads) {
		x.grow(t)
	}
	x.link(t, c)
	x.used++
}

// link puts the connection at its chain's head.
func (x *sourceIndex) link(t *Table, c *Conn) {
	head := &x.heads[x.hash(t, c)&uint32(len(x.heads)-1)]
	c.sourced, c.sourcePrev, c.sourceNext = true, 0, *head
	if *head != 0 {
		t.slabs.at(*head - 1).sourcePrev = c.index + 1
	}
	*head = c.index + 1
}

// grow doubles the chains, each keeping its order.
func (x *sourceIndex) grow(t *Table) {
	old := x.heads
	x.heads = make([]uint32, max(minSources, 2*len(old)))
	for _, head := range old {
		last := uint32(0)
		for place := head; place != 0; place = t.slabs.at(place - 1).sourceNext {
			last = place
		}
		for place := last; place != 0; {
			c := t.slabs.at(place - 1)
			place = c.sourcePrev
			x.link(t, c)
		}
	}
}

func (x *sourceIndex) remove(t *Table, c *Conn) {
	if !c.sourced {
		return
	}
	if c.sourcePrev != 0 {
		t.slabs.at(c.sourcePrev - 1).sourceNext = c.sourceNext
	} else {
		x.heads[x.hash(t, c)&uint32(len(x.heads)-1)] = c.sourceNext
	}
	if c.sourceNext != 0 {
		t.slabs.at(c.sourceNext - 1).sourcePrev = c.sourcePrev
	}
	c.sourced, c.sourceNext, c.sourcePrev = false, 0, 0
	x.used--
}

// mapped finds the source that another connection of the same original source
// is translated to, if it lies in the range.
// Ref: nf_nat_core.c, find_appropriate_src.
func (x *sourceIndex) mapped(t *Table, c *Conn, r *NATRange, now int64) (source Tuple, ok bool) {
	if len(x.heads) == 0 {
		return source, false
	}
	own := &c.Tuples[Original]
	for place := x.heads[x.hash(t, c)&uint32(len(x.heads)-1)]; place != 0; {
		o := t.slabs.at(place - 1)
		place = o.sourceNext
		its := &o.Tuples[Original]
		if o == c || o.Gone(now) || its.Protocol != own.Protocol || its.SrcPort != own.SrcPort || its.Src != own.Src ||
			its.Family != own.Family || o.Zone.For(Original) != c.Zone.For(Original) {
			continue
		}
		source, _ = o.Tuples[Reply].Invert()
		if r.holds(&source, SourceManip) {
			return source, true
		}
	}
	return source, false
}
