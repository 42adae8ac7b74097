package conntrack

import (
	"time"

	"verdict/packet"
)

// TFTP expects the server's answer from a port of its choice.
// Ref: nf_conntrack_tftp.c; RFC 1350.
type TFTP struct{}

// Name implements Helper.
func (TFTP) Name() string { return "tftp" }

// Protocol implements Helper.
func (TFTP) Protocol() uint8 { return packet.ProtoUDP }

// Policy implements Helper.
func (TFTP) Policy() ExpectPolicy { return ExpectPolicy{Max: 1, Timeout: 5 * time.Minute} }

// Help expects an answer to read and write requests.
func (TFTP) Help(x *Exchange) Result {
	const read, write = 1, 2
	if len(x.Payload) < 2 || x.Payload[0] != 0 || x.Payload[1] != read && x.Payload[1] != write {
		return Accept
	}
	back := &x.Conn.Tuples[Reply]
	e := &Expectation{
		Tuple:      Tuple{Src: back.Src, Dst: back.Dst, DstPort: back.DstPort, Family: back.Family, Protocol: packet.ProtoUDP},
		AnySrcPort: true,
		Master:     x.Conn,
	}
	if x.Conn.Status&statusNATMask != 0 {
		e.followMaster(Original, x.Conn.Tuples[Original].SrcPort)
	}
	if x.Table.Expect(e, 0, x.Packet.Now) != nil {
		return Drop
	}
	return Accept
}
