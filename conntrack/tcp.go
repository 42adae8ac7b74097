package conntrack

// tcp tracks a TCP packet.
// Ref: nf_conntrack_proto_tcp.c, nf_conntrack_tcp_packet.
func (t *Table) tcp(c *Conn, p *Packet, s *segment, d Direction) outcome {
	var h tcpHeader
	if result := h.read(s); result != outcomeOK {
		return result
	}
	if !t.checksumOK(p, s) {
		return outcomeInvalid
	}
	if c.Status&StatusConfirmed == 0 && !t.tcpNew(c, &h) {
		return outcomeInvalid
	}
	if h.optionsCut {
		t.stats.Assumed++
	}
	k := &c.proto.tcp
	m := tcpMove{old: k.state, new: tcpTable[d][h.class][k.state&15], check: true}
	switch m.new {
	case tcpInvalid:
		return outcomeInvalid
	case tcpIgnore:
		return t.tcpIgnored(c, p, &h, d, m)
	case tcpSynSent:
		if m.old >= tcpTimeWait {
			if k.mayReopen(d) {
				t.remove(c)
				return outcomeRepeat
			}
			return t.tcpIgnored(c, p, &h, d, m)
		}
	case tcpSynSent2:
		k.simultaneous = true
	case tcpSynRecv:
		if k.simultaneous && d == Reply && h.class == classACK {
			m.new = tcpEstablished
		}
	case tcpTimeWait:
		if m.old == tcpLastAck && h.class == classACK && k.challenged(d) {
			k.challenge = false
			return outcomeOK
		}
	case tcpClose:
		if h.class == classRST && !t.tcpReset(c, &h, d, &m) {
			return outcomeInvalid
		}
	}
	return t.tcpCommit(c, p, &h, d, m)
}

// tcpMove is the step that the state table gave.
type tcpMove struct {
	old, new uint8
	check    bool // the packet must be in the window
}

// tcpNew decides whether a packet may open a connection: a SYN, or, unless
// switched off, any packet with data or acknowledgement of a connection that
// was there before.
// Ref: nf_conntrack_proto_tcp.c, tcp_new.
func (t *Table) tcpNew(c *Conn, h *tcpHeader) bool {
	k := &c.proto.tcp
	*k = tcpState{lastClass: classNone}
	sender := &k.sides[Original]
	sender.maxWin = max(uint32(h.win), 1)
	switch h.class {
	case classSYN:
		sender.end, sender.maxEnd = h.end, h.end
		sender.negotiate(h)
		if h.optionsCut {
			k.sides[Reply].flags |= sideLiberal
		}
	case classACK:
		if t.config.NoLoose {
			return false
		}
		sender.end = h.end
		sender.maxEnd = h.end + sender.maxWin
		k.sides[Original].flags = sideSACK | sideLiberal
		k.sides[Reply].flags = sideSACK | sideLiberal
	default:
		return false
	}
	return true
}

// mayReopen reports whether a SYN through a finished connection starts a new
// one: if the connection was closed by FIN, or the sender itself reset it.
func (k *tcpState) mayReopen(d Direction) bool {
	return (k.sides[0].flags|k.sides[1].flags)&sideCloseInit != 0 ||
		k.lastClass == classRST && k.lastDir == d
}

// challenged reports whether a packet may be the challenge that answers a SYN
// of the other direction. Ref: RFC 5961 §4.
func (k *tcpState) challenged(d Direction) bool {
	return k.challenge && k.lastClass == classSYN && k.lastDir != d
}

// tcpIgnored lets a packet pass that does not fit the state: it may belong to
// another incarnation of the connection, which the firewall cannot judge. A
// SYN-ACK that answers an ignored SYN shows that the new one is real; then the
// connection starts over in place.
func (t *Table) tcpIgnored(c *Conn, p *Packet, h *tcpHeader, d Direction, m tcpMove) outcome {
	k := &c.proto.tcp
	if h.class == classSYNACK && k.lastClass == classSYN && k.lastDir != d && h.ack == k.lastEnd {
		k.resynchronise(d)
		m.old, m.new = tcpSynSent, tcpSynRecv
		return t.tcpCommit(c, p, h, d, m)
	}
	k.lastClass, k.lastDir = h.class, d
	k.lastSeq, k.lastEnd, k.lastWin = h.seq, h.end, h.win
	if h.class == classSYN && d == Original {
		var seen tcpSide
		seen.negotiate(h)
		k.lastScale, k.lastFlags = seen.scale, seen.flags&(sideScale|sideSACK|sideLiberal)
		k.challenge = m.old == tcpLastAck
	}
	if m.old == tcpSynSent && h.class == classACK && d == Reply {
		k.lastAck = h.ack
	}
	return outcomeOK
}

// resynchronise makes the ignored SYN of the other direction the connection's
// first packet.
func (k *tcpState) resynchronise(d Direction) {
	k.sides[1-d] = tcpSide{
		end: k.lastEnd, maxEnd: k.lastEnd, maxWin: max(uint32(k.lastWin), 1),
		scale: k.lastScale, flags: k.lastFlags,
	}
	k.sides[d] = tcpSide{flags: (k.sides[d].flags | k.lastFlags) & sideLiberal}
}

// tcpCommit checks the window and carries the step out.
func (t *Table) tcpCommit(c *Conn, p *Packet, h *tcpHeader, d Direction, m tcpMove) outcome {
	k := &c.proto.tcp
	if m.check {
		switch t.tcpWindow(c, h, d, m.old) {
		case windowIgnore:
			return outcomeOK
		case windowInvalid:
			t.tcpSuspectClose(c, p, h, d)
			return outcomeInvalid
		}
	}
	k.lastClass, k.lastDir = h.class, d
	k.state = m.new
	if m.new == tcpFinWait && m.old != tcpFinWait {
		k.sides[d].flags |= sideCloseInit
	}
	to := c.policy(&t.timeouts.tcp)
	timeout := t.tcpTimeout(k, h, to)
	if c.Status&StatusSeenReply == 0 {
		switch {
		case h.class == classRST:
			t.account(c, p, d)
			t.remove(c)
			return outcomeOK
		case h.class == classSYN && m.old == tcpSynSent:
			return outcomeOK // so that repeated SYNs do not keep an entry alive
		case m.new == tcpEstablished:
			timeout = min(timeout, to[timeoutUnacked])
		}
	} else if c.Status&StatusAssured == 0 && m.new == tcpEstablished && (m.old == tcpSynRecv || m.old == tcpEstablished) {
		c.Status |= StatusAssured
	}
	t.refresh(c, p, d, timeout)
	return outcomeOK
}

// tcpTimeout chooses the time to live after a packet.
func (t *Table) tcpTimeout(k *tcpState, h *tcpHeader, to *timeouts) int64 {
	own := to[k.state]
	unacked := (k.sides[0].flags|k.sides[1].flags)&sideUnacked != 0
	switch {
	case int(k.retrans) >= t.config.MaxRetrans && own > to[timeoutRetrans]:
		return to[timeoutRetrans]
	case h.class == classRST:
		return to[tcpClose]
	case unacked && own > to[timeoutUnacked]:
		return to[timeoutUnacked]
	case k.lastWin == 0 && own > to[timeoutRetrans]:
		return to[timeoutRetrans]
	}
	return own
}

// tcpSuspectClose shortens the life of an assured connection whose two ends
// close it with packets that look wrong: the tracker may have lost its place.
// Ref: nf_conntrack_proto_tcp.c, nf_tcp_handle_invalid.
func (t *Table) tcpSuspectClose(c *Conn, p *Packet, h *tcpHeader, d Direction) {
	if c.Status&(StatusAssured|StatusFixedTimeout) != StatusAssured || h.class != classRST && h.class != classFIN {
		return
	}
	k := &c.proto.tcp
	unacked := c.policy(&t.timeouts.tcp)[timeoutUnacked]
	const least = 120e9
	remaining := c.Remaining(p.Now)
	if k.lastDir != d && (k.lastClass == classRST || k.lastClass == classFIN) && remaining >= least && remaining > unacked {
		c.expires = p.Now + unacked
		return
	}
	k.lastClass, k.lastDir = h.class, d
}

// SetClosing marks a confirmed TCP connection as closed, as a reject with TCP
// reset does.
// Ref: nf_conntrack_proto_tcp.c, nf_conntrack_tcp_set_closing.
func (t *Table) SetClosing(c *Conn, now int64) {
	if c == nil || c.Protocol() != 6 || c.Status&(StatusConfirmed|StatusDying|StatusFixedTimeout) != StatusConfirmed || c.proto.tcp.state == tcpClose {
		return
	}
	c.proto.tcp.state = tcpClose
	c.expires = now + c.policy(&t.timeouts.tcp)[tcpClose]
}
