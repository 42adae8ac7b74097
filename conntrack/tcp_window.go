package conntrack

// windowVerdict is what the window check says of a packet.
type windowVerdict uint8

const (
	windowAccept  windowVerdict = iota
	windowIgnore                // the packet passes and changes nothing
	windowInvalid               // it cannot belong to the connection
)

// minMaxAck bounds from below how old an acknowledgement may be.
const minMaxAck = 66000

// tcpWindow checks sequence and acknowledgement numbers against what both ends
// sent and allowed, and learns from the packet. state is the connection's state
// before the packet.
// Ref: nf_conntrack_proto_tcp.c, tcp_in_window; Guido van Rooij: Real stateful
// TCP packet filtering in IP Filter.
func (t *Table) tcpWindow(c *Conn, h *tcpHeader, d Direction, state uint8) windowVerdict {
	k := &c.proto.tcp
	sender, receiver := &k.sides[d], &k.sides[1-d]
	seq, ack, sack, end, win := h.seq, h.ack, h.ack, h.end, uint32(h.win)
	if receiver.flags&sideSACK != 0 && len(h.options) > 0 {
		sack = h.sack()
	}
	if c.rare != nil && c.rare.adjust != nil {
		shift := uint32(c.rare.adjust[1-d].at(ack - 1))
		ack, sack = ack-shift, sack-shift
	}
	switch {
	case sender.maxWin == 0:
		if h.flags&flagSYN != 0 {
			sender.open(receiver, h, d)
			if h.flags&flagACK == 0 {
				return windowAccept // simultaneous open
			}
			break
		}
		sender.pickUp(receiver, end, sack, win)
	case h.flags&flagSYN != 0 && after(end, sender.end) && (state == tcpSynSent || state == tcpSynRecv):
		sender.open(receiver, h, d)
		if d == Reply && h.flags&flagACK == 0 {
			return windowAccept
		}
	}
	if h.flags&flagACK == 0 || h.flags&flagRST != 0 && ack == 0 {
		ack, sack = receiver.end, receiver.end
	}
	if h.flags&flagRST != 0 && seq == 0 && state == tcpSynSent {
		seq, end = sender.end, sender.end
	}
	if verdict := sender.inWindow(receiver, seq, end, sack); verdict != windowAccept {
		if sender.flags&sideLiberal != 0 || t.config.Liberal {
			return windowAccept
		}
		return verdict
	}
	sender.learn(receiver, h, ack, sack, end, win)
	if h.class == classACK {
		k.countRetransmission(h, d)
	}
	return windowAccept
}

// open starts a side from its SYN.
func (sender *tcpSide) open(receiver *tcpSide, h *tcpHeader, d Direction) {
	sender.end, sender.maxEnd = h.end, h.end
	sender.maxWin = max(uint32(h.win), 1)
	sender.negotiate(h)
	if h.optionsCut {
		receiver.flags |= sideLiberal
	}
	if d == Reply && sender.flags&receiver.flags&sideScale == 0 {
		sender.scale, receiver.scale = 0, 0
	}
}

// pickUp starts a side in the middle of its connection.
func (sender *tcpSide) pickUp(receiver *tcpSide, end, sack, win uint32) {
	sender.end = end
	sender.maxWin = max(win<<sender.scale, 1)
	sender.maxEnd = end + sender.maxWin
	switch {
	case receiver.maxWin == 0:
		receiver.end, receiver.maxEnd = sack, sack
	case sack == receiver.end+1:
		receiver.end++ // the answer to a keep-alive
	}
}

// inWindow makes the four checks.
func (sender *tcpSide) inWindow(receiver *tcpSide, seq, end, sack uint32) windowVerdict {
	recent := receiver.maxWin == 0 || after(end, sender.end-receiver.maxWin-1)
	newAck := after(sack, receiver.end-max(sender.maxWin, minMaxAck)-1)
	seen := before(sack, receiver.end+1)
	if !before(seq, sender.maxEnd+1) {
		overshot := end - sender.maxEnd + 1
		if receiver.maxWin != 0 && recent && newAck && seen && overshot <= receiver.maxWin {
			// A little beyond the window: its acknowledgement must not be
			// taken for one of data never sent.
			sender.end = end
			sender.flags |= sideUnacked
			return windowIgnore
		}
		return windowInvalid
	}
	switch {
	case !seen:
		return windowInvalid
	case !recent, !newAck:
		return windowIgnore
	}
	return windowAccept
}

// learn takes over what a packet in the window says.
func (sender *tcpSide) learn(receiver *tcpSide, h *tcpHeader, ack, sack, end, win uint32) {
	if h.flags&flagSYN == 0 {
		win <<= sender.scale
	}
	sender.maxWin = max(sender.maxWin, win+(sack-ack))
	if after(end, sender.end) {
		sender.end = end
		sender.flags |= sideUnacked
	}
	if h.flags&flagACK != 0 {
		if sender.flags&sideMaxAckSet == 0 || after(ack, sender.maxAck) {
			sender.maxAck = ack
			sender.flags |= sideMaxAckSet
		}
	}
	if receiver.maxWin != 0 && after(end, sender.maxEnd) {
		receiver.maxWin += end - sender.maxEnd
	}
	if after(sack+win, receiver.maxEnd-1) {
		receiver.maxEnd = sack + win
		if win == 0 {
			receiver.maxEnd++
		}
	}
	if ack == receiver.end {
		receiver.flags &^= sideUnacked
	}
}

// countRetransmission counts packets that repeat the one before.
func (k *tcpState) countRetransmission(h *tcpHeader, d Direction) {
	if k.lastDir == d && k.lastSeq == h.seq && k.lastAck == h.ack && k.lastEnd == h.end && k.lastWin == h.win {
		k.retrans = min(k.retrans+1, 250)
		return
	}
	k.lastDir, k.lastSeq, k.lastAck, k.lastEnd, k.lastWin = d, h.seq, h.ack, h.end, h.win
	k.retrans = 0
}
