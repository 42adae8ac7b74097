package conntrack

import (
	"encoding/binary"

	"verdict/packet"
)

// fragment is one piece of a datagram.
type fragment struct {
	offset, end  int // of the payload
	data         []byte
	more         bool
	dontFragment bool
	ecn          uint8 // bit of its ECN codepoint
	size         int   // of the packet, for the path MTU
	header       int   // where the headers that the datagram keeps end
	id           uint32
	protocol     uint8
	nextHeader   int  // IPv6: offset from the IP header of the field that named the fragment header
	unfit        bool // it is dropped at once
}

// read4 reads an IPv4 fragment; false for whole packets.
func (f *fragment) read4(v *packet.View) bool {
	if v.FragOff == 0 && !v.MoreFragments || v.ThOff > len(v.Data) {
		return false
	}
	h := v.Data[v.NetOff:]
	*f = fragment{
		offset: int(v.FragOff) * 8, more: v.MoreFragments, dontFragment: h[6]&0x40 != 0,
		ecn: 1 << (h[1] & 3), size: v.NetLen, header: v.ThOff, protocol: h[9],
		id: uint32(binary.BigEndian.Uint16(h[4:])),
	}
	f.end = f.offset + v.End - v.ThOff
	f.data = v.Packet()[v.ThOff:]
	return true
}

// read6 reads an IPv6 fragment, also one that is a whole datagram. It is false
// for what passes on by itself: packets without fragment header, jumbograms,
// broken chains, and first fragments without a complete upper header.
// Ref: nf_conntrack_reasm.c, nf_ct_frag6_gather, find_prev_fhdr.
func (f *fragment) read6(v *packet.View) bool {
	data := v.Packet()
	h := data[v.NetOff:]
	payload := int(binary.BigEndian.Uint16(h[4:]))
	if payload == 0 {
		return false
	}
	before, at, ok := findFragment(data, v.NetOff)
	if !ok {
		return false
	}
	field := binary.BigEndian.Uint16(data[at+2:])
	*f = fragment{
		offset: int(field &^ 7), more: field&1 != 0, ecn: 1 << (h[1] >> 4 & 3),
		size: 40 + payload, header: at, protocol: data[at], nextHeader: before - v.NetOff,
		id: binary.BigEndian.Uint32(data[at+4:]),
	}
	if f.offset == 0 && upperCut(data, at+8, v.End, f.protocol) {
		return false
	}
	f.end = f.offset + v.NetOff + 40 + payload - (at + 8)
	f.data = data[at+8:]
	f.unfit = f.end > maxDatagram
	return true
}

// findFragment walks to the fragment header: before is the offset of the field
// that names it.
func findFragment(data []byte, network int) (before, at int, ok bool) {
	before, at = network+6, network+40
	for {
		next := data[before]
		if at+8 > len(data) {
			return 0, 0, false
		}
		length := 0
		switch next {
		case packet.ProtoFragment:
			return before, at, true
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts:
			length = 8 + 8*int(data[at+1])
		case packet.ProtoAH:
			length = 4 * (int(data[at+1]) + 2)
		default:
			return 0, 0, false
		}
		before, at = at, at+length
	}
}

// upperCut reports whether a first fragment lacks a part of the upper header,
// which starts behind further extension headers.
// Ref: reassembly.c, ipv6frag_thdr_truncated; RFC 8200 §4.5.
func upperCut(data []byte, at, end int, next uint8) bool {
	for {
		switch next {
		case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoDestOpts:
			if at+2 > len(data) {
				return at+2 > end
			}
			next, at = data[at], at+8+8*int(data[at+1])
			continue
		case packet.ProtoTCP:
			return at+20 > end
		case packet.ProtoUDP, packet.ProtoICMPv6:
			return at+8 > end
		}
		return at+1 > end
	}
}

// key identifies the datagram.
func (f *fragment) key(v *packet.View, place FragmentPlace, zone Zone) fragmentKey {
	k := fragmentKey{id: f.id, place: place, zone: zone.ID}
	h := v.Data[v.NetOff:]
	if v.EtherType != packet.TypeIPv6 {
		k.protocol = f.protocol
		k.place.Device = 0
		copy(k.src[:], h[12:16])
		copy(k.dst[:], h[16:20])
		return k
	}
	k.six = true
	copy(k.src[:], h[8:24])
	copy(k.dst[:], h[24:40])
	k.place.Master = 0
	if linkLocal := h[24] == 0xfe && h[25]&0xc0 == 0x80; !linkLocal && h[24] != 0xff {
		k.place.Device = 0
	}
	return k
}
