package conntrack

import (
	"time"

	"verdict/packet"
)

// FTP expects the data connections that PORT, EPRT, and the answers to PASV
// and EPSV announce.
// Ref: nf_conntrack_ftp.c; RFC 959, RFC 2428.
type FTP struct{}

// Name implements Helper.
func (FTP) Name() string { return "ftp" }

// Protocol implements Helper.
func (FTP) Protocol() uint8 { return packet.ProtoTCP }

// Policy implements Helper.
func (FTP) Policy() ExpectPolicy { return ExpectPolicy{Max: 1, Timeout: 5 * time.Minute} }

// newlines remembers where lines of one direction began: the two latest
// sequence numbers that follow a newline.
type newlines struct {
	seq [2]uint32
	n   int
}

func (l *newlines) has(seq uint32) bool {
	for _, known := range l.seq[:l.n] {
		if known == seq {
			return true
		}
	}
	return false
}

// add replaces the older of the two.
func (l *newlines) add(seq uint32) {
	switch {
	case l.has(seq):
	case l.n < len(l.seq):
		l.seq[l.n] = seq
		l.n++
	case before(l.seq[0], l.seq[1]):
		l.seq[0] = seq
	default:
		l.seq[1] = seq
	}
}

// Help parses segments that begin a line. The first segment of a direction is
// never one, because nothing is known of what was before it.
func (FTP) Help(x *Exchange) Result {
	if !x.Established() || len(x.Payload) == 0 || x.segment.cut() {
		return Accept
	}
	lines := &x.Conn.rarely().newline[x.Direction]
	result := Accept
	if lines.has(x.Seq) {
		announced := announcement{six: x.segment.six}
		switch announced.find(x.Payload, x.Direction) {
		case announcePartial:
			return Drop
		case announceFound:
			result = x.expectData(&announced)
		}
	}
	if result == Accept && x.Payload[len(x.Payload)-1] == '\n' {
		lines.add(x.Seq + uint32(len(x.Payload)))
	}
	return result
}

// expectData expects the data connection. An address that is not the sender's
// own is ignored, because it could open a way to other hosts.
func (x *Exchange) expectData(a *announcement) Result {
	c, d := x.Conn, x.Direction
	own, back := &c.Tuples[d], &c.Tuples[1-d]
	if !a.extended && (a.otherFamily || a.addr != own.Src) {
		return Accept
	}
	e := &Expectation{
		Tuple:      Tuple{Src: back.Src, Dst: back.Dst, DstPort: a.port, Family: own.Family, Protocol: packet.ProtoTCP},
		AnySrcPort: true,
		Master:     c,
	}
	if c.Status&statusNATMask != 0 {
		return x.expectTranslated(a, e)
	}
	if x.Table.Expect(e, 0, x.Packet.Now) != nil {
		return Drop
	}
	return Accept
}
