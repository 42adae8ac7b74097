package tc

import (
	"encoding/binary"

	"verdict/conntrack"
	"verdict/offload"
)

// Bits of flower's ct_state.
//
// Ref: include/uapi/linux/pkt_cls.h, TCA_FLOWER_KEY_CT_FLAGS_NEW
const (
	ctNew         = 1
	ctEstablished = 2
	ctRelated     = 4
	ctTracked     = 8
	ctInvalid     = 16
	ctReply       = 32
)

// dissectCT fills the fields of the packet's connection. Behind a ct action a
// packet without one is tracked and invalid.
//
// Ref: flow_dissector.c, skb_flow_dissect_ct
func (p *Packet) dissectCT(k *offload.Key) {
	state, zone, mark := k.Get(offload.FieldCTState), k.Get(offload.FieldCTZone), k.Get(offload.FieldCTMark)
	clear(k[offload.FieldCTState.Off : offload.FieldCTLabels.Off+offload.FieldCTLabels.Len])
	c := p.CT.Conn
	if c == nil {
		if p.postCT {
			binary.LittleEndian.PutUint16(state, ctTracked|ctInvalid)
			binary.LittleEndian.PutUint16(zone, p.ctZone)
		}
		return
	}
	bits := uint16(ctTracked)
	switch p.CT.Info {
	case conntrack.InfoEstablished:
		bits |= ctEstablished
	case conntrack.InfoRelated:
		bits |= ctRelated
	case conntrack.InfoNew:
		bits |= ctNew
	case conntrack.InfoEstablishedReply:
		bits |= ctEstablished | ctReply
	case conntrack.InfoRelatedReply:
		bits |= ctRelated | ctReply
	}
	binary.LittleEndian.PutUint16(state, bits)
	binary.LittleEndian.PutUint16(zone, c.Zone.ID)
	binary.LittleEndian.PutUint32(mark, c.Mark)
	copy(k.Get(offload.FieldCTLabels), c.Labels[:])
}
