package packet

import "encoding/binary"

// MaxIPv6Headers bounds the extension headers that a walk follows; a packet
// with more is unspecified. Linux bounds the walk since 7.1; before, only the
// packet's end did.
const MaxIPv6Headers = 12

// parseIPv6 makes the checks of packet preparation and walks the extension
// headers to the transport header.
//
// Ref: nf_tables_ipv6.h, ip6_rcv_core
func (v *View) parseIPv6(off int) {
	rest := v.OrigLen - off
	if off+40 > len(v.Data) {
		why := Malformed
		if rest >= 40 {
			why = HeaderCut
		}
		v.unspecified(why)
		v.setEnd(v.OrigLen)
		return
	}
	h := v.Data[off : off+40 : off+40]
	payload := int(binary.BigEndian.Uint16(h[4:]))
	if h[0]>>4 != 6 {
		v.unspecified(Malformed)
		v.setEnd(v.OrigLen)
		return
	}
	if payload+40 > rest {
		v.unspecified(Truncated)
		v.setEnd(v.OrigLen)
		return
	}
	v.Validity = Valid
	// A zero length before a hop-by-hop header belongs to a jumbogram.
	if payload == 0 && (h[6] == ProtoHopByHop || rest >= bigTCP) {
		payload = rest - 40
	}
	v.setEnd(off + 40 + payload)
	if next := h[6]; !isExtHeader(next) {
		v.L4OK, v.L4Cut = true, false
		v.L4Proto = next
		v.FragOff, v.MoreFragments, v.AuthHeader = 0, false, false
		v.ThOff = off + 40
		return
	}
	v.walkIPv6(off)
}

// isExtHeader reports whether a next-header value is one that the kernel's
// walk regards as extension header. ESP, mobility and others are not.
//
// Ref: ipv6_ext_hdr
func isExtHeader(next uint8) bool {
	const low = 1<<ProtoHopByHop | 1<<ProtoRouting | 1<<ProtoFragment |
		1<<ProtoAH | 1<<ProtoNoNext | 1<<ProtoDestOpts
	return next < 64 && uint64(low)>>next&1 != 0
}

// walkIPv6 finds the transport header behind extension headers.
func (v *View) walkIPv6(off int) {
	walk := ipv6Walk{stopAtAuth: true}
	result := walk.find(v, off, -1)
	v.MoreFragments, v.AuthHeader = walk.moreFragments, walk.auth
	v.L4Cut = result == Cut
	v.L4OK = result == OK && walk.at-off <= 65535
	if !v.L4OK {
		v.L4Proto, v.FragOff, v.ThOff = 0, 0, 0
		return
	}
	v.L4Proto, v.FragOff, v.ThOff = walk.next, walk.fragOff, walk.at
}

// ipv6Walk is one walk along an IPv6 header chain.
type ipv6Walk struct {
	stopAtAuth bool // an authentication header ends the walk

	next          uint8  // the header that ended the walk
	at            int    // its offset
	fragOff       uint16 // of the fragment header, in units of 8 bytes
	moreFragments bool
	auth          bool
}

// find walks from the IPv6 header at off to the header target, or, for a
// negative target, to the first that is no extension header. The result is
// OK, Break (not there, or malformed) or Cut.
//
// Ref: ipv6_find_hdr
func (w *ipv6Walk) find(v *View, off, target int) LoadResult {
	next, at := v.Data[off+6], off+40
	for count := 0; ; count++ {
		found := int(next) == target
		if found || !isExtHeader(next) || next == ProtoNoNext {
			w.next, w.at = next, at
			if target < 0 || found {
				return OK
			}
			return Break
		}
		if count == MaxIPv6Headers {
			return Break
		}
		h, result := v.span(at, 2)
		if result != OK {
			return result
		}
		length := 8 + 8*int(h[1])
		switch next {
		case ProtoFragment:
			if h, result = v.span(at, 4); result != OK {
				return result
			}
			field := binary.BigEndian.Uint16(h[2:])
			w.moreFragments = field&1 != 0
			if field&^7 != 0 {
				return w.laterFragment(h[0], at+8, field>>3, target)
			}
			length = 8
		case ProtoAH:
			w.auth = true
			if w.stopAtAuth && target < 0 {
				w.next, w.at = next, at
				return OK
			}
			length = 4 * (int(h[1]) + 2)
		}
		next, at = h[0], at+length
	}
}

// laterFragment ends a walk at the fragment header of a fragment that is not
// the first: the protocol is known only if it directly follows.
func (w *ipv6Walk) laterFragment(next uint8, at int, fragOff uint16, target int) LoadResult {
	if target >= 0 || isExtHeader(next) && next != ProtoNoNext {
		return Break
	}
	w.next, w.at, w.fragOff = next, at, fragOff
	return OK
}

// FindIPv6 finds the extension header of type header (a next-header value;
// any header of the chain can be found, also the last) and returns its
// offset. The result is Absent also for a malformed chain. The packet must
// be IPv6: for others exthdr breaks the rule even if it only asks for
// presence, and FindIPv6 says Break.
//
// Ref: nft_exthdr.c, nft_exthdr_ipv6_eval; ipv6_find_hdr
func (v *View) FindIPv6(header uint8) (off int, found Found) {
	if v.EtherType != TypeIPv6 {
		return 0, FoundBreak
	}
	if v.NetOff+40 > len(v.packet) {
		if v.NetOff+40 > v.End {
			return 0, Absent
		}
		return 0, FoundCut
	}
	var walk ipv6Walk
	switch walk.find(v, v.NetOff, int(header)) {
	case OK:
		return walk.at, Present
	case Cut:
		return 0, FoundCut
	}
	return 0, Absent
}
