package packet

// Rebase makes the view refer to another copy of the frame's bytes, which must
// have the same length. Offsets and what was decoded stay as they are, as the
// kernel keeps its packet information when a rule changes the packet.
func (v *View) Rebase(data []byte) {
	v.packet = data[:len(v.packet)]
	v.Data = data
}

// Replace makes the view refer to another frame of the same link type, whose
// length may differ, and decodes it at the view's position. What HideMac hid
// stays hidden.
func (v *View) Replace(data []byte, origLen int) {
	position, hidden := v.Position, v.link&linkHidden != 0
	v.Decode(v.Link, data, origLen)
	if hidden {
		v.HideMac()
	}
	if position == PositionDevice {
		v.AtDevice()
	}
}

// Place returns where in Data the bytes stand that Load would read. The result
// is Break also for parts of a link header that the frame does not hold as one
// piece.
func (v *View) Place(base Base, off, n int) (int, LoadResult) {
	start, result := v.base(base)
	if result != OK {
		return 0, result
	}
	if uint(off) > maxLoad || uint(n) > maxLoad {
		return 0, Break
	}
	at := start + off
	if base == BaseLink && off+n > v.llSpan {
		if v.link&linkCooked != 0 || off < v.llSpan {
			return 0, Break
		}
		at += v.llShift
	}
	return at, v.beyond(at + n)
}
