package vm

import (
	"verdict/catalog"
	"verdict/packet"
)

// fastLoad tells loads that the kernel does in place: one, two or four bytes,
// aligned. Ref: nft_payload.c, nft_payload_select_ops.
func fastLoad(in *inst) bool {
	switch in.len {
	case 1, 2, 4:
		return in.off%uint32(in.len) == 0
	}
	return false
}

// fragmentLoad loads from the transport header of a fragment that has none: one
// that is not the first. Before Linux 7.1 the kernel's loads in place do not
// look, so that they read the fragment's data; of IPv6, whose headers are not
// walked to the end then, what the packet starts with. Longer loads break.
// docs/kernel-differences.md has the observation.
// Ref: nf_tables_core.c, nft_payload_fast_eval; net/ipv6/exthdrs_core.c,
// ipv6_find_hdr.
func (m *Machine) fragmentLoad(in *inst) outcome {
	view := m.pkt.View
	if !view.L4OK {
		return m.noTransport()
	}
	base, start := packet.BaseNetwork, view.ThOff-view.NetOff
	if view.EtherType == packet.TypeIPv6 {
		start = 0
		if m.pkt.HookFamily == catalog.FamilyNetdev && m.pkt.Hook == catalog.HookNetdevEgress {
			base = packet.BaseLink
		}
	}
	n := int(in.len)
	switch view.Load(base, start+int(in.off), n, m.bytes(in.dst, n)) {
	case packet.OK:
		m.zeroTail(in.dst, n)
		return outNext
	case packet.Cut:
		return outCut
	}
	return outBreak
}
