package engine

import (
	"verdict/catalog"
	"verdict/conntrack"
)

// defragStep collects fragments; the packet goes on when its datagram is whole,
// as the datagram.
// Ref: nf_defrag_ipv4.c, ipv4_conntrack_defrag; nf_defrag_ipv6_hooks.c,
// ipv6_defrag.
func (w *Worker) defragStep(num catalog.HookNum) Fate {
	w.track.Now = w.now
	place := conntrack.FragmentPlace{Output: num == catalog.HookOutput, Device: w.meta.IIF.Index}
	result, _ := w.engine.defrag.Collect(&w.track, place, &w.meta.Mark, &w.buffer)
	switch result {
	case conntrack.Collected:
		w.out.Reason = "it is a fragment of a datagram that is not complete yet"
		return Lost
	case conntrack.FragmentDropped:
		w.out.Reason = "its datagram's fragments do not fit together"
		return Lost
	case conntrack.Reassembled:
		w.pkt.Length = w.view.NetLen
	}
	return Accepted
}
