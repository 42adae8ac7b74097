package vm

import (
	"verdict/catalog"
	"verdict/nft/expr"
	"verdict/packet"
)

// exthdr loads from, writes into or blanks an extension header or option.
// Ref: nft_exthdr.c.
func (m *Machine) exthdr(in *inst) outcome {
	e := m.prog.exthdrs[in.ref]
	switch {
	case e.Write:
		return m.exthdrWrite(e, in)
	case e.Strip:
		return m.exthdrStrip(e, in)
	}
	start, room, found := m.findExthdr(e)
	switch found {
	case packet.FoundBreak:
		return outBreak
	case packet.FoundCut:
		return outCut
	}
	if e.Present {
		present := found == packet.Present
		if present && e.Op == expr.ExthdrTCPOpt {
			present = int(e.Offset+e.Len) <= room
		}
		m.put8(in.dst, flag(present))
		return outNext
	}
	if found != packet.Present || (room >= 0 && int(e.Offset+e.Len) > room) {
		return outBreak
	}
	return m.loadAt(start+int(e.Offset), int(e.Len), in)
}

// findExthdr finds what an exthdr expression names. room is the option's own
// length where it bounds what may be loaded, else -1.
func (m *Machine) findExthdr(e *expr.Exthdr) (start, room int, found packet.Found) {
	view := m.pkt.View
	room = -1
	switch e.Op {
	case expr.ExthdrIPv6:
		start, found = view.FindIPv6(e.Type)
	case expr.ExthdrIPv4:
		start, found = view.FindIPv4(e.Type)
		if found == packet.Present && m.pkt.HookFamily == catalog.FamilyNetdev && m.pkt.Hook == catalog.HookNetdevEgress {
			found = packet.Absent // the kernel looks for the IP header where the link header is
		}
	case expr.ExthdrTCPOpt:
		start, room, found = view.FindTCPOption(e.Type)
	case expr.ExthdrSCTP:
		start, _, found = view.FindSCTPChunk(e.Type)
	case expr.ExthdrDCCP:
		start, found = view.FindDCCPOption(e.Type)
	default:
		found = packet.FoundBreak
	}
	return start, room, found
}

// loadAt loads bytes at an absolute offset of the frame.
func (m *Machine) loadAt(at, n int, in *inst) outcome {
	view := m.pkt.View
	switch view.Load(packet.BaseNetwork, at-view.NetOff, n, m.bytes(in.dst, n)) {
	case packet.OK:
		m.zeroTail(in.dst, n)
		return outNext
	case packet.Cut:
		return outCut
	}
	return outBreak
}
