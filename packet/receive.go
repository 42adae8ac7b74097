package packet

import "encoding/binary"

// Received tells whether a packet that an interface delivers gets as far as
// the prerouting hooks.
type Received uint8

const (
	// Delivered: the hooks see it.
	Delivered Received = iota
	// Dropped: the IP stack drops it before any hook of the IP families.
	Dropped
	// ReceivedUnknown: the header was not captured whole.
	ReceivedUnknown
)

// Receive tells what the IP stack does with the packet before its first
// hook: it drops packets with bad lengths, IPv4 packets with a bad header
// checksum, and IPv6 packets whose addresses may not come from a wire.
// loopback says that the packet came over the loopback device. Packets of
// other protocols are delivered, to whatever hooks their protocol has.
//
// It must be called at PositionIP.
//
// Packets for other hosts (PktOtherHost) are dropped there too; that is for
// the caller to decide, who knows the interface's address. A packet that the
// host itself sends is not received, and nothing here applies to it.
//
// Ref: ip_rcv_core, ip6_rcv_core
func (v *View) Receive(loopback bool) Received {
	switch v.ipType {
	case TypeIPv4, TypeIPv6:
	default:
		return Delivered
	}
	switch v.Validity {
	case Malformed, Truncated:
		return Dropped
	case HeaderCut:
		return ReceivedUnknown
	}
	if v.ipType == TypeIPv6 {
		return v.receiveIPv6(loopback)
	}
	switch ok, result := v.verifyIPv4Header(v.ipOff); {
	case result == Cut:
		return ReceivedUnknown
	case result != OK || !ok:
		return Dropped
	}
	return Delivered
}

// receiveIPv6 checks the addresses. They are in the capture, else the header
// would be cut.
//
// Ref: RFC 4291 §2.5.3, §2.7
func (v *View) receiveIPv6(loopback bool) Received {
	if v.ipOff+40 > len(v.Data) {
		return ReceivedUnknown
	}
	src, dst := v.Data[v.ipOff+8:v.ipOff+24], v.Data[v.ipOff+24:v.ipOff+40]
	multicast := dst[0] == 0xff
	scope := dst[1] & 0xf
	switch {
	case src[0] == 0xff,
		multicast && scope == 0,
		!loopback && (isLoopback6(src) || isLoopback6(dst)),
		!loopback && multicast && scope == 1,
		isMapped(src):
		return Dropped
	}
	return Delivered
}

func isLoopback6(a []byte) bool {
	return binary.BigEndian.Uint64(a) == 0 && binary.BigEndian.Uint64(a[8:]) == 1
}

// isMapped reports whether an address is ::ffff:0:0/96.
func isMapped(a []byte) bool {
	return binary.BigEndian.Uint64(a) == 0 && binary.BigEndian.Uint32(a[8:]) == 0xffff
}
