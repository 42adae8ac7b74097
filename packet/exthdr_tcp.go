package packet

// TCPHeaderLen returns the length of the TCP header with options. The
// result is Break if the packet has no complete one: not TCP, a fragment
// other than the first, a data offset below 20 bytes, a header longer than
// the packet.
//
// Ref: nft_exthdr.c, nft_tcp_header_pointer
func (v *View) TCPHeaderLen() (int, LoadResult) {
	if result := v.transport(); result != OK {
		return 0, result
	}
	if v.L4Proto != ProtoTCP {
		return 0, Break
	}
	h, result := v.span(v.ThOff, 20)
	if result != OK {
		return 0, result
	}
	length := int(h[12]>>4) * 4
	if length < 20 {
		return 0, Break
	}
	return length, v.beyond(v.ThOff + length)
}

// FindTCPOption finds the first TCP option of a kind and returns the offset
// of its kind byte and its length. The walk has the kernel's habits: it runs
// over an end-of-list option, takes a zero length as one, and does not see an
// option in the header's very last byte. An option that reaches beyond the
// header is FoundShort. Every option of a packet without a complete TCP
// header is absent (a question for presence gets 0, a load breaks).
//
// The caller compares length with what it wants to load: an option that is
// too short counts as absent.
//
// Ref: nft_exthdr.c, nft_exthdr_tcp_eval
func (v *View) FindTCPOption(kind uint8) (off, length int, found Found) {
	headerLen, result := v.TCPHeaderLen()
	if result != OK {
		return 0, 0, missing(result)
	}
	h := v.packet[v.ThOff : v.ThOff+headerLen]
	for at := 20; at < len(h)-1; {
		size := tcpOptionLen(h, at)
		if h[at] == kind {
			if at+size > len(h) {
				return 0, 0, FoundShort
			}
			return v.ThOff + at, size, Present
		}
		at += size
	}
	return 0, 0, Absent
}

// tcpOptionLen is the step from the option at offset at to the next.
func tcpOptionLen(h []byte, at int) int {
	if h[at] <= OptionNOP || h[at+1] == 0 {
		return 1
	}
	return int(h[at+1])
}
