package capture

// packetBlock fills in the frame of an enhanced, obsolete or simple packet
// block.
//
// Ref: draft-ietf-opsawg-pcapng, sections 4.3, 4.4 and A.
func (r *Reader) packetBlock(b *block, frame *Frame) error {
	s := &r.ng
	var (
		headerLen          int
		id                 uint32
		stamp              uint64
		captured, original uint32
		body               = b.body
	)
	switch b.kind {
	case blockEnhancedPacket:
		headerLen = 20
		if len(body) < headerLen {
			return tooShort(b, "enhanced packet block")
		}
		id = s.u32(body)
		stamp = uint64(s.u32(body[4:]))<<32 | uint64(s.u32(body[8:]))
		captured, original = s.u32(body[12:]), s.u32(body[16:])
	case blockPacket:
		headerLen = 20
		if len(body) < headerLen {
			return tooShort(b, "packet block")
		}
		id = uint32(s.u16(body)) // then 16 bits of drop count
		stamp = uint64(s.u32(body[4:]))<<32 | uint64(s.u32(body[8:]))
		captured, original = s.u32(body[12:]), s.u32(body[16:])
	default:
		headerLen = 4
		if len(body) < headerLen {
			return tooShort(b, "simple packet block")
		}
		original = s.u32(body)
		captured = original
	}
	known := len(r.interfaces) - s.first
	if uint64(id) >= uint64(known) {
		return formatError(b.offset, "packet of interface %d, but the section has defined %d", id, known)
	}
	index := s.first + int(id)
	from := &r.interfaces[index]
	if b.kind == blockSimplePacket && from.SnapLen != 0 {
		captured = min(captured, from.SnapLen)
	}
	if uint64(captured) > uint64(r.maxFrame) {
		return formatError(b.offset, "captured length %d exceeds the limit of %d bytes", captured, r.maxFrame)
	}
	if int(captured) > len(body)-headerLen {
		return formatError(b.offset, "captured length %d exceeds the %d bytes of its block", captured, len(body)-headerLen)
	}
	end := headerLen + int(captured)
	frame.Data = body[headerLen:end:end]
	frame.OrigLen = int(max(captured, original))
	frame.LinkType = from.LinkType
	frame.Direction, frame.Reception = DirectionUnknown, ReceptionUnknown
	frame.Interface, frame.InterfaceName = index, from.Name
	frame.Comment = ""
	frame.Offset = b.offset
	clock := &s.clocks[index]
	frame.Time, frame.HasTime = clock.nanoseconds(stamp)
	fcsLen := clock.fcsLen
	if b.kind != blockSimplePacket {
		padded := (end + 3) &^ 3
		if len(body)-padded >= 4 {
			fcsLen = r.packetOptions(b, padded, frame, fcsLen)
		}
	}
	if fcsLen > 0 {
		frame.dropFCS(fcsLen)
	}
	return nil
}

func tooShort(b *block, what string) error {
	return formatError(b.offset, "%s of only %d bytes", what, len(b.body)+blockOverhead)
}

// packetOptions reads comments and flags. Damage in the options leaves the
// frame itself readable: it is reported by the next call of Next.
func (r *Reader) packetOptions(b *block, from int, frame *Frame, fcsLen int) int {
	list := optionList{state: &r.ng, offset: b.offset, body: b.body, at: from}
	comments := 0
	for list.next() {
		switch list.code {
		case optionComment:
			comments++
			if comments == 1 {
				frame.Comment = r.ng.comments.intern(list.value)
			} else {
				frame.Comment += "\n" + string(list.value)
			}
		case optionPacketFlags:
			if len(list.value) < 4 {
				continue
			}
			flags := r.ng.u32(list.value)
			frame.Direction = Direction(flags & 3)
			if frame.Direction > Outbound {
				frame.Direction = DirectionUnknown
			}
			frame.Reception = Reception(flags >> 2 & 7)
			if frame.Reception > ReceptionPromiscuous {
				frame.Reception = ReceptionUnknown
			}
			if length := int(flags >> 5 & 15); length > 0 {
				fcsLen = length
			}
		}
	}
	r.ng.pending = list.err
	return fcsLen
}

// commentTable keeps the comments seen, so that a capture whose frames repeat
// a few comments (a verdict and its rule) does not allocate one each.
type commentTable struct{ seen map[string]string }

const maxComments = 4096

func (t *commentTable) intern(text []byte) string {
	if known, ok := t.seen[string(text)]; ok {
		return known
	}
	if t.seen == nil {
		t.seen = make(map[string]string)
	}
	comment := string(text)
	if len(t.seen) < maxComments && len(text) < 1024 {
		t.seen[comment] = comment
	}
	return comment
}
