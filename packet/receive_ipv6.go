package packet

import (
	"bytes"
	"encoding/binary"
)

// receiveIPv6 checks addresses and hop-by-hop options.
//
// Ref: ip6_rcv_core; RFC 4291 §2.5.3, §2.7
func (v *View) receiveIPv6(loopback bool) Received {
	h, result := v.span(v.ipOff, 40)
	if result != OK {
		return ReceivedUnknown
	}
	src, dst := h[8:24], h[24:40]
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
	if h[6] == ProtoHopByHop {
		return v.receiveHopByHop()
	}
	return Delivered
}

func isLoopback6(a []byte) bool {
	return binary.BigEndian.Uint64(a) == 0 && binary.BigEndian.Uint64(a[8:]) == 1
}

// isMapped reports whether an address is in ::ffff:0:0/96.
func isMapped(a []byte) bool {
	return binary.BigEndian.Uint64(a) == 0 && binary.BigEndian.Uint32(a[8:]) == 0xffff
}

// receiveHopByHop reads the hop-by-hop options, which every receiver does
// before its first hook.
func (v *View) receiveHopByHop() Received {
	at := v.ipOff + 40
	h, result := v.span(at, 8)
	if result == OK {
		h, result = v.span(at, 8*(int(h[1])+1))
	}
	switch {
	case result == Cut:
		return ReceivedUnknown
	case result != OK || !v.validHopOptions(h):
		return Dropped
	}
	return Delivered
}

// Hop-by-hop options, and the kernel's default bound on their number.
//
// Ref: RFC 8200 §4.2, RFC 2711, RFC 2675; max_hbh_opts_number
const (
	hopPad1        = 0
	hopPadN        = 1
	hopRouterAlert = 5
	hopJumbo       = 0xc2
	maxHopOptions  = 8
	maxHopPadding  = 7
)

// validHopOptions reports whether a hop-by-hop header's options are accepted.
func (v *View) validHopOptions(h []byte) bool { return v.validOptions(h, true) }

// ValidOptions reports whether the options of a destination options header,
// given whole, are accepted by the packet's receiver.
func (v *View) ValidOptions(h []byte) bool { return v.validOptions(h, false) }

// validOptions accepts options if padding is zero and no longer than alignment
// needs, and unknown options say that they may be skipped.
//
// Ref: ip6_parse_tlv
func (v *View) validOptions(h []byte, hop bool) bool {
	padding, count := 0, 0
	for at := 2; at < len(h); {
		if h[at] == hopPad1 {
			if padding++; padding > maxHopPadding {
				return false
			}
			at++
			continue
		}
		if len(h)-at < 2 || int(h[at+1])+2 > len(h)-at {
			return false
		}
		option := h[at : at+int(h[at+1])+2]
		if option[0] == hopPadN {
			padding += len(option)
			if padding > maxHopPadding || !allZero(option[2:]) {
				return false
			}
		} else {
			padding = 0
			if count++; count > maxHopOptions || hop && !v.validHopOption(option, at) || !hop && option[0]>>6 != 0 {
				return false
			}
		}
		at += len(option)
	}
	return true
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// validHopOption checks one option, which starts at offset at of the header.
func (v *View) validHopOption(option []byte, at int) bool {
	switch option[0] {
	case hopRouterAlert:
		return len(option) == 4
	case hopJumbo:
		if len(option) != 6 || at&3 != 2 {
			return false
		}
		length := int(binary.BigEndian.Uint32(option[2:]))
		field := binary.BigEndian.Uint16(v.Data[v.ipOff+4:])
		return length > 65535 && field == 0 && length <= v.OrigLen-v.ipOff-40
	}
	return option[0]>>6 == 0
}
