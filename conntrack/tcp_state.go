package conntrack

// The states of a TCP connection, with the kernel's numbers.
// Ref: nf_conntrack_tcp.h, enum tcp_conntrack.
const (
	tcpNone uint8 = iota
	tcpSynSent
	tcpSynRecv
	tcpEstablished
	tcpFinWait
	tcpCloseWait
	tcpLastAck
	tcpTimeWait
	tcpClose
	tcpSynSent2 // simultaneous open

	tcpStates = iota
)

// Cells of the table that are no states.
const (
	tcpIgnore  uint8 = 0x40
	tcpInvalid uint8 = 0x80
)

// The classes of TCP packets.
const (
	classSYN uint8 = iota
	classSYNACK
	classFIN
	classACK
	classRST
	classNone

	tcpClasses = 5
)

// tcpStateNames are the names that connection listings use.
var tcpStateNames = [tcpStates]string{
	"NONE", "SYN_SENT", "SYN_RECV", "ESTABLISHED", "FIN_WAIT",
	"CLOSE_WAIT", "LAST_ACK", "TIME_WAIT", "CLOSE", "SYN_SENT2",
}

// tcpTable gives the state after a packet by direction, class, and state before
// it.
// Ref: nf_conntrack_proto_tcp.c, tcp_conntracks.
var tcpTable = func() (table [2][tcpClasses][16]uint8) {
	const (
		no, ss, sr, es, fw = tcpNone, tcpSynSent, tcpSynRecv, tcpEstablished, tcpFinWait
		cw, la, tw, cl, s2 = tcpCloseWait, tcpLastAck, tcpTimeWait, tcpClose, tcpSynSent2
		ig, iv             = tcpIgnore, tcpInvalid
	)
	rows := [2][tcpClasses][tcpStates]uint8{
		Original: { //     no  ss  sr  es  fw  cw  la  tw  cl  s2
			classSYN:    {ss, ss, ig, ig, ig, ig, ig, ss, ss, s2},
			classSYNACK: {iv, iv, sr, iv, iv, iv, iv, iv, iv, sr},
			classFIN:    {iv, iv, fw, fw, la, la, la, tw, cl, iv},
			classACK:    {es, iv, es, es, cw, cw, tw, tw, cl, iv},
			classRST:    {iv, cl, cl, cl, cl, cl, cl, cl, cl, cl},
		},
		Reply: {
			classSYN:    {iv, s2, iv, iv, iv, iv, iv, ss, iv, s2},
			classSYNACK: {iv, sr, ig, ig, ig, ig, ig, ig, ig, sr},
			classFIN:    {iv, iv, fw, fw, la, la, la, tw, cl, iv},
			classACK:    {iv, ig, sr, es, cw, cw, tw, tw, cl, ig},
			classRST:    {iv, cl, cl, cl, cl, cl, cl, cl, cl, cl},
		},
	}
	for d := range rows {
		for class := range rows[d] {
			copy(table[d][class][:], rows[d][class][:])
		}
	}
	return table
}()

// Flags of one side of a TCP connection.
const (
	sideScale     uint8 = 1 << iota // it announced a window scale
	sideSACK                        // it permits selective acknowledgements
	sideCloseInit                   // it sent the first FIN
	sideLiberal                     // its window is not checked
	sideUnacked                     // it has data that is not acknowledged
	sideMaxAckSet                   // maxAck means something
)

// tcpSide is what is known of one end. Sequence numbers are compared modulo
// 2^32.
type tcpSide struct {
	end    uint32 // highest sequence number sent, plus length
	maxEnd uint32 // highest that the other end's window allows
	maxWin uint32 // largest window announced, scaled
	maxAck uint32 // highest acknowledgement sent
	scale  uint8
	flags  uint8
}

// tcpState is what TCP tracking remembers: both ends, and the last packet.
type tcpState struct {
	sides                     [2]tcpSide
	lastSeq, lastAck, lastEnd uint32
	lastWin                   uint16
	lastDir                   Direction
	lastClass                 uint8
	lastScale, lastFlags      uint8 // options of a SYN that was ignored
	retrans                   uint8
	state                     uint8
	challenge                 bool // the ignored SYN may be answered by a challenge ACK
	simultaneous              bool // both ends opened the connection
}

// before and after compare sequence numbers.
func before(a, b uint32) bool { return int32(a-b) < 0 }
func after(a, b uint32) bool  { return int32(b-a) < 0 }

// StateName is the state of a TCP or SCTP connection as listings name it, ""
// for connections of other protocols.
func (c *Conn) StateName() string {
	switch c.Protocol() {
	case 6:
		return tcpStateNames[c.proto.tcp.state]
	case 132:
		return sctpStateNames[c.proto.sctp.state]
	}
	return ""
}
