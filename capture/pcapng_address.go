package capture

import "net/netip"

// appendAddress writes an interface's own address as if_IPv4addr or
// if_IPv6addr.
func appendAddress(b []byte, prefix netip.Prefix) []byte {
	address := prefix.Addr()
	if !address.Is4() {
		wide := address.As16()
		return appendOption(b, optionIPv6, string(append(wide[:], byte(prefix.Bits()))))
	}
	value := address.As4()
	mask := ^uint32(0) << (32 - prefix.Bits())
	return appendOption(b, optionIPv4, string(append(value[:],
		byte(mask>>24), byte(mask>>16), byte(mask>>8), byte(mask))))
}

// ipv4Prefix reads an address followed by its mask.
func ipv4Prefix(value []byte) netip.Prefix {
	length := 0
	for _, octet := range value[4:8] {
		for ; octet&0x80 != 0; octet <<= 1 {
			length++
		}
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte(value[:4])), length)
}
