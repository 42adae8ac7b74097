package build

import (
	"encoding/binary"

	"verdict/packet"
)

// assemble fills in what was not given and returns the frame. A message says
// what cannot be built.
func (s *stack) assemble() ([]byte, string) {
	if message := s.complete(); message != "" {
		return nil, message
	}
	body, message := s.body()
	if message != "" {
		return nil, message
	}
	if s.tunnel != nil {
		s.fillTunnel()
		body = append(s.tunnel.bytes(), body...)
	}
	if s.transport != nil {
		body = s.fillTransport(body)
	}
	for i := len(s.extensions) - 1; i >= 0; i-- {
		s.fillExtension(i)
		body = append(s.extensions[i].bytes(), body...)
	}
	if s.network != nil {
		body = s.fillNetwork(body)
	}
	s.fillLink()
	for i := len(s.vlans) - 1; i >= 0; i-- {
		body = append(s.vlans[i].bytes(), body...)
	}
	if s.ether != nil {
		body = append(s.ether.bytes(), body...)
	}
	return body, ""
}

// body is what the last header carries.
func (s *stack) body() ([]byte, string) {
	body := s.payload
	if s.inner != nil {
		s.prepareInner()
		inner, message := s.inner.assemble()
		if message != "" {
			return nil, message
		}
		body = append(inner, s.payload...)
	}
	out := make([]byte, max(len(body), s.length))
	copy(out, body)
	return out, ""
}

// prepareInner decides whether the inner packet has a link header: only in
// tunnels for frames, and wherever it was asked for.
func (s *stack) prepareInner() {
	inner := s.inner
	wanted := inner.ether != nil || len(inner.vlans) > 0
	frames := s.tunnel != nil && (s.tunnel.header == &vxlanHeader ||
		s.tunnel.header == &geneveHeader && (!s.tunnel.given("type") || s.tunnel.get("type") == 0x6558)) ||
		s.transport != nil && s.transport.header == &greHeader && s.transport.given("protocol") && s.transport.get("protocol") == 0x6558
	inner.raw = !wanted && !frames
}

// complete adds the headers that are missing.
func (s *stack) complete() string {
	if s.raw && (s.ether != nil || len(s.vlans) > 0) {
		return "a link header does not go with link raw"
	}
	if !s.raw && s.ether == nil {
		s.ether = newLayer(&etherHeader)
	}
	if s.tunnel != nil && s.transport == nil {
		s.transport = newLayer(&udpHeader)
	}
	if s.network == nil {
		if s.network = s.impliedNetwork(); s.network == nil {
			if s.transport != nil || len(s.extensions) > 0 {
				return "the link header's type announces neither IPv4 nor IPv6: name ip or ip6 too"
			}
			return ""
		}
	}
	if s.network.header == &arpHeader {
		if s.transport != nil || len(s.extensions) > 0 {
			return "ARP carries no other header"
		}
		return ""
	}
	if s.transport == nil {
		s.transport = s.impliedTransport()
	}
	return ""
}

// impliedNetwork is the network header that the others need.
func (s *stack) impliedNetwork() *layer {
	if last := s.lastLink(); last != nil && last.given("type") {
		h := headerByEtherType(last.get("type"))
		if h == nil {
			return nil
		}
		return newLayer(h)
	}
	h := &ipHeader
	if s.transport != nil && (s.transport.header == &icmpv6Header || s.transport.header == &mobilityHeader) {
		h = &ip6Header
	}
	for _, e := range s.extensions {
		if e.header != &authHeader {
			h = &ip6Header
		}
	}
	return newLayer(h)
}

// lastLink is the link header whose type field announces the network header.
func (s *stack) lastLink() *layer {
	if n := len(s.vlans); n > 0 {
		return s.vlans[n-1]
	}
	return s.ether
}

// impliedTransport is the transport header that a packet gets if none was
// named: that of the given protocol, else TCP. A later fragment has none, nor
// has a packet whose payload is to follow the named protocol directly.
func (s *stack) impliedTransport() *layer {
	if s.inner != nil || s.laterFragment() {
		return nil
	}
	protocol, given := s.givenProtocol()
	if !given {
		return newLayer(&tcpHeader)
	}
	h := headerByProtocol(protocol)
	if s.hasPayload || h == nil || h.rank != rankTransport {
		return nil
	}
	return newLayer(h)
}

// givenProtocol is the protocol that the last header before the transport
// header was told to announce.
func (s *stack) givenProtocol() (uint64, bool) {
	l := s.network
	if n := len(s.extensions); n > 0 {
		l = s.extensions[n-1]
	}
	name := nextField(l)
	return l.get(name), l.given(name)
}

// nextField is the field that announces the next header.
func nextField(l *layer) string {
	if l.header == &ipHeader {
		return "protocol"
	}
	return "nexthdr"
}

// laterFragment reports whether the packet is a fragment but not the first.
func (s *stack) laterFragment() bool {
	if s.network != nil && s.network.header == &ipHeader && s.network.get("frag-off")&0x1fff != 0 {
		return true
	}
	for _, e := range s.extensions {
		if e.header == &fragmentHeader && e.get("frag-off") != 0 {
			return true
		}
	}
	return false
}

// protocolAfter is the protocol number of what follows extension header i
// (-1: the network header).
func (s *stack) protocolAfter(i int) uint64 {
	switch {
	case i+1 < len(s.extensions):
		return uint64(s.extensions[i+1].header.protocol)
	case s.transport != nil:
		return uint64(s.transport.header.protocol)
	case s.inner != nil && s.inner.network != nil:
		return uint64(s.inner.network.header.protocol)
	case s.laterFragment():
		return packet.ProtoTCP
	}
	return packet.ProtoNoNext
}

func (s *stack) fillExtension(i int) {
	e := s.extensions[i]
	e.auto("nexthdr", s.protocolAfter(i))
	switch e.header {
	case &fragmentHeader:
		return
	case &authHeader:
		if !e.hasData {
			e.data = make([]byte, 12)
		}
		e.data = padWords(e.data)
		e.auto("hdrlength", uint64((len(e.b)+len(e.data))/4-2))
		return
	case &routingHeader:
		if !e.hasData {
			e.data = make([]byte, 4)
		}
	default:
		if !e.hasData {
			e.data = []byte{1, 4, 0, 0, 0, 0} // PadN
		}
	}
	e.padEight()
}

// padEight pads an extension header to units of eight bytes and sets its
// length.
func (l *layer) padEight() {
	for (len(l.b)+len(l.data))%8 != 0 {
		l.data = append(l.data, 0)
	}
	l.auto("hdrlength", uint64((len(l.b)+len(l.data))/8-1))
}

// fillNetwork completes the network header and puts it before body.
func (s *stack) fillNetwork(body []byte) []byte {
	n := s.network
	switch n.header {
	case &ipHeader:
		n.auto("protocol", s.protocolAfter(-1))
		headerLen := len(n.bytes())
		n.auto("hdrlength", uint64(headerLen/4))
		n.auto("length", uint64(headerLen+len(body))&0xffff)
		n.auto("checksum", 0)
		n.auto("checksum", uint64(packet.IPv4HeaderChecksum(n.bytes())))
	case &ip6Header:
		n.auto("nexthdr", s.protocolAfter(-1))
		n.auto("length", uint64(len(body))&0xffff)
		if s.transport != nil && s.transport.header == &icmpv6Header {
			if typ := s.transport.get("type"); typ >= 133 && typ <= 137 {
				n.auto("hoplimit", 255) // RFC 4861 §6.1, §7.1, §8.1
			}
		}
	}
	return append(n.bytes(), body...)
}

// fillLink completes the types of the link headers, and an Ethernet
// destination that follows from the network destination.
func (s *stack) fillLink() {
	next := uint64(0)
	if s.network != nil {
		next = uint64(s.network.header.etherType)
	}
	for i := len(s.vlans) - 1; i >= 0; i-- {
		s.vlans[i].auto("type", next)
		next = packet.TypeVLAN
		if i == 0 && len(s.vlans) > 1 {
			next = packet.TypeSVLAN
		}
	}
	if s.ether == nil {
		return
	}
	s.ether.auto("type", next)
	if s.loopback {
		s.ether.auto("saddr", 0)
		s.ether.auto("daddr", 0)
		return
	}
	if s.network != nil && !s.ether.given("daddr") {
		f := s.ether.header.field("daddr")
		destination := s.etherDestination()
		f.put(s.ether.b, destination)
		s.noStation = destination[0]&1 == 0
	}
}

// etherDestination is the link address for a network destination: groups and
// broadcast have theirs, anything else gets the default.
//
// Ref: RFC 1112 §6.4, RFC 2464 §7
func (s *stack) etherDestination() []byte {
	b := s.network.b
	switch s.network.header {
	case &arpHeader:
		if s.network.get("operation") == 1 {
			return []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		}
	case &ipHeader:
		d := b[16:20]
		switch {
		case binary.BigEndian.Uint32(d) == 0xffffffff:
			return []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		case d[0]>>4 == 0xe:
			return []byte{1, 0, 0x5e, d[1] & 0x7f, d[2], d[3]}
		}
	case &ip6Header:
		if d := b[24:40]; d[0] == 0xff {
			return []byte{0x33, 0x33, d[12], d[13], d[14], d[15]}
		}
	}
	return etherHeader.template[:6]
}
