package packet

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

// Receive tells what the network stack does with the packet before its first
// hook: it drops IP packets with bad lengths, IPv4 packets with a bad header
// checksum, IPv6 packets whose addresses may not come from a wire or whose
// hop-by-hop options are refused, and ARP packets that do not fit Ethernet.
// loopback says that the packet came over the loopback device. Packets of
// other protocols are delivered, to whatever hooks their protocol has.
//
// It must be called at PositionIP.
//
// Packets for other hosts (PktOtherHost) are dropped there too; that is for
// the caller to decide, who knows the interface's address. A packet that the
// host itself sends is not received, and nothing here applies to it.
//
// Ref: ip_rcv_core, ip6_rcv_core, arp_rcv
func (v *View) Receive(loopback bool) Received {
	switch v.ipType {
	case TypeIPv4, TypeIPv6:
	case TypeARP:
		return v.receiveARP()
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

// receiveARP checks that addresses have the lengths of Ethernet and IPv4.
func (v *View) receiveARP() Received {
	if !v.hasEthernetHeader() {
		return Delivered
	}
	h, result := v.span(v.ipOff, 28)
	switch {
	case result == Cut:
		return ReceivedUnknown
	case result != OK || h[4] != 6 || h[5] != 4:
		return Dropped
	}
	return Delivered
}
