package packet

import "encoding/binary"

// MaxVLAN is the number of VLAN tags that Decode takes off a frame. The tag
// after them is left as an unspecified packet of that type.
const MaxVLAN = 8

// Validity says what the kernel finds when it looks at the lengths of an IP
// header. It decides whether the netdev and bridge families see an IP packet
// or an unspecified one, whether inet ingress drops it, and, together with
// Receive, whether the IP hooks see it at all.
//
// Ref: nf_tables_ipv4.h, nf_tables_ipv6.h
type Validity uint8

const (
	// NotIP is a packet of another protocol; nothing was checked.
	NotIP Validity = iota
	// Valid is an IP packet whose header agrees with the packet's length.
	Valid
	// Malformed has a wrong version, a header length below the minimum, or
	// a total length shorter than the header.
	Malformed
	// Truncated says it is longer than the packet is.
	Truncated
	// HeaderCut is a packet whose IP header was not captured whole:
	// whether it is valid cannot be known.
	HeaderCut
)

// String names the validity in lower case.
func (v Validity) String() string {
	switch v {
	case Valid:
		return "valid"
	case Malformed:
		return "malformed"
	case Truncated:
		return "truncated"
	case HeaderCut:
		return "header cut"
	}
	return "not ip"
}

// Position is a place in the receiving host; see the package documentation.
type Position uint8

const (
	PositionIP     Position = iota // hooks of ip, ip6, inet, arp
	PositionDevice                 // hooks of netdev, bridge; ingress of inet
)

// View is one decoded frame. The zero View is ready for Decode, and a View
// may be decoded into again and again. It refers to the frame's bytes and
// never writes them; the caller keeps them unchanged while it uses the View.
// A View is not safe for concurrent use, because some answers are computed
// on first demand.
//
// All offsets are indexes into Data and stay within OrigLen, but may lie
// beyond len(Data) where the capture is cut.
type View struct {
	// Data is the frame as captured.
	Data []byte
	// packet is Data up to End: what may be loaded at this position.
	packet []byte

	// OrigLen is the frame's length on the wire. It is at least len(Data).
	// For NFLOG frames, whose records do not give it, it is derived from
	// the IP header.
	OrigLen int

	// MacOff is where the link header starts, MacLen its length with
	// inline VLAN tags. MacLen is 0 where the packet has no link header at
	// this position; then loads from the link layer break.
	MacOff int
	MacLen int
	// NetOff is where the network header starts.
	NetOff int
	// ThOff is where the transport header starts. It means something only
	// if L4OK. For an IPv6 packet that is not a first fragment it is the
	// end of the fragment header.
	ThOff int
	// NetLen is the packet's length from NetOff on: what meta length and
	// counters see in the IP hooks and at netdev ingress. (At netdev egress
	// the link header counts too: DeviceLen.)
	NetLen int
	// End is NetOff + NetLen: the first offset that is not in the packet.
	End int

	// Link is the frame's link type.
	Link LinkType
	// OuterType is the type field that directly follows the link
	// addresses, even if it is a VLAN TPID or an 802.3 length; 0 where the
	// link layer has none.
	OuterType uint16
	// EtherType is the protocol of what starts at NetOff, 0 if unknown.
	EtherType uint16
	// FragOff is the fragment offset in units of 8 bytes: not 0 exactly
	// for fragments other than the first.
	FragOff uint16
	// NumVLAN is the number of tags in VLANTPID and VLANTCI.
	NumVLAN uint8
	// L4Proto is the transport protocol, if L4OK. For an IPv6 packet with
	// an authentication header it is 51.
	L4Proto uint8
	// L4OK says that the transport protocol is known, the kernel's
	// NFT_PKTINFO_L4PROTO. Without it the packet is unspecified.
	L4OK bool
	// L4Cut says that the transport protocol is unknown only because the
	// headers before it were not captured. Then L4OK is false.
	L4Cut bool
	// MoreFragments is set for every fragment but the last.
	MoreFragments bool
	// AuthHeader is set if the IPv6 header chain holds an authentication
	// header.
	AuthHeader bool
	// PktType is what the frame itself says about its addressee.
	PktType PktType
	// Validity is the result of the IP header's length checks.
	Validity Validity
	// Position is the current position.
	Position Position

	link linkFlags
	// cookedHW is the ARPHRD_ type of a cooked frame's interface.
	cookedHW uint16

	// The link header reads straight from MacOff for llSpan bytes; what
	// follows is found llShift bytes further on.
	llSpan, llShift int

	// Network header and protocol at the two positions.
	ipOff, devOff   int
	ipType, devType uint16

	// innerOff and innerResult remember InnerOff; 0 is not computed yet.
	innerOff    int
	innerResult LoadResult

	// VLANTPID and VLANTCI are the tags, outermost first. Only the first
	// NumVLAN are valid.
	VLANTPID, VLANTCI [MaxVLAN]uint16

	// log is valid if link has linkLogged.
	log LogInfo
}

// linkFlags tell what the link layer of a frame was.
type linkFlags uint8

const (
	linkCooked   linkFlags = 1 << iota // the link header must be made up from a cooked one
	linkUntagged                       // the link header reads without VLAN tags at PositionIP
	linkNoIPMac                        // no link header at PositionIP (PPPoE, MPLS)
	linkHidden                         // HideMac was called
	linkLogged                         // log is valid
	linkPPPoE                          // the packet was in a PPPoE session
	linkMPLS                           // the packet was below a label stack
)

// HasPPPoE reports whether the frame carries a PPPoE session packet.
func (v *View) HasPPPoE() bool { return v.link&linkPPPoE != 0 }

// HasMPLS reports whether the frame carries an MPLS label stack with IP below.
func (v *View) HasMPLS() bool { return v.link&linkMPLS != 0 }

// unlimitedSpan is the llSpan of a link header in one piece.
const unlimitedSpan = 1 << 30

// Decode reads the frame's headers and puts the view at PositionIP. data is
// what was captured, origLen the frame's length on the wire (a value below
// len(data) is taken as len(data)). It never fails: what it cannot interpret
// is an unspecified packet. An ordinary TCP/IPv4 frame costs about 10 ns.
func (v *View) Decode(link LinkType, data []byte, origLen int) {
	v.Data = data
	v.OrigLen = max(origLen, len(data))
	v.Link = link
	v.link = 0
	v.NumVLAN = 0
	v.MacOff = 0
	v.innerResult = innerUnset
	v.llSpan = unlimitedSpan
	if link == LinkEthernet && len(data) >= 14 {
		v.MacLen = 14
		t := binary.BigEndian.Uint16(data[12:])
		v.OuterType = t
		v.PktType = ethernetPktType(data)
		if t == TypeIPv4 || t == TypeIPv6 {
			v.setNetwork(14, t)
			return
		}
		v.walkTags(14, t)
		return
	}
	v.decodeOther()
}

// setNetwork ends the link layer: the same network header at both positions.
func (v *View) setNetwork(off int, etherType uint16) {
	v.devOff, v.devType = off, etherType
	v.ipOff, v.ipType = off, etherType
	v.Position = PositionIP
	v.parseNetwork(off, etherType)
}

// parseNetwork sets what speaks of the network header and beyond. off may
// lie beyond what was captured.
func (v *View) parseNetwork(off int, etherType uint16) {
	v.NetOff, v.EtherType = off, etherType
	switch etherType {
	case TypeIPv4:
		v.parseIPv4(off)
	case TypeIPv6:
		v.parseIPv6(off)
	default:
		v.unspecified(NotIP)
		v.setEnd(v.OrigLen)
	}
}

// unspecified makes the packet one without a known transport protocol.
func (v *View) unspecified(why Validity) {
	v.Validity = why
	v.L4OK, v.L4Cut = false, why == HeaderCut
	v.L4Proto, v.FragOff, v.ThOff = 0, 0, 0
	v.MoreFragments, v.AuthHeader = false, false
}

// setEnd sets the packet's end, which is at most OrigLen. Devices do not look
// at the IP header's length, so that padding counts there.
func (v *View) setEnd(end int) {
	if v.Position == PositionDevice {
		end = v.OrigLen
	}
	v.End = end
	v.NetLen = end - v.NetOff
	v.packet = v.Data[:min(end, len(v.Data))]
}

// AtDevice moves the view to PositionDevice.
func (v *View) AtDevice() {
	if v.Position == PositionDevice {
		return
	}
	v.Position = PositionDevice
	v.innerResult = innerUnset
	v.setLinkHeader()
	v.parseNetwork(v.devOff, v.devType)
}

// AtIP moves the view back to PositionIP, where Decode left it.
func (v *View) AtIP() {
	if v.Position == PositionIP {
		return
	}
	v.Position = PositionIP
	v.innerResult = innerUnset
	v.setLinkHeader()
	v.parseNetwork(v.ipOff, v.ipType)
}

// DeviceLen is the length that meta length and counters see at netdev
// egress: the network packet with its padding, and the link header without
// the VLAN tag that hardware would insert.
func (v *View) DeviceLen() int {
	n := v.OrigLen - v.devOff
	if v.link&linkHidden == 0 && v.hasEthernetHeader() {
		n += 14
	}
	return n
}

// Trim shortens the packet at the current position to end at an offset of the
// frame, as a receiver does with what a datagram's length leaves out. Headers
// stay as they were decoded.
func (v *View) Trim(end int) {
	if end < v.End && end >= v.NetOff {
		v.End, v.NetLen = end, end-v.NetOff
		v.packet = v.Data[:min(end, len(v.Data))]
	}
}

// HideMac takes the link header away: for a packet that the host itself
// sends, which has none before it reaches a device. ShowMac, or Decode,
// brings it back.
func (v *View) HideMac() {
	v.link |= linkHidden
	v.setLinkHeader()
}

// MacHidden reports whether HideMac took the link header away.
func (v *View) MacHidden() bool { return v.link&linkHidden != 0 }

// ShowMac undoes HideMac.
func (v *View) ShowMac() {
	v.link &^= linkHidden
	v.setLinkHeader()
}
