package vm

import (
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/nft/expr"
)

// ConnLimit counts the connections that a rule, or an element of a set, has
// seen and that still exist.
// Ref: nft_connlimit.c, nft_connlimit_do_eval.
type ConnLimit struct {
	count uint32
	over  bool
	conns conntrack.ConnList
}

func newConnLimit(e *expr.ConnLimit) *ConnLimit {
	return &ConnLimit{count: e.Count, over: e.Over}
}

// connLimit counts the packet's connection. A packet without addresses and
// ports is dropped.
func (m *Machine) connLimit(c *ConnLimit, in *inst) outcome {
	if m.pkt.CT.Unknown() {
		return outCut
	}
	p := conntrack.Packet{View: m.pkt.View, Attachment: m.pkt.CT, Family: m.pkt.Family, Now: m.Now}
	n, result := c.conns.Visit(m.Conns, &p)
	if result == conntrack.Drop {
		return m.stop(catalog.VerdictDrop, in)
	}
	return keep((uint32(n) > c.count) == c.over)
}
