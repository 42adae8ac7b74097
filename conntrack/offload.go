package conntrack

import "verdict/packet"

// offloadTime is the life of an entry that a flowtable keeps.
const offloadTime = 24 * 3600 * int64(1e9)

// MayOffload reports whether a flowtable takes the packet's connection: a
// confirmed one, of TCP once established, of UDP, or of GRE without keys and
// NAT; without helper, moved sequence numbers or a clash. What the packet itself
// must be like (no IP options, for TCP neither FIN nor RST) is for the caller.
// Ref: nft_flow_offload.c, nft_flow_offload_eval.
func (c *Conn) MayOffload() bool {
	const never = StatusHelper | StatusSeqAdjust | StatusNATClash | StatusOffload | StatusDying
	if c.Status&(never|StatusConfirmed) != StatusConfirmed {
		return false
	}
	switch c.Protocol() {
	case packet.ProtoTCP:
		return c.proto.tcp.state == tcpEstablished && c.Status&StatusAssured != 0
	case packet.ProtoUDP:
		return true
	case packet.ProtoGRE:
		t := &c.Tuples[Original]
		return c.Status&statusNATMask == 0 && t.SrcPort|t.DstPort == 0
	}
	return false
}

// Offload hands a connection to a flowtable: it lives for a day, and its
// windows are checked no more.
// Ref: nf_flow_table_core.c, flow_offload_add.
func (t *Table) Offload(c *Conn, now int64) {
	c.Status |= StatusOffload
	if c.Protocol() == packet.ProtoTCP {
		c.proto.tcp.sides[0].flags |= sideLiberal
		c.proto.tcp.sides[1].flags |= sideLiberal
	}
	c.expires = now + offloadTime
}

// Onload takes a connection back from a flowtable. closing says that the
// flowtable saw the TCP connection end; idle is how long the flow had been
// without packets, if it expired for that. Windows are learnt anew.
// Ref: nf_flow_table_core.c, flow_offload_fixup_ct.
func (t *Table) Onload(c *Conn, closing bool, idle, now int64) {
	c.Status &^= StatusOffload
	var life int64
	switch c.Protocol() {
	case packet.ProtoTCP:
		k := &c.proto.tcp
		for i := range k.sides {
			k.sides[i].maxWin = 0
			k.sides[i].flags &^= sideMaxAckSet
		}
		if closing {
			k.state = tcpClose
			k.sides[0].flags |= sideCloseInit
			c.expires = now + t.timeouts.tcp[tcpClose]
			return
		}
		life = t.timeouts.tcp[k.state]
	case packet.ProtoUDP:
		life = t.timeouts.udp[timeoutUnreplied]
		if c.Status&StatusSeenReply != 0 {
			life = t.timeouts.udp[timeoutReplied]
		}
	default:
		return
	}
	c.expires = min(c.expires, now+max(life-idle, 0))
}

// Relearn forgets the windows of established TCP connections, as when tracking
// is switched on again after a time without it.
// Ref: nf_conntrack_proto.c, nf_ct_tcp_fixup.
func (t *Table) Relearn() {
	for c := range t.confirmed() {
		if c.Protocol() == packet.ProtoTCP && c.proto.tcp.state == tcpEstablished {
			c.proto.tcp.sides[0].maxWin, c.proto.tcp.sides[1].maxWin = 0, 0
		}
	}
}
