package packet

import "encoding/binary"

// FindSCTPChunk finds the first SCTP chunk of a type and returns its offset
// and the length that it claims. A chunk that claims more than the packet
// holds is found all the same: a question for presence gets 1, a load must
// compare off+length with End and break.
//
// Ref: nft_exthdr.c, nft_exthdr_sctp_eval
func (v *View) FindSCTPChunk(chunk uint8) (off, length int, found Found) {
	if result := v.transport(); result != OK {
		return 0, 0, missing(result)
	}
	if v.L4Proto != ProtoSCTP {
		return 0, 0, Absent
	}
	for at := v.ThOff + 12; at < v.End; {
		h, result := v.span(at, 4)
		if result != OK {
			return 0, 0, missing(result)
		}
		size := int(binary.BigEndian.Uint16(h[2:]))
		if size == 0 {
			break
		}
		if h[0] == chunk {
			return at, size, Present
		}
		at += (size + 3) &^ 3
	}
	return 0, 0, Absent
}
