package conntrack

import (
	"encoding/binary"
	"fmt"
	"time"

	"verdict/catalog"
	"verdict/packet"
)

// Helper understands an application protocol that opens further connections.
// It must be safe to share between tables: what it remembers belongs to the
// connection.
type Helper interface {
	// Name as rules give it, such as "ftp".
	Name() string
	// Protocol is the transport protocol, such as 6.
	Protocol() uint8
	// Policy bounds the expectations.
	Policy() ExpectPolicy
	// Help looks at a packet of a connection that has the helper. Drop drops
	// the packet.
	Help(x *Exchange) Result
}

// Exchange is a packet that a helper looks at.
type Exchange struct {
	Table     *Table
	Conn      *Conn
	Packet    *Packet
	Direction Direction
	Payload   []byte // captured payload; a helper does not write it
	Seq       uint32 // TCP: sequence number of the payload
	segment   segment
}

// Established reports whether both ends have been heard.
func (x *Exchange) Established() bool {
	return x.Packet.Attachment.Info == InfoEstablished || x.Packet.Attachment.Info == InfoEstablishedReply
}

// HelperError names a helper that is not there.
type HelperError struct {
	Name     string
	Protocol uint8 // 0 for any
}

func (e *HelperError) Error() string {
	if e.Protocol == 0 {
		return fmt.Sprintf("no connection tracking helper %q (known are ftp and tftp)", e.Name)
	}
	return fmt.Sprintf("no connection tracking helper %q for protocol %d (known are ftp for tcp and tftp for udp)", e.Name, e.Protocol)
}

var helpers = []Helper{FTP{}, TFTP{}}

// HelperByName finds a helper; protocol 0 is any. Both address families have
// all of them. The error is a *HelperError.
func HelperByName(name string, protocol uint8) (Helper, error) {
	for _, h := range helpers {
		if h.Name() == name && (protocol == 0 || protocol == h.Protocol()) {
			return h, nil
		}
	}
	return nil, &HelperError{Name: name, Protocol: protocol}
}

// NamedHelper stands for a helper that is not there: connections get its name
// and status bit, but nothing that they announce is expected.
func NamedHelper(name string, protocol uint8) Helper { return namedHelper{name, protocol} }

type namedHelper struct {
	name     string
	protocol uint8
}

func (h namedHelper) Name() string          { return h.name }
func (h namedHelper) Protocol() uint8       { return h.protocol }
func (h namedHelper) Policy() ExpectPolicy  { return ExpectPolicy{} }
func (h namedHelper) Help(*Exchange) Result { return Accept }

// AssignHelper gives a connection a helper, as a `ct helper set` rule does: on
// the first packet only, if the protocol is the helper's and there is none yet.
// It reports false where it does nothing.
// Ref: nft_ct.c, nft_ct_helper_obj_eval.
func (t *Table) AssignHelper(c *Conn, h Helper) bool {
	if c == nil || h == nil || c.Confirmed() || c.Status&StatusHelper != 0 || c.Protocol() != h.Protocol() {
		return false
	}
	c.setHelper(h)
	if c.Status&statusNATMask != 0 && c.Protocol() == packet.ProtoTCP {
		c.shifts()
	}
	return true
}

func (c *Conn) setHelper(h Helper) {
	c.Status |= StatusHelper
	c.Helper = h.Name()
	c.rarely().helper = h
}

// ExpectAnswer makes an expectation for a rule's ct expectation object: the
// responder may connect back to the initiator's port. most bounds how many
// the connection may have. matched is false where the rule breaks; the result
// is Drop where the expectation cannot be made.
// Ref: nft_ct.c, nft_ct_expect_obj_eval.
func (t *Table) ExpectAnswer(p *Packet, family catalog.Family, protocol uint8, port uint16, timeout time.Duration, most int) (matched bool, result Result) {
	c := p.Attachment.Conn
	if c == nil || c.Confirmed() || c.Expectations(p.Now) >= most {
		return false, Accept
	}
	t.MayExpect(c)
	back := &c.Tuples[1-p.Attachment.Info.Direction()]
	e := &Expectation{
		Tuple:      Tuple{Src: back.Src, Dst: back.Dst, DstPort: port, Family: family, Protocol: protocol},
		AnySrcPort: true,
		Master:     c,
	}
	if t.Expect(e, timeout, p.Now) != nil {
		return true, Drop
	}
	return true, Accept
}

// help runs the connection's helper and moves sequence numbers.
// Ref: nf_conntrack_proto.c, nf_confirm.
func (t *Table) help(p *Packet, c *Conn) Result {
	if p.Attachment.Info == InfoRelatedReply {
		return Accept
	}
	if h := c.rare.helper; h != nil {
		x := Exchange{Table: t, Conn: c, Packet: p, Direction: p.Attachment.Info.Direction()}
		if x.segment.find(p.View) == outcomeOK && x.segment.protocol == h.Protocol() && x.readPayload() {
			if h.Help(&x) == Drop {
				return Drop
			}
		}
	}
	return t.adjustSequence(p, c)
}

// readPayload finds what follows the transport header.
func (x *Exchange) readPayload() bool {
	s := &x.segment
	var off int
	switch s.protocol {
	case packet.ProtoTCP:
		h, result := s.bytes(0, 20)
		if result != outcomeOK {
			return false
		}
		off = int(h[12]>>4) * 4
		x.Seq = binary.BigEndian.Uint32(h[4:])
	case packet.ProtoUDP:
		off = 8
	default:
		return false
	}
	if s.at+off > len(s.data) {
		return false
	}
	x.Payload = s.data[s.at+off:]
	return true
}
