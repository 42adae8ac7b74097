package packet

// Rebase makes the view refer to another copy of the frame's bytes, which must
// have the same length. Offsets and what was decoded stay as they are, as the
// kernel keeps its packet information when a rule changes the packet.
func (v *View) Rebase(data []byte) {
	v.packet = data[:len(v.packet)]
	v.Data = data
}
