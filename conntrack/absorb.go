package conntrack

// Absorb takes over all connections of another table, which is empty then, and
// adds its counts. The two must have been made with the same configuration and
// have no connection in common, and no packet may hold one of the other's.
// Connections keep their ids, so those of two tables may be alike. Expected
// connections, translations of addresses and helpers are not taken over: the
// other table must have none. Cost: an entry into the table for each
// connection.
func (t *Table) Absorb(o *Table) {
	for c := range o.confirmed() {
		mine := t.slabs.take()
		place := mine.index
		*mine = *c
		mine.index, mine.table, mine.refs = place, t, 1
		for d := Original; d <= Reply; d++ {
			if o.holds(c, d) {
				t.index.insert(t.index.hash(&mine.Tuples[d], mine.Zone.For(d)), refOf(mine, d))
			}
		}
		t.count++
	}
	t.serial += o.serial
	t.stats.add(&o.stats)
	config := o.config
	*o = *NewTable(config)
}

// holds reports whether a direction of a connection is in the index: one that
// clashed with another is there for its replies only.
func (t *Table) holds(c *Conn, d Direction) bool {
	hash, ref := t.index.hash(&c.Tuples[d], c.Zone.For(d)), refOf(c, d)
	for i := t.index.home(hash); t.index.slots[i].ref != 0; i = t.index.next(i) {
		if t.index.slots[i].ref == ref {
			return true
		}
	}
	return false
}

func (s *Stats) add(o *Stats) {
	s.Found += o.Found
	s.New += o.New
	s.Invalid += o.Invalid
	s.Unknown += o.Unknown
	s.Assumed += o.Assumed
	s.Insert += o.Insert
	s.InsertFailed += o.InsertFailed
	s.ClashResolve += o.ClashResolve
	s.Drop += o.Drop
	s.EarlyDrop += o.EarlyDrop
	s.Expired += o.Expired
}

// MaxEntries is how many connections the table holds at most.
func (t *Table) MaxEntries() int { return t.config.Max }
