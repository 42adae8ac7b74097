package conntrack

import "verdict/packet"

// create makes the connection of a packet that has none. It is not confirmed:
// other packets do not find it, and it ends with its packet.
// Ref: nf_conntrack_core.c, init_conntrack.
func (t *Table) create(p *Packet, tuple *Tuple, zone Zone) outcome {
	inverse, ok := tuple.Invert()
	if !ok {
		return outcomeInvalid
	}
	if t.count >= t.config.Max && !t.makeRoom(tuple, zone, p.Now) {
		return outcomeDrop
	}
	t.sweepSome(p.Now)
	c := t.slabs.take()
	t.count++
	t.serial++
	t.stats.New++
	c.table, c.refs = t, 1
	c.Tuples = [2]Tuple{*tuple, inverse}
	c.Zone = zone
	c.HasLabels = t.labels.Load()
	c.ID = t.id()
	if t.expected.count > 0 {
		t.expect(c, p.Now)
	}
	p.Attachment.attach(c, c.infoOf(Original))
	return outcomeOK
}

// id draws a connection's id: unpredictable in the kernel, here a function of
// the seed and of how many connections there were. It is never zero.
func (t *Table) id() uint32 {
	h := mix(t.serial^t.index.seed, 0x94d049bb133111eb)
	return max(uint32(h^h>>32), 1)
}

// reclaim ends a connection that nobody holds any more.
func (t *Table) reclaim(c *Conn) {
	if c.Status&StatusDying == 0 {
		t.unlink(c)
	}
	master := c.Master
	t.slabs.put(c)
	if master != nil {
		master.release()
	}
}

// unlink takes the connection out of all that the table knows, but for the
// index of tuples.
func (t *Table) unlink(c *Conn) {
	c.Status |= StatusDying
	t.count--
	t.sources.remove(t, c)
	if c.rare != nil {
		t.expected.forget(c)
	}
}

// remove deletes a confirmed connection; packets that hold it keep using it.
// Ref: nf_conntrack_core.c, nf_ct_delete.
func (t *Table) remove(c *Conn) {
	if c.Status&StatusDying != 0 {
		return
	}
	if c.Status&StatusConfirmed == 0 {
		t.unlink(c)
		return
	}
	for d := Original; d <= Reply; d++ {
		t.index.remove(t.index.hash(&c.Tuples[d], c.Zone.For(d)), refOf(c, d))
	}
	t.unlink(c)
	c.release()
}

func (t *Table) expire(c *Conn) {
	t.stats.Expired++
	t.remove(c)
}

// Every sweepEvery new connections, sweepStep places for each of them are looked
// at for expired connections, which keeps the memory of a table within its live
// entries. Many at once cost less than as many one by one: the processor fetches
// them side by side.
const (
	sweepStep  = 4
	sweepEvery = 16
)

func (t *Table) sweepSome(now int64) {
	if t.serial%sweepEvery != 0 {
		return
	}
	for range sweepEvery * sweepStep {
		if t.sweep >= t.slabs.used {
			t.sweep = 0
			return
		}
		c := t.slabs.at(t.sweep)
		t.sweep++
		if c.Status&(StatusConfirmed|StatusDying) == StatusConfirmed && now >= c.expires {
			t.expire(c)
		}
	}
}

// Sweep removes all expired connections. Look-ups never find those; Sweep is
// for those who list or count. It costs a visit to every entry.
func (t *Table) Sweep(now int64) {
	for c := range t.confirmed() {
		if now >= c.expires {
			t.expire(c)
		}
	}
}

// makeRoom lets a new connection into a full table: expired ones go first, at
// most once a second because that visits all; then, near the new connection's
// place in the index, those that are not assured. It reports false where there
// is nothing to take.
// Ref: nf_conntrack_core.c, __nf_conntrack_alloc, early_drop.
func (t *Table) makeRoom(tuple *Tuple, zone Zone, now int64) bool {
	const second = 1e9
	if now-t.swept >= second || now < t.swept {
		t.swept = now
		t.Sweep(now)
		if t.hungry {
			t.collect()
		}
		if t.count < t.config.Max {
			return true
		}
	}
	if t.earlyDrop(t.index.hash(tuple, zone.For(Original)), now) {
		return true
	}
	t.hungry = true
	return false
}

// collect removes what a full table can do without, once it had to turn a
// connection away: all that is not assured, and TCP and SCTP connections that
// are closing. It stops at 95 % of the bound.
// Ref: nf_conntrack_core.c, gc_worker.
func (t *Table) collect() {
	t.hungry = false
	for c := range t.confirmed() {
		if t.count < t.config.Max*95/100 {
			return
		}
		if c.Status&StatusAssured == 0 || c.closing() {
			t.stats.EarlyDrop++
			t.remove(c)
		}
	}
}

// closing reports whether a connection is past its established state.
// Ref: nf_conntrack_proto_tcp.c, tcp_can_early_drop; sctp_can_early_drop.
func (c *Conn) closing() bool {
	switch c.Protocol() {
	case packet.ProtoTCP:
		return c.proto.tcp.state >= tcpFinWait && c.proto.tcp.state <= tcpClose
	case packet.ProtoSCTP:
		return c.proto.sctp.state >= sctpShutdownSent && c.proto.sctp.state <= sctpShutdownAckSent
	}
	return false
}

// A bucket of the kernel's table holds as many tuples as this many slots do.
const (
	bucketSlots  = 4
	earlyBuckets = 8
)

// earlyDrop removes what is not assured from the first bucket that has such.
func (t *Table) earlyDrop(hash uint32, now int64) bool {
	at := t.index.home(hash)
	for range earlyBuckets {
		var victims [bucketSlots]*Conn
		n := 0
		for range bucketSlots {
			ref := t.index.slots[at].ref
			at = t.index.next(at)
			if ref == 0 {
				continue
			}
			c := t.slabs.at(ref>>1 - 1)
			if c.Status&StatusAssured == 0 || now >= c.expires {
				victims[n] = c
				n++
			}
		}
		for _, c := range victims[:n] {
			if c.Status&StatusDying == 0 {
				t.stats.EarlyDrop++
				t.remove(c)
			}
		}
		if n > 0 {
			return true
		}
	}
	return false
}
