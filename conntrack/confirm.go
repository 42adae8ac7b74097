package conntrack

import "verdict/packet"

// Confirm enters a new connection, whose first packet got through. Packets of
// connections that are confirmed, or that answer one which is not, pass.
// Before that it runs the connection's helper, and moves the sequence numbers
// of connections whose payload changed its length.
// Ref: nf_conntrack_proto.c, nf_confirm; nf_conntrack_core.c,
// __nf_conntrack_confirm.
func (t *Table) Confirm(p *Packet) Result {
	c := p.Attachment.Conn
	if c == nil {
		return Accept
	}
	if c.rare != nil && t.help(p, c) == Drop {
		t.stats.Drop++
		return Drop
	}
	if c.Status&StatusConfirmed != 0 || p.Attachment.Info.Direction() == Reply || c.table != t {
		return Accept
	}
	if c.Status&StatusDying != 0 {
		return t.insertFailed()
	}
	if t.taken(c, Original, p.Now) || t.taken(c, Reply, p.Now) {
		return t.resolveClash(p, c)
	}
	t.enter(c, p.Now)
	for d := Original; d <= Reply; d++ {
		t.index.insert(t.index.hash(&c.Tuples[d], c.Zone.For(d)), refOf(c, d))
	}
	return Accept
}

// enter starts the life of a confirmed connection.
func (t *Table) enter(c *Conn, now int64) {
	c.Created = now
	c.expires += now
	c.Status |= StatusConfirmed
	c.refs++
	t.stats.Insert++
}

// taken reports whether another connection has one of the tuples.
func (t *Table) taken(c *Conn, d Direction, now int64) bool {
	return t.holder(c, d, now) != nil
}

// holder is the confirmed connection that has one of the tuples in either
// direction.
func (t *Table) holder(c *Conn, d Direction, now int64) *Conn {
	other, _ := t.findIn(&c.Tuples[d], c.Zone, c.Zone.For(d), now)
	return other
}

func (t *Table) insertFailed() Result {
	t.stats.InsertFailed++
	t.stats.Drop++
	return Drop
}

// allowsClash says whether two first packets of one flow may both pass: for
// protocols without handshake.
func allowsClash(protocol uint8) bool {
	return protocol != packet.ProtoTCP && protocol != packet.ProtoSCTP
}

// clashTimeout is the life of a connection that shares its original tuple.
const clashTimeout = 1e9

// resolveClash decides about a connection whose tuple is in the table already.
// Ref: nf_conntrack_core.c, nf_ct_resolve_clash.
func (t *Table) resolveClash(p *Packet, c *Conn) Result {
	if !allowsClash(c.Protocol()) {
		return t.insertFailed()
	}
	other := t.holder(c, Original, p.Now)
	if other == nil {
		other = t.holder(c, Reply, p.Now)
	}
	if other.Zone == c.Zone && (other.Tuples == c.Tuples || other.mirrors(c)) {
		t.join(p, c, other)
		return Accept
	}
	if t.taken(c, Reply, p.Now) {
		return t.insertFailed()
	}
	t.stats.ClashResolve++
	c.expires = clashTimeout
	c.Status |= StatusFixedTimeout | StatusNATClash
	t.enter(c, p.Now)
	t.index.insert(t.index.hash(&c.Tuples[Reply], c.Zone.For(Reply)), refOf(c, Reply))
	return Accept
}

// mirrors reports whether both ends sent first: each one's original tuple is
// the other's reply.
func (c *Conn) mirrors(o *Conn) bool {
	return c.Tuples[Original] == o.Tuples[Reply] && c.Tuples[Reply] == o.Tuples[Original]
}

// join gives the packet the connection that was there first.
func (t *Table) join(p *Packet, c, other *Conn) {
	t.stats.ClashResolve++
	for d := range c.Packets {
		other.Packets[d] += c.Packets[d]
		other.Bytes[d] += c.Bytes[d]
	}
	other.refs++
	p.Attachment.Conn = other
	c.release()
}
