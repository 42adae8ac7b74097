package packet

import "strconv"

// LinkType is the LINKTYPE_ number of a capture file's interface: the first
// header of each of its frames. Numbers not listed here decode to
// unspecified packets.
//
// Ref: https://www.tcpdump.org/linktypes.html
type LinkType uint16

// Link types that View.Decode looks into.
const (
	LinkNull       LinkType = 0   // BSD loopback: address family in the byte order of the capturing host
	LinkEthernet   LinkType = 1   // Ethernet
	LinkPPP        LinkType = 9   // PPP, with or without HDLC address and control
	LinkRawBSD     LinkType = 12  // raw IP (DLT_RAW on most systems)
	LinkRawOpenBSD LinkType = 14  // raw IP (DLT_RAW on OpenBSD)
	LinkPPPHDLC    LinkType = 50  // PPP in HDLC-like framing, or Cisco HDLC
	LinkPPPoE      LinkType = 51  // PPPoE session or discovery, without the Ethernet header
	LinkRaw        LinkType = 101 // raw IP
	LinkCiscoHDLC  LinkType = 104 // Cisco HDLC
	LinkLoop       LinkType = 108 // OpenBSD loopback: address family in network byte order
	LinkLinuxSLL   LinkType = 113 // Linux cooked capture, version 1
	LinkPPPPPPD    LinkType = 166 // PPP behind one byte of direction
	LinkPPPWithDir LinkType = 204 // PPP behind one byte of direction
	LinkIPv4       LinkType = 228 // raw IPv4
	LinkIPv6       LinkType = 229 // raw IPv6
	LinkNFLOG      LinkType = 239 // Linux netfilter log messages
	LinkLinuxSLL2  LinkType = 276 // Linux cooked capture, version 2
)

var linkNames = map[LinkType]string{
	LinkNull:       "null",
	LinkEthernet:   "ethernet",
	LinkPPP:        "ppp",
	LinkRawBSD:     "raw",
	LinkRawOpenBSD: "raw",
	LinkPPPHDLC:    "ppp-hdlc",
	LinkPPPoE:      "pppoe",
	LinkRaw:        "raw",
	LinkCiscoHDLC:  "chdlc",
	LinkLoop:       "loop",
	LinkLinuxSLL:   "linux-sll",
	LinkPPPPPPD:    "ppp-pppd",
	LinkPPPWithDir: "ppp-with-direction",
	LinkIPv4:       "ipv4",
	LinkIPv6:       "ipv6",
	LinkNFLOG:      "nflog",
	LinkLinuxSLL2:  "linux-sll2",
}

// String returns a short name, or "linktype N" for a type that is not
// looked into.
func (t LinkType) String() string {
	if name, ok := linkNames[t]; ok {
		return name
	}
	return "linktype " + strconv.Itoa(int(t))
}

// Known reports whether Decode looks into frames of this type. Frames of
// other types are unspecified packets.
func (t LinkType) Known() bool {
	_, ok := linkNames[t]
	return ok
}
