package iptables

import (
	"encoding/binary"

	"verdict/catalog"
	"verdict/packet"
)

// fields are what header tests look at, loaded once per packet and hook.
type fields struct {
	src, dst   uint32
	src6, dst6 [2]uint64
	protocol   uint8
	fragment   bool // not the first one
	in, out    []uint64
}

// load reads the header's fields; false says that they were not captured.
func (m *Machine) load() bool {
	v := m.pkt.View
	data := v.Packet()
	if v.NetOff+20 > len(data) {
		return false
	}
	h := data[v.NetOff:]
	f := &m.fields
	m.fragment, m.headersBroken, m.headersCut = v.FragOff != 0, false, false
	m.fragOff = v.FragOff
	if m.pkt.Family == catalog.FamilyIP {
		f.src, f.dst = binary.LittleEndian.Uint32(h[12:]), binary.LittleEndian.Uint32(h[16:])
		f.protocol = h[9]
		m.thoff = v.NetOff + int(h[0]&15)*4
	} else {
		if len(h) < 40 {
			return false
		}
		for i := range 2 {
			f.src6[i] = binary.LittleEndian.Uint64(h[8+8*i:])
			f.dst6[i] = binary.LittleEndian.Uint64(h[24+8*i:])
		}
		m.loadTransport6()
	}
	f.fragment = m.fragment
	f.in, f.out = m.interfaceBits(&m.lastIn, &m.pkt.Meta.IIF), m.interfaceBits(&m.lastOut, &m.pkt.Meta.OIF)
	return true
}

// loadTransport6 finds the transport header behind extension headers. Unlike
// nft, tables pass over an authentication header.
// Ref: ip6_tables.c, ip6_packet_match; exthdrs_core.c, ipv6_find_hdr.
func (m *Machine) loadTransport6() {
	v := m.pkt.View
	m.fields.protocol, m.thoff = v.L4Proto, v.ThOff
	switch {
	case v.L4Cut:
		m.headersCut = true
	case !v.L4OK:
		m.headersBroken = true
	case v.AuthHeader && v.L4Proto == packet.ProtoAH:
		m.behindAuth()
	}
}

// behindAuth walks on behind an authentication header.
func (m *Machine) behindAuth() {
	v := m.pkt.View
	data := v.Packet()
	at, next := v.ThOff, v.L4Proto
	for isExtension(next) && next != packet.ProtoNoNext {
		switch {
		case at+8 > v.End:
			m.headersBroken = true
			return
		case at+2 > len(data):
			m.headersCut = true
			return
		}
		size := (int(data[at+1]) + 1) * 8
		switch next {
		case packet.ProtoAH:
			size = (int(data[at+1]) + 2) * 4
		case packet.ProtoFragment:
			size = 8
		}
		next = data[at]
		at += size
	}
	m.fields.protocol, m.thoff = next, at
}

// isExtension tells the extension headers that the kernel walks over.
// Ref: exthdrs_core.c, ipv6_ext_hdr.
func isExtension(next uint8) bool {
	switch next {
	case packet.ProtoHopByHop, packet.ProtoRouting, packet.ProtoFragment, packet.ProtoAH, packet.ProtoNoNext, packet.ProtoDestOpts:
		return true
	}
	return false
}

// interfaceCache remembers which patterns an interface's name matches.
type interfaceCache struct {
	name packet.Name
	bits []uint64
	set  bool
}

// interfaceBits tells for each pattern whether a name matches it; a packet
// without interface has a name of zeros.
func (m *Machine) interfaceBits(last *interfaceCache, d *packet.Device) []uint64 {
	if last.set && last.name == d.Name {
		return last.bits
	}
	bits, ok := m.byName[d.Name]
	if !ok {
		bits = make([]uint64, (len(m.prog.patterns)+63)/64)
		for i := 1; i < len(m.prog.patterns); i++ {
			if m.prog.patterns[i].matches(&d.Name) {
				bits[i>>6] |= 1 << (i & 63)
			}
		}
		m.byName[d.Name] = bits
	}
	*last = interfaceCache{d.Name, bits, true}
	return bits
}

// bit tells whether a pattern matched; pattern 0 is "any".
func bit(bits []uint64, at uint16) bool { return bits[at>>6]>>(at&63)&1 == 1 }

// matches makes the six tests of the header.
// Ref: ip_tables.c, ip_packet_match.
func (h *header4) matches(f *fields) bool {
	if ((f.src^h.src)&h.srcMask != 0) != (h.flags&notSource != 0) ||
		((f.dst^h.dst)&h.dstMask != 0) != (h.flags&notDestination != 0) {
		return false
	}
	if h.in != 0 && bit(f.in, h.in) == (h.flags&notIn != 0) {
		return false
	}
	if h.out != 0 && bit(f.out, h.out) == (h.flags&notOut != 0) {
		return false
	}
	if h.protocol != 0 && (h.protocol == f.protocol) == (h.flags&notProtocol != 0) {
		return false
	}
	return h.flags&(onlyFragment|notFragment) == 0 || f.fragment == (h.flags&onlyFragment != 0)
}

// next4 finds the first rule from pc on whose header matches, or end. This
// loop is where most rules of a table end.
func next4(headers []header4, pc, end uint32, f *fields) uint32 {
	headers = headers[:end]
	for int(pc) < len(headers) {
		h := &headers[pc]
		if ((f.src^h.src)&h.srcMask != 0) == (h.flags&notSource != 0) && h.matches(f) {
			return pc
		}
		pc++
	}
	return end
}

// matches makes the tests of the header but for the protocol, which needs the
// extension headers.
// Ref: ip6_tables.c, ip6_packet_match.
func (h *header6) matches(f *fields) bool {
	source := (f.src6[0]^h.src[0])&h.srcMask[0]|(f.src6[1]^h.src[1])&h.srcMask[1] != 0
	destination := (f.dst6[0]^h.dst[0])&h.dstMask[0]|(f.dst6[1]^h.dst[1])&h.dstMask[1] != 0
	if source != (h.flags&notSource != 0) || destination != (h.flags&notDestination != 0) {
		return false
	}
	if h.in != 0 && bit(f.in, h.in) == (h.flags&notIn != 0) {
		return false
	}
	return h.out == 0 || bit(f.out, h.out) != (h.flags&notOut != 0)
}

// next6 finds the first rule from pc on whose header matches, or end. Where
// the protocol is asked for and cannot be told, the result says why.
func (m *Machine) next6(pc, end uint32) (uint32, result) {
	f := &m.fields
	headers := m.prog.headers6[:end]
	for ; int(pc) < len(headers); pc++ {
		h := &headers[pc]
		if !h.matches(f) {
			continue
		}
		if h.protocol == 0 {
			return pc, resultTrue
		}
		switch {
		case m.headersCut:
			return pc, resultCut
		case m.headersBroken && !f.fragment:
			return pc, resultDrop
		case m.headersBroken:
			continue
		}
		if (h.protocol == f.protocol) != (h.flags&notProtocol != 0) {
			return pc, resultTrue
		}
	}
	return end, resultTrue
}
