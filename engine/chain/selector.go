package chain

import (
	"verdict/catalog"
	"verdict/classify"
	"verdict/engine/vm"
	"verdict/packet"
)

// selector chooses rules for one machine. It remembers the fields of the packet
// until something changes them.
type selector struct {
	chain   *chain
	key     classify.Key
	table   *classify.Table // nil: rule by rule
	full    *classify.Table // for packets that have all fields
	version uint64
}

func (c *chain) selector() *selector {
	return &selector{chain: c, key: c.layout.NewKey(), full: (*c.tables.Load())[0].table}
}

// Next returns the first candidate from a position on.
func (s *selector) Next(m *vm.Machine, from int) int {
	if v := m.Version(); v != s.version {
		s.version = v
		s.read(m)
	}
	if s.table == nil {
		return vm.ByRule
	}
	order := s.table.Next(s.key, uint32(from))
	if order == classify.None {
		return s.chain.count
	}
	return int(order)
}

// read loads the fields and picks the table for those that are there.
func (s *selector) read(m *vm.Machine) {
	c := s.chain
	s.table = nil
	if pkt := m.Packet(); !c.reach.within(pkt.View) || (c.reach.ct && pkt.CT.Unknown()) {
		return
	}
	absent := uint64(0)
	var words [4]uint32
	for i := range c.fields {
		f := &c.fields[i]
		w := words[:f.words]
		switch m.Fetch(&f.load, f.source.length, w) {
		case packet.Cut:
			return
		case packet.Break:
			if f.mixed {
				return
			}
			absent |= 1 << i
			continue
		}
		if f.words == 1 {
			s.key[f.lane] = w[0]
			continue
		}
		for j, x := range w {
			s.key[c.layout.Lane(i, j)] = x
		}
	}
	s.table = s.full
	if absent != 0 {
		s.table = c.table(absent)
	}
}

// within reports whether no load of the chain's rules can want bytes that were
// not captured.
func (r *reach) within(v *packet.View) bool {
	have := len(v.Packet())
	if v.End <= have && v.Validity != packet.HeaderCut && !v.L4Cut {
		return true
	}
	if r.deep || v.L4Cut || v.Validity == packet.HeaderCut {
		return false
	}
	if v.MacOff+r.end[catalog.BaseLink] > have || v.NetOff+r.end[catalog.BaseNetwork] > have {
		return false
	}
	return !v.HasTransport() || v.ThOff+r.end[catalog.BaseTransport] <= have
}
