package conntrack

// The states of an SCTP association, with the kernel's numbers.
// Ref: nf_conntrack_sctp.h, enum sctp_conntrack.
const (
	sctpNone uint8 = iota
	sctpClosed
	sctpCookieWait
	sctpCookieEchoed
	sctpEstablished
	sctpShutdownSent // seen in original direction
	sctpShutdownRecd // seen in reply direction
	sctpShutdownAckSent
	sctpHeartbeatSent

	sctpStates = iota
)

// sctpInvalid is a cell of the table that is no state.
const sctpInvalid uint8 = 0x80

var sctpStateNames = [sctpStates]string{
	"NONE", "CLOSED", "COOKIE_WAIT", "COOKIE_ECHOED", "ESTABLISHED",
	"SHUTDOWN_SENT", "SHUTDOWN_RECD", "SHUTDOWN_ACK_SENT", "HEARTBEAT_SENT",
}

// Chunk types. Ref: RFC 9260 §3.2.
const (
	chunkData             = 0
	chunkInit             = 1
	chunkInitAck          = 2
	chunkHeartbeat        = 4
	chunkHeartbeatAck     = 5
	chunkAbort            = 6
	chunkShutdown         = 7
	chunkShutdownAck      = 8
	chunkError            = 9
	chunkCookieEcho       = 10
	chunkCookieAck        = 11
	chunkShutdownComplete = 14

	sctpChunks = 15
)

// sctpTable gives the state after a chunk by direction, chunk, and state before
// it. Chunks without row leave the state.
// Ref: nf_conntrack_proto_sctp.c, sctp_conntracks.
var sctpTable = func() (table [2][sctpChunks][sctpStates]uint8) {
	const (
		no, cl, cw, ce, es = sctpNone, sctpClosed, sctpCookieWait, sctpCookieEchoed, sctpEstablished
		ss, sr, sa, hs, iv = sctpShutdownSent, sctpShutdownRecd, sctpShutdownAckSent, sctpHeartbeatSent, sctpInvalid
	)
	for d := range table {
		for chunk := range table[d] {
			table[d][chunk] = [sctpStates]uint8{no, cl, cw, ce, es, ss, sr, sa, hs}
		}
	}
	table[Original][chunkInit] = [sctpStates]uint8{cl, cl, cw, ce, es, cl, cl, sa, cw}
	table[Original][chunkInitAck] = [sctpStates]uint8{cl, cl, cw, ce, es, ss, sr, sa, cl}
	table[Original][chunkAbort] = [sctpStates]uint8{cl, cl, cl, cl, cl, cl, cl, cl, cl}
	table[Original][chunkShutdown] = [sctpStates]uint8{cl, cl, cw, ce, ss, ss, sr, sa, cl}
	table[Original][chunkShutdownAck] = [sctpStates]uint8{sa, cl, cw, ce, es, sa, sa, sa, sa}
	table[Original][chunkError] = [sctpStates]uint8{cl, cl, cw, ce, es, ss, sr, sa, cl}
	table[Original][chunkCookieEcho] = [sctpStates]uint8{cl, cl, ce, ce, es, ss, sr, sa, cl}
	table[Original][chunkCookieAck] = [sctpStates]uint8{cl, cl, cw, es, es, ss, sr, sa, cl}
	table[Original][chunkShutdownComplete] = [sctpStates]uint8{cl, cl, cw, ce, es, ss, sr, cl, cl}
	table[Original][chunkHeartbeat] = [sctpStates]uint8{hs, cl, cw, ce, es, ss, sr, sa, hs}
	table[Original][chunkHeartbeatAck] = [sctpStates]uint8{cl, cl, cw, ce, es, ss, sr, sa, hs}

	table[Reply][chunkInit] = [sctpStates]uint8{iv, cl, cw, ce, es, ss, sr, sa, iv}
	table[Reply][chunkInitAck] = [sctpStates]uint8{iv, cw, cw, ce, es, ss, sr, sa, iv}
	table[Reply][chunkAbort] = [sctpStates]uint8{iv, cl, cl, cl, cl, cl, cl, cl, iv}
	table[Reply][chunkShutdown] = [sctpStates]uint8{iv, cl, cw, ce, sr, ss, sr, sa, iv}
	table[Reply][chunkShutdownAck] = [sctpStates]uint8{iv, cl, cw, ce, es, sa, sa, sa, iv}
	table[Reply][chunkError] = [sctpStates]uint8{iv, cl, cw, cl, es, ss, sr, sa, iv}
	table[Reply][chunkCookieEcho] = [sctpStates]uint8{iv, cl, ce, ce, es, ss, sr, sa, iv}
	table[Reply][chunkCookieAck] = [sctpStates]uint8{iv, cl, cw, es, es, ss, sr, sa, iv}
	table[Reply][chunkShutdownComplete] = [sctpStates]uint8{iv, cl, cw, ce, es, ss, sr, cl, iv}
	table[Reply][chunkHeartbeat] = [sctpStates]uint8{iv, cl, cw, ce, es, ss, sr, sa, hs}
	table[Reply][chunkHeartbeatAck] = [sctpStates]uint8{iv, cl, cw, ce, es, ss, sr, sa, es}
	return table
}()

// sctpNext is the state after a chunk.
func sctpNext(d Direction, chunk, state uint8) uint8 {
	if chunk >= sctpChunks {
		return state
	}
	return sctpTable[d][chunk][state]
}

// sctpState is what SCTP tracking remembers.
type sctpState struct {
	tags       [2]uint32 // verification tag expected in each direction
	state      uint8
	sawInit    [2]bool
	suspect    bool // a heartbeat's tag was wrong: another path may be in use
	suspectDir Direction
}
