package conntrack

import (
	"fmt"
	"net/netip"

	"verdict/catalog"
	"verdict/packet"
)

// AppendText appends the connection as the kernel lists it in
// /proc/net/nf_conntrack, in single spaces, without time to live and use count.
// Counters appear if the table counts.
// Ref: nf_conntrack_standalone.c, ct_seq_show.
func (c *Conn) AppendText(b []byte) []byte {
	name, number := "ipv4", uint8(catalog.FamilyIP)
	if c.Family() == catalog.FamilyIP6 {
		name, number = "ipv6", uint8(catalog.FamilyIP6)
	}
	b = fmt.Appendf(b, "%s %d %s %d ", name, number, c.protocolName(), c.Protocol())
	if state := c.StateName(); state != "" {
		b = append(append(b, state...), ' ')
	}
	if c.Protocol() == packet.ProtoGRE && c.table != nil {
		to := c.policy(&c.table.timeouts.gre)
		b = fmt.Appendf(b, "timeout=%d, stream_timeout=%d ", to[timeoutUnreplied]/1e9, to[timeoutReplied]/1e9)
	}
	b = c.appendDirection(b, Original)
	if c.Status&StatusSeenReply == 0 {
		b = append(b, "[UNREPLIED] "...)
	}
	b = c.appendDirection(b, Reply)
	switch {
	case c.Status&StatusOffload != 0:
		b = append(b, "[OFFLOAD] "...)
	case c.Status&StatusAssured != 0:
		b = append(b, "[ASSURED] "...)
	}
	b = fmt.Appendf(b, "mark=%d", c.Mark)
	if c.Zone.Directions == 0 || c.Zone.Directions == 3 {
		b = fmt.Appendf(b, " zone=%d", c.Zone.ID)
	}
	return b
}

func (c *Conn) appendDirection(b []byte, d Direction) []byte {
	b = append(c.Tuples[d].AppendText(b), ' ')
	if c.Zone.Directions == 1<<d {
		b = fmt.Appendf(b, "zone-%s=%d ", [...]string{"orig", "reply"}[d], c.Zone.ID)
	}
	if c.table != nil && c.table.config.Accounting {
		b = fmt.Appendf(b, "packets=%d bytes=%d ", c.Packets[d], c.Bytes[d])
	}
	return b
}

// protocolName is the tracker's name.
func (c *Conn) protocolName() string {
	switch c.Protocol() {
	case packet.ProtoTCP:
		return "tcp"
	case packet.ProtoUDP:
		return "udp"
	case packet.ProtoUDPLite:
		if c.table != nil && c.table.config.Before71 {
			return "udplite"
		}
	case packet.ProtoICMP:
		return "icmp"
	case packet.ProtoICMPv6:
		return "icmpv6"
	case packet.ProtoSCTP:
		return "sctp"
	case packet.ProtoGRE:
		return "gre"
	}
	return "unknown"
}

// AppendText appends the tuple as connection listings show it.
// Ref: nf_conntrack_standalone.c, print_tuple.
func (t *Tuple) AppendText(b []byte) []byte {
	b = fmt.Appendf(b, "src=%s dst=%s", addressText(t.Family, &t.Src), addressText(t.Family, &t.Dst))
	switch t.Protocol {
	case packet.ProtoUDPLite:
		if t.SrcPort|t.DstPort != 0 {
			b = fmt.Appendf(b, " sport=%d dport=%d", t.SrcPort, t.DstPort)
		}
	case packet.ProtoTCP, packet.ProtoUDP, packet.ProtoSCTP:
		b = fmt.Appendf(b, " sport=%d dport=%d", t.SrcPort, t.DstPort)
	case packet.ProtoICMP, packet.ProtoICMPv6:
		b = fmt.Appendf(b, " type=%d code=%d id=%d", t.DstPort>>8, t.DstPort&0xff, t.SrcPort)
	case packet.ProtoGRE:
		b = fmt.Appendf(b, " srckey=0x%x dstkey=0x%x", t.SrcPort, t.DstPort)
	}
	return b
}

func addressText(family catalog.Family, a *[16]byte) string {
	if family == catalog.FamilyIP6 {
		return netip.AddrFrom16(*a).StringExpanded()
	}
	return netip.AddrFrom4([4]byte(a[:4])).String()
}
