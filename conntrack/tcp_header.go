package conntrack

import "encoding/binary"

// TCP flag bits of byte 13. Push, and those of congestion control, do not
// matter here.
const (
	flagFIN = 0x01
	flagSYN = 0x02
	flagRST = 0x04
	flagACK = 0x10
	flagURG = 0x20

	flagsThatMatter = flagFIN | flagSYN | flagRST | flagACK | flagURG
)

// validFlags is the set of flag combinations that occur.
// Ref: nf_conntrack_proto_tcp.c, tcp_valid_flags.
const validFlags uint64 = 1<<flagSYN | 1<<(flagSYN|flagURG) | 1<<(flagSYN|flagACK) |
	1<<flagRST | 1<<(flagRST|flagACK) |
	1<<(flagFIN|flagACK) | 1<<(flagFIN|flagACK|flagURG) |
	1<<flagACK | 1<<(flagACK|flagURG)

// tcpHeader is a TCP header, read once.
type tcpHeader struct {
	seq, ack, end uint32 // end is seq + payload, SYN and FIN counting one
	win           uint16
	flags         uint8
	class         uint8
	payload       uint32
	options       []byte
	optionsCut    bool
}

// read checks the header's lengths and flags.
// Ref: nf_conntrack_proto_tcp.c, tcp_error.
func (h *tcpHeader) read(s *segment) outcome {
	b, result := s.bytes(0, 20)
	if result != outcomeOK {
		return result
	}
	length := int(b[12]>>4) * 4
	if length < 20 || length > s.length() {
		return outcomeInvalid
	}
	h.flags = b[13] & flagsThatMatter
	if validFlags>>h.flags&1 == 0 {
		return outcomeInvalid
	}
	h.seq, h.ack = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	h.win = binary.BigEndian.Uint16(b[14:])
	h.payload = uint32(s.length() - length)
	h.end = h.seq + h.payload
	if h.flags&(flagSYN|flagFIN) != 0 {
		h.end++
	}
	h.class = h.classOf()
	h.options, h.optionsCut = nil, false
	if length > 20 {
		if h.options, result = s.bytes(20, length-20); result != outcomeOK {
			h.optionsCut = true
		}
	}
	return outcomeOK
}

func (h *tcpHeader) classOf() uint8 {
	switch {
	case h.flags&flagRST != 0:
		return classRST
	case h.flags&(flagSYN|flagACK) == flagSYN|flagACK:
		return classSYNACK
	case h.flags&flagSYN != 0:
		return classSYN
	case h.flags&flagFIN != 0:
		return classFIN
	}
	return classACK
}

// TCP option kinds.
const (
	optionEnd       = 0
	optionNop       = 1
	optionScale     = 3
	optionSACKPerm  = 4
	optionSACK      = 5
	optionTimestamp = 8
)

// maxScale is the largest window scale. Ref: RFC 7323 §2.3.
const maxScale = 14

// negotiate takes window scale and SACK permission from a SYN's options. A SYN
// without options changes nothing.
// Ref: nf_conntrack_proto_tcp.c, tcp_options.
func (side *tcpSide) negotiate(h *tcpHeader) {
	if h.optionsCut {
		side.flags |= sideLiberal
		return
	}
	if len(h.options) == 0 {
		return
	}
	side.scale = 0
	side.flags &= sideLiberal
	for o := h.options; len(o) > 0; {
		switch o[0] {
		case optionEnd:
			return
		case optionNop:
			o = o[1:]
			continue
		}
		if len(o) < 2 || o[1] < 2 || int(o[1]) > len(o) {
			return
		}
		switch {
		case o[0] == optionScale && o[1] == 3:
			side.scale = min(o[2], maxScale)
			side.flags |= sideScale
		case o[0] == optionSACKPerm && o[1] == 2:
			side.flags |= sideSACK
		}
		o = o[o[1]:]
	}
}

// sack returns the highest edge of the packet's selective acknowledgement, or
// its plain acknowledgement.
// Ref: nf_conntrack_proto_tcp.c, tcp_sack.
func (h *tcpHeader) sack() uint32 {
	highest := h.ack
	if len(h.options) == 12 && binary.BigEndian.Uint32(h.options) == optionNop<<24|optionNop<<16|optionTimestamp<<8|10 {
		return highest // the usual lone timestamp
	}
	for o := h.options; len(o) > 0; {
		switch o[0] {
		case optionEnd:
			return highest
		case optionNop:
			o = o[1:]
			continue
		}
		if len(o) < 2 || o[1] < 2 || int(o[1]) > len(o) {
			return highest
		}
		if n := int(o[1]); o[0] == optionSACK && n >= 10 && (n-2)%8 == 0 {
			for block := 2; block < n; block += 8 {
				if edge := binary.BigEndian.Uint32(o[block+4:]); after(edge, highest) {
					highest = edge
				}
			}
			return highest
		}
		o = o[o[1]:]
	}
	return highest
}
