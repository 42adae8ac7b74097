package conntrack

import (
	"fmt"
	"net/netip"

	"verdict/catalog"
)

// followMaster makes an expected connection take the same way as its master,
// which the packet of a direction announced; port is the one that the
// announcing end really listens at.
func (e *Expectation) followMaster(d Direction, port uint16) {
	e.FollowMaster, e.AnnouncedBy, e.RealPort = true, d, port
}

// bindLikeMaster gives an expected connection its translations: it comes from
// whom the announcing end talks to, and goes to that end itself. No nat chain
// is asked.
// Ref: nf_nat_helper.c, nf_nat_follow_master.
func (t *Table) bindLikeMaster(c *Conn, e *Expectation, now int64) {
	announcer := &c.Master.Tuples[e.AnnouncedBy]
	t.bind(c, SourceManip, &NATRange{HasAddr: true, MinAddr: announcer.Dst, MaxAddr: announcer.Dst}, now)
	t.bind(c, DestinationManip, &NATRange{
		HasAddr: true, MinAddr: announcer.Src, MaxAddr: announcer.Src,
		HasPort: true, MinPort: e.RealPort, MaxPort: e.RealPort,
	}, now)
}

// expectTranslated expects a data connection of a translated control
// connection at the public address, and writes that into the packet. The port
// stays if it is free there.
// Ref: nf_nat_ftp.c, nf_nat_ftp.
func (x *Exchange) expectTranslated(a *announcement, e *Expectation) Result {
	e.followMaster(x.Direction, a.port)
	if !x.expectSomePort(e) {
		return Drop
	}
	b := x.Packet.Buffer
	if b == nil {
		return Accept
	}
	text := a.render(&e.Tuple)
	start := len(x.Packet.View.Packet()) - len(x.Payload)
	if !b.ReplacePayload(x.Packet.View, start+a.off, a.length, text) {
		x.Table.expected.remove(e)
		return Drop
	}
	if grow := len(text) - a.length; grow != 0 {
		x.Conn.Status |= StatusSeqAdjust
		x.Conn.shifts()[x.Direction].grow(x.Seq, int32(grow))
	}
	return Accept
}

// expectSomePort tries the announced port, then random ones.
// Ref: nf_nat_helper.c, nf_nat_exp_find_port.
func (x *Exchange) expectSomePort(e *Expectation) bool {
	for range maxAttempts {
		switch x.Table.Expect(e, 0, x.Packet.Now) {
		case nil:
			return true
		case ErrExpectBusy:
		default:
			return false
		}
		const unprivileged = 1024
		e.Tuple.DstPort = unprivileged + x.Table.random.bits16()%(65535-unprivileged+1)
	}
	return false
}

// render writes address and port in the form in which they were announced.
func (a *announcement) render(to *Tuple) []byte {
	switch {
	case a.form == formEPSV:
		return fmt.Appendf(nil, "|||%d|", to.DstPort)
	case a.form == formNumbers:
		d := to.Dst
		return fmt.Appendf(nil, "%d,%d,%d,%d,%d,%d", d[0], d[1], d[2], d[3], to.DstPort>>8, to.DstPort&0xff)
	case to.Family == catalog.FamilyIP:
		return fmt.Appendf(nil, "|1|%s|%d|", netip.AddrFrom4([4]byte(to.Dst[:4])), to.DstPort)
	}
	return fmt.Appendf(nil, "|2|%s|%d|", netip.AddrFrom16(to.Dst).StringExpanded(), to.DstPort)
}
