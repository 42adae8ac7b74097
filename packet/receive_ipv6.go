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
	switch {
	case result != OK:
		return ReceivedUnknown
	case !received6(h, loopback):
		return Dropped
	case h[6] == ProtoHopByHop:
		return v.receiveHopByHop()
	}
	return Delivered
}

// received6 checks the addresses.
func received6(h []byte, loopback bool) bool {
	src, dst := h[8:24], h[24:40]
	multicast := dst[0] == 0xff
	scope := dst[1] & 0xf
	switch {
	case src[0] == 0xff,
		multicast && scope == 0,
		!loopback && (isLoopback6(src) || isLoopback6(dst)),
		!loopback && multicast && scope == 1,
		isMapped(src):
		return false
	}
	return true
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
	case result != OK || v.judgeOptions(h, true).fault != optionsFine:
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

// optionsFault says what is wrong with options.
type optionsFault uint8

const (
	optionsFine    optionsFault = iota
	optionsBad                  // nobody is told
	optionsUnknown              // an option that must be known is not
	optionsField                // a field is wrong
)

// judgement is the first fault of a header's options, and where it stands,
// counted from the header.
type judgement struct {
	fault optionsFault
	at    int
}

// ValidOptions reports whether the options of a destination options header,
// given whole, are accepted by the packet's receiver.
func (v *View) ValidOptions(h []byte) bool { return v.judgeOptions(h, false).fault == optionsFine }

// ICMPv6 codes of parameter problems. Ref: RFC 4443 §3.4.
const (
	ProblemField  = 0
	ProblemOption = 2
)

// OptionProblem is the parameter problem that the sender of a refused packet is
// told of: its code, and where in the packet it is. The options are those of a
// destination options header at an offset of Data, or with offset 0 the
// hop-by-hop options of a packet that Receive dropped.
//
// Ref: ip6_tlvopt_unknown, ipv6_hop_jumbo
func (v *View) OptionProblem(offset int, loopback bool) (code uint8, pointer int, found bool) {
	hop := offset == 0
	if hop {
		h, result := v.span(v.ipOff, 40)
		if result != OK || h[6] != ProtoHopByHop || !received6(h, loopback) {
			return 0, 0, false
		}
		offset = v.ipOff + 40
	}
	h, result := v.span(offset, 8)
	if result == OK {
		h, result = v.span(offset, 8*(int(h[1])+1))
	}
	if result != OK {
		return 0, 0, false
	}
	j := v.judgeOptions(h, hop)
	pointer = offset - v.ipOff + j.at
	switch j.fault {
	case optionsUnknown:
		action := h[j.at] >> 6
		return ProblemOption, pointer, action == 2 || action == 3 && v.Data[v.ipOff+24] != 0xff
	case optionsField:
		return ProblemField, pointer, true
	}
	return 0, 0, false
}

// judgeOptions accepts options if padding is zero and no longer than alignment
// needs, and unknown options say that they may be skipped.
//
// Ref: ip6_parse_tlv
func (v *View) judgeOptions(h []byte, hop bool) judgement {
	padding, count := 0, 0
	for at := 2; at < len(h); {
		if h[at] == hopPad1 {
			if padding++; padding > maxHopPadding {
				return judgement{optionsBad, at}
			}
			at++
			continue
		}
		if len(h)-at < 2 || int(h[at+1])+2 > len(h)-at {
			return judgement{optionsBad, at}
		}
		option := h[at : at+int(h[at+1])+2]
		if option[0] == hopPadN {
			padding += len(option)
			if padding > maxHopPadding || !allZero(option[2:]) {
				return judgement{optionsBad, at}
			}
		} else {
			padding = 0
			if count++; count > maxHopOptions {
				return judgement{optionsBad, at}
			}
			if j := v.judgeOption(option, at, hop); j.fault != optionsFine {
				return j
			}
		}
		at += len(option)
	}
	return judgement{}
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// judgeOption checks one option, which starts at offset at of the header.
func (v *View) judgeOption(option []byte, at int, hop bool) judgement {
	switch {
	case hop && option[0] == hopRouterAlert:
		if len(option) != 4 {
			return judgement{optionsBad, at}
		}
	case hop && option[0] == hopJumbo:
		return v.judgeJumbo(option, at)
	case option[0]>>6 != 0:
		return judgement{optionsUnknown, at}
	}
	return judgement{}
}

// judgeJumbo checks a jumbo payload option. Ref: ipv6_hop_jumbo
func (v *View) judgeJumbo(option []byte, at int) judgement {
	if len(option) != 6 || at&3 != 2 {
		return judgement{optionsBad, at}
	}
	length := int(binary.BigEndian.Uint32(option[2:]))
	switch {
	case length <= 65535:
		return judgement{optionsField, at + 2}
	case binary.BigEndian.Uint16(v.Data[v.ipOff+4:]) != 0:
		return judgement{optionsField, at}
	case length > v.OrigLen-v.ipOff-40:
		return judgement{optionsBad, at}
	}
	return judgement{}
}
