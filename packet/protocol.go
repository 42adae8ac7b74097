package packet

// EtherTypes, as integers. Values below 0x600 never stand in a frame: the
// kernel gives them to frames that carry a length instead of a type.
//
// Ref: include/uapi/linux/if_ether.h
const (
	Type8023    = 0x0001 // IPX over raw 802.3: the length is followed by ffff
	Type8022    = 0x0004 // 802.2 LLC
	TypeIPv4    = 0x0800
	TypeARP     = 0x0806
	TypeVLAN    = 0x8100 // 802.1Q tag
	TypeIPv6    = 0x86dd
	TypeMPLS    = 0x8847 // MPLS, unicast
	TypeMPLSMC  = 0x8848 // MPLS, upstream-assigned or multicast
	TypePPPoED  = 0x8863 // PPPoE discovery
	TypePPPoES  = 0x8864 // PPPoE session
	TypeSVLAN   = 0x88a8 // 802.1ad service tag
	TypeQinQOld = 0x9100 // pre-standard outer tag; Linux devices do not take it off
)

// IP protocol numbers and IPv6 next-header values.
//
// Ref: https://www.iana.org/assignments/protocol-numbers
const (
	ProtoHopByHop = 0
	ProtoICMP     = 1
	ProtoIGMP     = 2
	ProtoIPIP     = 4
	ProtoTCP      = 6
	ProtoUDP      = 17
	ProtoDCCP     = 33
	ProtoIPv6     = 41
	ProtoRouting  = 43
	ProtoFragment = 44
	ProtoGRE      = 47
	ProtoESP      = 50
	ProtoAH       = 51
	ProtoICMPv6   = 58
	ProtoNoNext   = 59
	ProtoDestOpts = 60
	ProtoIPComp   = 108
	ProtoSCTP     = 132
	ProtoMobility = 135
	ProtoUDPLite  = 136
)

// PktType says to whom the link layer addressed a frame.
//
// Ref: include/uapi/linux/if_packet.h
type PktType uint8

// The kernel's packet types, with their kernel values, and PktUnicast for
// what only the owner of the interface's address can decide.
const (
	PktHost      PktType = 0
	PktBroadcast PktType = 1
	PktMulticast PktType = 2
	PktOtherHost PktType = 3
	PktOutgoing  PktType = 4
	PktLoopback  PktType = 5
	// PktUnicast is a frame to one address, of which the frame does not
	// say whether it is this host's: host or otherhost.
	PktUnicast PktType = 0xff
)

// String returns the name that nft's meta pkttype uses, where it has one.
func (t PktType) String() string {
	switch t {
	case PktHost:
		return "host"
	case PktBroadcast:
		return "broadcast"
	case PktMulticast:
		return "multicast"
	case PktOtherHost:
		return "other"
	case PktOutgoing:
		return "outgoing"
	case PktLoopback:
		return "loopback"
	}
	return "unicast"
}
