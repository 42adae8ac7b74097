package chain

import (
	"math/bits"
	"slices"

	"verdict/catalog"
	"verdict/classify"
	"verdict/engine/vm"
	"verdict/packet"
)

// Selectors are the selectors of one machine.
type Selectors struct {
	list []vm.Selector
	last *Selector // asked last at the beginning of a chain
}

// Selectors makes the selectors for a machine.
func (p *Plan) Selectors() *Selectors {
	s := &Selectors{list: make([]vm.Selector, len(p.chains))}
	for i, c := range p.chains {
		if c != nil {
			s.list[i] = c.selector(s)
		}
	}
	return s
}

// List is what a machine uses.
func (s *Selectors) List() []vm.Selector { return s.list }

// Last is the selector that was asked last at the beginning of a chain, if its
// table is so large that looking up several packets at once pays; else nil.
func (s *Selectors) Last() *Selector {
	if s.last == nil || !s.last.large {
		return nil
	}
	return s.last
}

// largeTable is the size of a table that does not stay in the second cache.
const largeTable = 1 << 20

// Selector chooses rules for one machine. It remembers the fields of the packet
// until something changes them, and may be told of packets ahead of their time.
type Selector struct {
	chain   *chain
	others  *Selectors
	key     classify.Key
	table   *classify.View // nil: rule by rule
	full    variant        // for packets that have all fields
	all     *classify.View // full, as it is stored now
	large   bool
	begins  uint32 // the order from which on the table is asked first
	version uint64

	// The first candidate of the packet before: packets often come in trains.
	first   uint32
	known   *classify.View // that gave it
	changed bool           // the key is another one meanwhile

	// What was looked up ahead: keys, their first candidates behind the head,
	// and which of them comes next, -1 for none.
	keys   []uint32
	firsts []uint32
	next   int
}

func (c *chain) selector(others *Selectors) *Selector {
	s := &Selector{chain: c, others: others, key: c.layout.NewKey(), full: (*c.tables.Load())[0], next: -1, begins: vm.OrderOf(c.head-1) + 1}
	stats, _, _ := s.full.view.Stats()
	s.all, s.large = s.full.now(), stats.Bytes >= largeTable
	return s
}

// Next returns the first candidate from a position on.
func (s *Selector) Next(m *vm.Machine, from uint32) uint32 {
	if v := m.Version(); v != s.version {
		s.version = v
		s.read(m)
	}
	if s.table == nil {
		return vm.ByRule
	}
	if from != s.begins {
		return s.table.Next(s.key, from) // classify.None is vm.NoRule
	}
	if s.foreseen() {
		return s.firsts[s.next]
	}
	if s.changed || s.known != s.table {
		s.first = s.table.Next(s.key, from)
		s.known, s.changed = s.table, false
	}
	return s.first
}

// foreseen reports whether the packet was looked up ahead with the fields that
// it has now.
func (s *Selector) foreseen() bool {
	if s.others.last != s {
		s.others.last = s
	}
	if s.next < 0 || s.table != s.all {
		return false
	}
	n := len(s.key)
	return slices.Equal(s.keys[s.next*n:s.next*n+n], s.key)
}

// Foresee reads the fields of the machine's packet, as far as they are known
// before it is on its way, for the i-th of the packets to come.
func (s *Selector) Foresee(m *vm.Machine, i int) {
	n := len(s.key)
	if need := (i + 1) * n; need > len(s.keys) {
		s.keys = append(s.keys, make([]uint32, need-len(s.keys))...)
		s.firsts = append(s.firsts, make([]uint32, i+1-len(s.firsts))...)
	}
	s.read(m)
	copy(s.keys[i*n:], s.key)
}

// Resolve looks up the first n packets that were foreseen.
func (s *Selector) Resolve(n int) {
	s.all.LookupBatch(s.keys[:n*len(s.key)], s.firsts[:n])
	s.version = 0
}

// Expect says which of the packets comes next; -1 for another one.
func (s *Selector) Expect(i int) { s.next = i }

// read loads the fields and picks the table for those that are there.
func (s *Selector) read(m *vm.Machine) {
	c := s.chain
	s.table = nil
	if pkt := m.Packet(); !c.reach.within(pkt.View) || (c.reach.ct && pkt.CT.Unknown()) {
		return
	}
	view, absent := m.Packet().View, uint64(0)
	var words [4]uint32
	for i := range c.fields {
		f := &c.fields[i]
		if f.word {
			if x, ok := view.Load32(view.NetOff + f.at); ok {
				s.put(f.lane, bits.ReverseBytes32(x))
				continue
			}
		}
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
			s.put(f.lane, w[0])
			continue
		}
		for j, x := range w {
			s.put(c.layout.Lane(i, j), x)
		}
	}
	s.all = s.full.now()
	s.table = s.all
	if absent != 0 {
		s.table = c.table(absent)
	}
}

// put stores a word of the key.
func (s *Selector) put(lane int, x uint32) {
	if s.key[lane] != x {
		s.key[lane], s.changed = x, true
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
	return !v.L4OK || v.ThOff+r.end[catalog.BaseTransport] <= have
}
