package conntrack

import "verdict/catalog"

// Direction of a packet within its connection.
type Direction uint8

// The directions.
const (
	Original Direction = 0
	Reply    Direction = 1
)

// Info is the kernel's ctinfo: how a packet relates to its connection.
// Ref: include/uapi/linux/netfilter/nf_conntrack_common.h.
type Info uint8

// The values. A packet without connection is InfoNone, one of which the
// capture holds too little to tell is InfoUnknown.
const (
	InfoEstablished      Info = 0
	InfoRelated          Info = 1
	InfoNew              Info = 2
	InfoEstablishedReply Info = 3
	InfoRelatedReply     Info = 4
	InfoUntracked        Info = 7
	InfoUnknown          Info = 0xfe
	InfoNone             Info = 0xff
)

// Direction that the packet runs in.
func (i Info) Direction() Direction {
	if i == InfoEstablishedReply || i == InfoRelatedReply {
		return Reply
	}
	return Original
}

// The bits of ct state.
const (
	StateInvalid     uint32 = 1
	StateEstablished uint32 = 2
	StateRelated     uint32 = 4
	StateNew         uint32 = 8
	StateUntracked   uint32 = 64
)

// The bits of ct status. Ref: enum ip_conntrack_status.
const (
	StatusExpected     uint32 = 0x1
	StatusSeenReply    uint32 = 0x2
	StatusAssured      uint32 = 0x4
	StatusConfirmed    uint32 = 0x8
	StatusSrcNAT       uint32 = 0x10
	StatusDstNAT       uint32 = 0x20
	StatusSeqAdjust    uint32 = 0x40
	StatusSrcNATDone   uint32 = 0x80
	StatusDstNATDone   uint32 = 0x100
	StatusDying        uint32 = 0x200
	StatusFixedTimeout uint32 = 0x400
	StatusTemplate     uint32 = 0x800
	StatusNATClash     uint32 = 0x1000
	StatusHelper       uint32 = 0x2000
	StatusOffload      uint32 = 0x4000

	statusNATMask     = StatusSrcNAT | StatusDstNAT
	statusNATDoneMask = StatusSrcNATDone | StatusDstNATDone
)

// Tuple identifies one direction of a connection. Addresses of IPv4 take the
// first four bytes. For ICMP, SrcPort is the id and DstPort type<<8 | code.
// For GRE the ports are keys. The bytes that a protocol does not use are zero,
// and take part in comparison.
type Tuple struct {
	Src, Dst         [16]byte
	SrcPort, DstPort uint16
	Family           catalog.Family // FamilyIP or FamilyIP6
	Protocol         uint8
}

// Zone is a conntrack zone with the directions it applies to.
type Zone struct {
	ID         uint16
	Directions uint8 // bit 0 original, bit 1 reply; 0 means both
}

// For returns the effective zone id of a direction.
func (z Zone) For(d Direction) uint16 {
	if z.Directions == 0 || z.Directions&(1<<d) != 0 {
		return z.ID
	}
	return 0
}
