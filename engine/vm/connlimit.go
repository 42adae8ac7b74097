package vm

import (
	"slices"

	"verdict/catalog"
	"verdict/conntrack"
	"verdict/nft/expr"
	"verdict/packet"
)

// ConnLimit counts the connections that a rule, or an element of a set, has
// seen and that still exist.
// Ref: nft_connlimit.c, nft_connlimit_do_eval; nf_conncount.c, __nf_conncount_add.
type ConnLimit struct {
	count uint32
	over  bool
	conns []*conntrack.Conn
}

func newConnLimit(e *expr.ConnLimit) *ConnLimit {
	return &ConnLimit{count: e.Count, over: e.Over}
}

// connLimit counts the packet's connection. A packet that is not tracked
// counts for the moment.
func (m *Machine) connLimit(c *ConnLimit, in *inst) outcome {
	conn := m.pkt.CT.Conn
	more := 0
	switch {
	case conn != nil:
		c.add(conn, m.Now)
	case m.pkt.View.Validity != packet.Valid || !m.pkt.View.L4OK:
		return m.stop(catalog.VerdictDrop, in)
	default:
		c.forget(nil, m.Now)
		more = 1
	}
	return keep((uint32(len(c.conns)+more) > c.count) == c.over)
}

// add counts a connection unless it is known already. One that is assured was
// counted when it was new, if at all. Cost: linear in the connections counted.
func (c *ConnLimit) add(conn *conntrack.Conn, now int64) {
	c.forget(conn, now)
	const settled = conntrack.StatusConfirmed | conntrack.StatusAssured
	if conn.Status&settled != settled && !slices.Contains(c.conns, conn) {
		c.conns = append(c.conns, conn)
	}
}

// forget drops connections that are over, and those whose first packet was
// dropped, so that they never came to be.
func (c *ConnLimit) forget(current *conntrack.Conn, now int64) {
	c.conns = slices.DeleteFunc(c.conns, func(old *conntrack.Conn) bool {
		return old != current && (!old.Confirmed() || old.Gone(now) || closed(old))
	})
}

// closed tells TCP connections of which only the memory is left.
func closed(c *conntrack.Conn) bool {
	if c.Protocol() != packet.ProtoTCP {
		return false
	}
	state := c.StateName()
	return state == "TIME_WAIT" || state == "CLOSE"
}
