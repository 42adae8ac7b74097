package conntrack

// gre tracks a GRE packet.
// Ref: nf_conntrack_proto_gre.c, nf_conntrack_gre_packet.
func (t *Table) gre(c *Conn, p *Packet, d Direction) outcome {
	to := c.policy(&t.timeouts.gre)
	if c.Status&StatusSeenReply == 0 {
		t.refresh(c, p, d, to[timeoutUnreplied])
		return outcomeOK
	}
	t.refresh(c, p, d, to[timeoutReplied])
	c.Status |= StatusAssured
	return outcomeOK
}
