package conntrack

import "iter"

// confirmed visits the connections in the table, expired ones included, in the
// order of their places. The table may be changed meanwhile.
func (t *Table) confirmed() iter.Seq[*Conn] {
	return func(yield func(*Conn) bool) {
		for place := uint32(0); place < t.slabs.used; place++ {
			c := t.slabs.at(place)
			if c.Status&(StatusConfirmed|StatusDying) == StatusConfirmed && !yield(c) {
				return
			}
		}
	}
}

// All visits the confirmed connections that have not expired, in an order that
// depends on the table's history alone.
func (t *Table) All(now int64) iter.Seq[*Conn] {
	return func(yield func(*Conn) bool) {
		for c := range t.confirmed() {
			if now < c.expires && c.Status&StatusNATClash == 0 && !yield(c) {
				return
			}
		}
	}
}

// Lookup finds the connection that one of a tuple's directions belongs to. The
// connection may be used until the table changes.
func (t *Table) Lookup(tuple *Tuple, zone Zone, now int64) (*Conn, Direction, bool) {
	c, d := t.find(tuple, zone, now)
	return c, d, c != nil
}

// Delete removes a connection, as `conntrack -D` does.
func (t *Table) Delete(c *Conn) { t.remove(c) }

// Flush removes all confirmed connections.
func (t *Table) Flush() {
	for c := range t.confirmed() {
		t.remove(c)
	}
}
