package tc

// maxRestarts bounds how often classification begins anew.
//
// Ref: cls_api.c, max_reclassify_loop
const maxRestarts = 16

// path is what belongs to the packet that is on its way.
type path struct {
	depth   int // of redirections
	classID uint32
	unknown string      // why what follows cannot be known
	by      *filterBase // whose actions ran last
	spare   []*Packet
	used    int
	pending []*Packet // what came in meanwhile
	turn    []*Packet // what is being delivered
	Outputs []Output
}

// packet takes a packet for a copy.
func (p *path) packet() *Packet {
	if p.used == len(p.spare) {
		p.spare = append(p.spare, new(Packet))
	}
	p.used++
	return p.spare[p.used-1]
}

// classify asks the filters of a block, beginning with a chain.
//
// Ref: cls_api.c, __tcf_classify
func (s *System) classify(b *Block, first *Chain, p *Packet) Code {
	chain, restarts := first, 0
	var set candidateSet
restart:
	list := chain.instances
	filtered := s.sink == nil && chain.prefilter(s, p, &set)
	dissection := p.dissections
	for n := -1; ; {
		n++
		if filtered && dissection != p.dissections { // an action changed the packet
			filtered = chain.prefilter(s, p, &set)
			dissection = p.dissections
		}
		if filtered {
			n = set.next(n, len(list))
		}
		if n >= len(list) {
			return Unspec
		}
		i := list[n]
		if i.Protocol != p.outer() && i.Protocol != protocolAll {
			continue
		}
		if s.sink != nil {
			s.traceInstance(i, p)
		}
		c := i.classifier.classify(s, p)
		if s.sink != nil {
			s.traceAnswer(i, c)
		}
		switch {
		case c == Reclassify:
			chain = first
		case c.op() == GotoChain:
			if chain = b.byIndex[c.number()]; chain == nil {
				return Shot
			}
		case c >= 0:
			return c
		default:
			continue
		}
		if restarts++; restarts > maxRestarts {
			return Shot
		}
		goto restart
	}
}

// prefilter tells which instances may match; false where all must be asked.
func (c *Chain) prefilter(s *System, p *Packet, set *candidateSet) bool {
	if c.stale {
		c.build(s)
	}
	if c.filter == nil {
		return false
	}
	c.filter.candidates(p.dissected(), set)
	return true
}

// build makes the prefilter over the instances; those that are not flower's are
// always candidates.
func (c *Chain) build(s *System) {
	c.stale, c.filter = false, nil
	if s.config.Linear || s.config.PerMask {
		return
	}
	units := make([]unit, len(c.instances))
	for n, i := range c.instances {
		if f, ok := i.classifier.(*flower); ok {
			units[n].masks = f.masks
		}
	}
	c.filter = newPrefilter(units)
}

const protocolAll = 3

// hook runs a packet through a block at a device's hook. It reports whether
// the qdisc saw the packet at all.
//
// Ref: dev.c, tc_run
func (s *System) hook(q *Qdisc, b *Block, p *Packet) (Code, bool) {
	if s.sink != nil {
		s.traceHook(q, b, p)
	}
	if b == nil || b.chain0 == nil && !p.Resume.Set || s.bypassed(b) {
		return Unspec, false
	}
	q.Packets++
	q.Bytes += uint64(p.pktLen)
	p.postCT, p.ctZone = false, 0
	first := b.chain0
	if p.Resume.Set {
		first = b.byIndex[p.Resume.Chain]
		p.Resume = Resume{}
		if first == nil {
			q.Drops++
			return Shot, true
		}
	}
	s.path.classID = 0
	c := s.classify(b, first, p)
	s.traceLeave(c)
	switch c {
	case Shot:
		q.Drops++
	case OK, Reclassify:
		p.TCIndex = uint16(s.path.classID)
	}
	return c, true
}

// fateOf is what a code means at a hook.
func fateOf(c Code) Fate {
	switch c {
	case Shot:
		return Dropped
	case Stolen, Queued, Trap, Consumed, RedirectTo:
		return Taken
	}
	return Passed
}
