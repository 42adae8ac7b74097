package vm

// CountApart gives the machine counters of its own, so that others may run
// beside it; Collect adds them to the program's.
func (m *Machine) CountApart() {
	m.apart = true
	m.counters = ownCounters(len(m.prog.counters))
}

// CountTogether makes the machine count where listings look, as machines do
// from the start. What it counted apart is added.
func (m *Machine) CountTogether() {
	m.Collect()
	m.apart, m.counters = false, m.prog.counters
}

// Collect adds what the machine counted apart to the program's counters. No
// other machine may run meanwhile.
func (m *Machine) Collect() {
	if !m.apart {
		return
	}
	for i, c := range m.counters {
		packets, bytes := c.Values()
		if packets == 0 {
			continue
		}
		to := m.prog.counters[i]
		to.packets.Add(packets)
		to.bytes.Add(bytes)
		c.packets.Store(0)
		c.bytes.Store(0)
	}
}

// TakeHits adds another machine's hit counts of the same program to this one's
// and clears them there.
func (m *Machine) TakeHits(o *Machine) {
	for i, h := range o.hits {
		m.hits[i].Packets += h.Packets
		m.hits[i].Bytes += h.Bytes
	}
	clear(o.hits)
}

// useCounters goes on with the counters of a program that the machine switches
// to; extended says that it extends the one before.
func (m *Machine) useCounters(p *Program, extended bool) {
	switch {
	case !m.apart:
		m.counters = p.counters
	case extended:
		m.counters = append(m.counters, ownCounters(len(p.counters)-len(m.counters))...)
	default:
		m.counters = ownCounters(len(p.counters))
	}
}

// ownCounters makes counters that one processor alone writes.
func ownCounters(n int) []*Counter {
	if n <= 0 {
		return nil
	}
	slab, list := make([]Counter, n), make([]*Counter, n)
	for i := range list {
		list[i] = &slab[i]
	}
	return list
}
