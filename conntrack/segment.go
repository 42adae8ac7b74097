package conntrack

import (
	"encoding/binary"

	"verdict/packet"
)

// outcome is what a tracker says of a packet.
type outcome uint8

const (
	outcomeOK      outcome = iota
	outcomeInvalid         // the packet gets no connection
	outcomeDrop            // the packet is dropped
	outcomeRepeat          // the connection is over: start anew
	outcomeUnknown         // the capture holds too little
)

// segment is the transport part of a packet: data[at:end] with its protocol,
// where data may end before end if the capture is cut.
type segment struct {
	data     []byte
	network  int // offset of the IP header
	at, end  int
	protocol uint8
	six      bool
	before71 bool // Config.Before71
}

// bytes returns n bytes at an offset from the transport header.
func (s *segment) bytes(off, n int) ([]byte, outcome) {
	from := s.at + off
	switch {
	case from+n <= len(s.data):
		return s.data[from : from+n], outcomeOK
	case from+n <= s.end:
		return nil, outcomeUnknown
	}
	return nil, outcomeInvalid
}

// length is the number of bytes from the transport header to the packet's end.
func (s *segment) length() int { return s.end - s.at }

// cut reports whether bytes of the segment are missing from the capture.
func (s *segment) cut() bool { return s.end > len(s.data) }

// find locates the transport header. Fragments other than the first, and
// headers that lead nowhere, cannot be tracked.
// Ref: nf_conntrack_core.c, ipv4_get_l4proto, ipv6_get_l4proto.
func (s *segment) find(v *packet.View) outcome {
	switch v.Validity {
	case packet.Valid:
	case packet.HeaderCut:
		return outcomeUnknown
	default:
		return outcomeInvalid
	}
	s.data, s.network, s.at, s.end = v.Packet(), v.NetOff, v.ThOff, v.End
	s.protocol, s.six = v.L4Proto, v.EtherType == packet.TypeIPv6
	switch {
	case v.AuthHeader, s.before71 && s.six && !v.L4OK:
		return s.walk6(v.NetOff)
	case v.L4Cut:
		return outcomeUnknown
	case !v.L4OK, v.FragOff != 0, s.six && s.protocol == packet.ProtoNoNext:
		return outcomeInvalid
	}
	return outcomeOK
}

// maxExtensionHeaders bounds the walk along IPv6 headers.
const maxExtensionHeaders = 12

// walk6 follows the extension headers of the IPv6 header at an offset to the
// transport header. Unlike the rules' view it goes through authentication
// headers.
// Ref: exthdrs_core.c, ipv6_skip_exthdr.
func (s *segment) walk6(network int) outcome {
	s.at = network
	h, result := s.bytes(0, 40)
	if result != outcomeOK {
		return result
	}
	s.protocol, s.at = h[6], network+40
	for count := 0; ; count++ {
		length := 0
		switch s.protocol {
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts, packet.ProtoAH:
		case packet.ProtoFragment:
			length = 8
		case packet.ProtoNoNext:
			return outcomeInvalid
		default:
			return outcomeOK
		}
		if count == maxExtensionHeaders && !s.before71 {
			return outcomeInvalid
		}
		if h, result = s.bytes(0, max(2, length/2)); result != outcomeOK {
			return result
		}
		switch s.protocol {
		case packet.ProtoFragment:
			if binary.BigEndian.Uint16(h[2:])&^7 != 0 {
				return outcomeInvalid
			}
		case packet.ProtoAH:
			length = 4 * (int(h[1]) + 2)
		default:
			length = 8 + 8*int(h[1])
		}
		s.protocol, s.at = h[0], s.at+length
	}
}
