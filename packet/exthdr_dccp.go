package packet

// FindDCCPOption tells whether a DCCP option of a type is there. Options 0 to
// 31 are one byte, others carry their length, at least 2; a shorter one ends
// the walk without result.
//
// Ref: nft_exthdr.c, nft_exthdr_dccp_eval; RFC 4340 §5.8
func (v *View) FindDCCPOption(option uint8) (off int, found Found) {
	if result := v.transport(); result != OK {
		return 0, missing(result)
	}
	if v.L4Proto != ProtoDCCP {
		return 0, Absent
	}
	h, result := v.span(v.ThOff, 12)
	if result != OK {
		return 0, missing(result)
	}
	at, end := v.ThOff+dccpHeaderLen(h), v.ThOff+int(h[4])*4
	for at < end {
		o, result := v.span(at, min(2, end-at))
		if result != OK {
			return 0, missing(result)
		}
		switch {
		case o[0] == option:
			return at, Present
		case o[0] < 32:
			at++
		case len(o) < 2 || o[1] < 2:
			return 0, Absent
		default:
			at += int(o[1])
		}
	}
	return 0, Absent
}

// dccpHeaderLen is where options start: behind the generic header, which
// long sequence numbers extend, and the part that belongs to the type.
//
// Ref: RFC 4340 §5.1, §5.2-5.9
func dccpHeaderLen(h []byte) int {
	length := 12
	if h[8]&1 != 0 {
		length = 16
	}
	const request, response, data, ack, dataAck, closeRequest, closed, reset, sync, syncAck = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	switch h[8] >> 1 & 0xf {
	case data:
		return length
	case request:
		return length + 4
	case ack, dataAck, closeRequest, closed, sync, syncAck:
		return length + 8
	case response, reset:
		return length + 12
	}
	return length + 12
}
