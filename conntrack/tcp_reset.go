package conntrack

// tcpReset judges a RST. It reports false for one that is invalid, and may let
// the packet off the window check, or keep the connection open.
// Ref: nf_conntrack_proto_tcp.c, nf_conntrack_tcp_packet; RFC 5961 §3.
func (t *Table) tcpReset(c *Conn, h *tcpHeader, d Direction, m *tcpMove) bool {
	k := &c.proto.tcp
	if m.old >= tcpFinWait && m.old <= tcpClose {
		m.check = false // what was learnt may be of an earlier incarnation
		return true
	}
	established := m.old == tcpEstablished && c.Status&StatusAssured != 0
	peer := &k.sides[1-d]
	if peer.flags&sideMaxAckSet != 0 && k.lastClass != classSYN {
		switch {
		case h.seq == 0 && !established:
			return true // most likely the answer to a SYN that was let through
		case before(h.seq, peer.maxAck) && !t.config.IgnoreRST:
			return false
		case !established, h.seq == peer.maxAck:
			return true
		case k.lastClass == classACK && k.lastDir == d && h.seq == k.lastEnd:
			return true // it follows data
		}
		m.new = m.old // a challenge ACK may follow
	}
	if k.answersLast(c, h, d, t.config.Before71) || m.old == tcpSynSent && k.lastClass == classACK && k.lastDir == Reply && h.seq == k.lastAck {
		m.check = false
	}
	return true
}

// answersLast reports whether a RST answers a SYN, or an acknowledgement of a
// connection not assured, that was let through unchecked.
func (k *tcpState) answersLast(c *Conn, h *tcpHeader, d Direction, anySYN bool) bool {
	syn := c.Status&StatusSeenReply != 0 && k.lastClass == classSYN && (anySYN || k.lastDir != d)
	ack := c.Status&StatusAssured == 0 && k.lastClass == classACK
	return (syn || ack) && h.ack == k.lastEnd
}
