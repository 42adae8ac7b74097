package engine

import (
	"verdict/catalog"
	"verdict/conntrack"
	"verdict/packet"
)

// firstDecides takes over what a datagram has from its first fragment besides
// its header: whom the frame was for, unless that was said and not read there.
// Ref: inet_fragment.c, inet_frag_reasm_prepare.
func (w *Worker) firstDecides() {
	if w.noDevice() || w.meta.Has&packet.HasPktType != 0 {
		return
	}
	w.meta.PktType = w.view.PktType
	w.meta.PktType = w.receivedType(w.rxDevice())
}

// defragStep collects fragments; the packet goes on when its datagram is whole,
// as the datagram.
// Ref: nf_defrag_ipv4.c, ipv4_conntrack_defrag; nf_defrag_ipv6_hooks.c,
// ipv6_defrag.
func (w *Worker) defragStep(num catalog.HookNum) Fate {
	if v := &w.view; v.EtherType == packet.TypeIPv4 && v.FragOff == 0 && !v.MoreFragments {
		return Accepted // what Collect would say, too
	}
	w.track.Now = w.now
	place := conntrack.FragmentPlace{Output: num == catalog.HookOutput, Device: w.meta.IIF.Index}
	result, how := w.engine.defrag.Collect(&w.track, place, &w.meta.Mark, &w.buffer)
	switch result {
	case conntrack.Collected:
		w.out.Reason = "it is a fragment of a datagram that is not complete yet"
		return Lost
	case conntrack.FragmentDropped:
		w.out.Reason = "its datagram's fragments do not fit together"
		return Lost
	case conntrack.Reassembled:
		kept := *how
		w.reassembly = &kept
		w.firstDecides()
		w.pkt.Length = w.view.NetLen
	}
	return Accepted
}
